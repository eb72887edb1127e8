"""Kernel and KernelReduction: columns, or one row a group, computed by a user's CUDA kernel or by its NumPy twin."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import takewhile
from typing import ClassVar, Protocol
from typing import Literal as Choice

from gpuetl.expressions.ir import Expr
from gpuetl.expressions.unparse import to_sql
from gpuetl.plan.node import Locality, SingleInput, SortKey
from gpuetl.plan.nodes.window import Grouped
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, type_name
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.kernel_code import KernelCode
from gpuetl.user_kernels.python_function import TITLES, PythonFunction

# Kernel: columns computed by a user's CUDA kernel, or by its NumPy twin.


Kind = Choice["rows", "groups", "elementwise", "scan"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel(Grouped):
    """Add the kernel's outputs as columns.

    A `rows` or `elementwise` kernel sees one row a thread and leaves rows in order; a `groups` kernel sees the segments
    of rows sorted by (by, order_by), and a `scan` combines the states of each segment's rows up to each row.
    `arguments` are the scalars that follow the arrays, bound as literals.  `shared_bytes` is arithmetic: the
    shared memory that a launch gives each block, empty for none.
    """

    contract: KernelContract | KernelCode
    kind: Kind
    reads: tuple[str, ...]
    outputs: Mapping[str, DataType]
    arguments: Mapping[str, Expr]
    nulls: Choice["propagate", "forbid", "masks", "pass"] = "propagate"
    block: int = 256
    shared_bytes: str = ""

    @property
    def grouped(self) -> bool:
        """Whether it reads the rows of a group in order."""
        return self.kind in ("groups", "scan")

    @property
    def locality(self) -> Locality:  # type: ignore[override]
        """Rows stand alone, or groups meet."""
        return Locality.KEY if self.grouped else Locality.ROW

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order for rows, the groups' order for groups, as far as the outputs leave its columns."""
        order = self.sort_keys if self.grouped else self.source.ordering
        return tuple(takewhile(lambda key: key.column not in self.outputs, order))

    @property
    def new_columns(self) -> frozenset[str]:
        """The outputs."""
        return frozenset(self.outputs)

    @property
    def moves_rows(self) -> bool:
        """Whether rows have to be put in order: those of groups."""
        return self.grouped and not self.presorted

    @property
    def arguments_read(self) -> frozenset[str]:
        """The inputs."""
        return frozenset(self.reads)

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns and the outputs."""
        return schemas[0].updated(self.outputs)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns, also those that an output replaces, in their place, the inputs and the order's."""
        return ((wanted & self.source.schema.keys()) | frozenset(self.reads) | self.sort_columns,)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The scalar arguments."""
        return tuple(self.arguments.values())

    def describe(self) -> str:
        """Return the call, its outputs and its order."""
        return f"Kernel {call_text(self)}{self.describe_order() if self.grouped else ''}"


class EntryPoint(Protocol):
    """What is called."""

    @property
    def entry(self) -> str:
        """What messages call it."""


class CalledKernel(Protocol):
    """A step that calls a kernel."""

    @property
    def contract(self) -> EntryPoint:
        """The kernel and its twin."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The inputs."""

    @property
    def outputs(self) -> Mapping[str, DataType]:
        """The outputs."""

    @property
    def arguments(self) -> Mapping[str, Expr]:
        """The scalar arguments."""


def call_text(kernel: CalledKernel) -> str:
    """Return the call of a kernel and what it gives, for plans."""
    args = ", ".join([*kernel.reads, *(f"{name} = {to_sql(value)}" for name, value in kernel.arguments.items())])
    outputs = ", ".join(f"{name}: {type_name(dtype)}" for name, dtype in kernel.outputs.items())
    return f"{kernel.contract.entry}({args}) gives {outputs}"


# PythonKernel: columns computed by a user's Python function over frames.


@dataclass(frozen=True, eq=False, kw_only=True)
class PythonKernel(Kernel):
    """Add the columns that a Python function gives for frames of the inputs.

    Of kind `rows`, a frame has any rows, so a row's result must not depend on others.  Of kind `groups`, it has the
    rows of a group, in the order of `order_by` if there is one.
    """

    contract: PythonFunction  # type: ignore[assignment]  # handlers of Kernel never see one

    @property
    def on_device(self) -> bool:
        """Whether an engine with cuDF frames computes it there."""
        return self.contract.frame == "cudf"

    def describe(self) -> str:
        """Return the call, its outputs and its order, and where it runs."""
        frames = f"over {TITLES[self.contract.frame]} frames"
        where = frames if self.on_device else f"on the CPU, {frames}"
        return f"PythonKernel {call_text(self)}{self.describe_order() if self.grouped else ''}; {where}"


# KernelReduction: each group's rows reduced to one by a user's expressions, or by their NumPy twin.


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelReduction(SingleInput):
    """Group by columns and reduce each group's rows, as `Aggregate` does; without keys there is one row.

    `reads` are the inputs, `outputs` the one result; a group of which no row has all its inputs gets null.  `keep` are
    columns that are equal in all rows of a group, and have one of these values in its row.
    """

    contract: KernelCode
    by: tuple[str, ...]
    reads: tuple[str, ...]
    outputs: Mapping[str, DataType]
    arguments: Mapping[str, Expr]
    keep: tuple[str, ...] = ()
    nulls: Choice["propagate", "forbid"] = "propagate"
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the keys, what is kept, then the result."""
        return schemas[0].select((*self.by, *self.keep)).updated(self.outputs)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the keys, what is kept, and the inputs."""
        return (frozenset(self.by) | frozenset(self.keep) | frozenset(self.reads),)

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self.by

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The scalar arguments."""
        return tuple(self.arguments.values())

    def describe(self) -> str:
        """Return the call, its output and its keys."""
        by = f" by {', '.join(self.by)}" if self.by else ""
        return f"KernelReduction {call_text(self)}{by}"

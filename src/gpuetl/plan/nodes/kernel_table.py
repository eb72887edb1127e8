"""KernelTable: other rows than those of the input, made by a user's CUDA kernel or by its NumPy twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Self
from typing import Literal as Choice

from gpuetl.expressions.ir import Expr, Literal
from gpuetl.plan.node import Locality, SingleInput, SortKey
from gpuetl.plan.nodes.kernel import call_text
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch
from gpuetl.user_kernels.size_expression import SizeExpression

Per = Choice["row", "group", "partition"]


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelTable(SingleInput):
    """Let a kernel make rows: some for each row, for each group of equal keys, or for each partition as it is.

    Each of these units makes at most as many rows as `rows` says, arithmetic of the arguments and of `input`, the
    number of the unit's rows.  The rows of a unit stay together and in the kernel's order.  Units come in the order of
    the input, groups in that of their keys.  Of a row the columns `keep` are repeated, of a group its keys, and columns
    `keep` that are equal in all its rows; rows with a null among the inputs are in no unit, and a unit without rows
    makes none.
    """

    contract: KernelContract
    per: Per
    reads: tuple[str, ...]
    outputs: Mapping[str, DataType]
    arguments: Mapping[str, Expr]
    rows: str
    keep: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    nulls: Choice["propagate", "forbid"] = "propagate"
    block: int = 256
    shared_bytes: str = ""

    @property
    def locality(self) -> Locality:  # type: ignore[override]
        """Groups meet; rows and partitions stand alone."""
        return Locality.KEY if self.grouped else Locality.ROW

    @property
    def grouped(self) -> bool:
        """Whether it reads the rows of a group in order."""
        return self.per == "group"

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self.by

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the input that are repeated."""
        return (*self.by, *self.keep) if self.grouped else self.keep

    @property
    def sort_keys(self) -> tuple[SortKey, ...]:
        """The order of the rows of groups."""
        return (*(SortKey(name) for name in self.by), *self.order_by)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order of groups, or the input's as far as its columns are kept."""
        if self.grouped:
            return tuple(SortKey(name) for name in self.by)
        order = self.source.ordering if self.per == "row" else ()
        return tuple(takewhile(lambda key: key.column in self.keep, order))

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the repeated columns and the outputs."""
        return schemas[0].select(self.kept).updated(self.outputs)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the columns that are repeated, the inputs and the order's."""
        return (frozenset(self.kept) | frozenset(self.reads) | {key.column for key in self.sort_keys},)

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Repeat the wanted columns only."""
        keep = tuple(name for name in self.keep if name in wanted)
        return self if keep == self.keep else replace(self, keep=keep)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The scalar arguments."""
        return tuple(self.arguments.values())

    def most_rows(self, rows: int, arguments: Mapping[str, Any]) -> int:
        """Return how many rows a unit of so many makes at most; raise `KernelMismatch` where that is no number."""
        return SizeExpression("rows", self.rows).value({**arguments, "input": rows})

    def expected_rows(self, rows: int, partitions: int) -> int:
        """Return how many rows are expected of an input, as far as constant arguments tell."""
        known = {name: value.value for name, value in self.arguments.items() if isinstance(value, Literal)}
        try:
            if self.per == "row":
                return rows * self.most_rows(1, known)
            return self.most_rows(-(-rows // max(partitions, 1)), known) * max(partitions, 1)
        except (KernelMismatch, KeyError):
            return rows

    def describe(self) -> str:
        """Return the call, its bound and its units."""
        by = f" by {', '.join(self.by)}" if self.by else ""
        order = f" order by {', '.join(map(str, self.order_by))}" if self.order_by else ""
        keep = f", keeps {', '.join(self.keep)}" if self.keep else ""
        return f"KernelTable {call_text(self)}, at most {self.rows} rows per {self.per}{by}{order}{keep}"

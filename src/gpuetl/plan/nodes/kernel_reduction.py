"""KernelReduction: each group's rows reduced to one by a user's expressions, or by their NumPy twin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from typing import Literal as Choice

from gpuetl.expressions.ir import Expr
from gpuetl.plan.node import Locality, SingleInput
from gpuetl.plan.nodes.kernel import call_text
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType
from gpuetl.types.schema import Schema
from gpuetl.user_kernels.kernel_texts import KernelTexts


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelReduction(SingleInput):
    """Group by columns and reduce each group's rows, as `Aggregate` does; without keys there is one row.

    `reads` are the inputs, `outputs` the one result; a group of which no row has all its inputs gets null.
    """

    contract: KernelTexts
    by: tuple[str, ...]
    reads: tuple[str, ...]
    outputs: Mapping[str, DataType]
    arguments: Mapping[str, Expr]
    nulls: Choice["propagate", "forbid"] = "propagate"
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the keys, then the result."""
        return schemas[0].select(self.by).updated(self.outputs)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the keys and the inputs."""
        return (frozenset(self.by) | frozenset(self.reads),)

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

"""Union: the rows of two inputs, repeats included."""

from __future__ import annotations

from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Union(Node):
    """All rows of both inputs, which have the same columns, of the same types, in the same order.

    Rows that are equal are all kept (SQL's UNION ALL).  Row order is not promised.
    """

    left: Node
    right: Node

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the inputs' columns."""
        left, right = schemas
        return Schema(left, left.open or right.open)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns, of both."""
        return wanted, wanted


class StateUnion(Union):
    """The rows of a window's stored state, and those of a run, which reports count as what came in."""

"""Scalar join: the one value of another stage as a column of every row."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from gpuetl.plan.node import Locality, SortKey
from gpuetl.plan.nodes.join import Join
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class ScalarJoin(Join):
    """Add a column with the value of another stage, which has one row at most; null where it has none.

    The right side has one row: the value, and in the column `count` the rows of the stage `stage`.  More than one is an
    error.  The left rows stay as they are, in their order.
    """

    value: str
    count: str
    stage: str
    locality: ClassVar[Locality] = Locality.ROW

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the left columns and the value."""
        left, right = schemas
        return Schema({**left, self.value: right[self.value]}, left.open or right.open)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns of the left side, the value and the count."""
        return wanted & self.left.schema.keys(), frozenset([self.value, self.count])

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The left side's order."""
        return self.left.ordering

    def describe(self) -> str:
        """Return what is added."""
        return f"Join the value {self.value}"

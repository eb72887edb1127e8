"""InsertRows: rows that are made before and after each row, a number of them that the row has."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import takewhile

from gpuetl.plan.node import SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class InsertRows(SingleInput):
    """Make `before` rows before each row and `after` rows after it; rows keep their order.

    `before` and `after` are columns of int64 that have no null and nothing below 0.  Made rows have their row's values
    in the columns `repeated`, and null in the others.  `place` is a new column: 0 for a row of the input, its distance
    for a made one, which is negative before the row.
    """

    before: str
    after: str
    repeated: tuple[str, ...]
    place: str

    @property
    def new_columns(self) -> frozenset[str]:
        """The columns that are null in made rows, and the place."""
        return frozenset(self.schema) - frozenset(self.repeated)

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns and the place."""
        return schemas[0].updated({self.place: INT64})

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns and the numbers of rows to make."""
        return (wanted - {self.place} | {self.before, self.after},)

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """All columns: rows are moved."""
        return self.source.schema, self.schema

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order, as far as its columns are repeated."""
        return tuple(takewhile(lambda key: key.column in self.repeated, self.source.ordering))

    def describe(self) -> str:
        """Return how many rows are made, and which columns repeat."""
        kept = f", repeating {', '.join(self.repeated)}" if self.repeated else ""
        return f"Insert rows: {self.before} before and {self.after} after each{kept}"

"""Sort and limit: rows in order, and the first of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

from gpuetl.plan.node import Locality, SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Sort(SingleInput):
    """Sort rows, stably.  Strings compare by UTF-8 bytes.

    `presorted` says that each partition of the input has this order already.  Only the first `limit` rows are wanted,
    where there is one.
    """

    by: tuple[SortKey, ...]
    presorted: bool = False
    limit: int | None = None
    locality: ClassVar[Locality] = Locality.TABLE

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """All columns, or none where the rows are in order."""
        return ((), ()) if self.presorted and self.limit is None else super().touched

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns."""
        return schemas[0]

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns and the sort keys."""
        return (wanted | frozenset(key.column for key in self.by),)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order sorted by."""
        return self.by

    def describe(self) -> str:
        """Return the order, and how many rows are wanted."""
        first = f", first {self.limit}" if self.limit is not None else ""
        return f"Sort by {', '.join(map(str, self.by))}{first}{' (already in order)' if self.presorted else ''}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Limit(SingleInput):
    """Leave out the first `offset` rows, and keep the first `count` of the others, or all of them."""

    count: int | None
    offset: int = 0
    locality: ClassVar[Locality] = Locality.TABLE

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns."""
        return schemas[0]

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns."""
        return (wanted,)

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """The rows that are written; as many are read, at the most of those that there are."""
        return (), self.schema

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order."""
        return self.source.ordering

    @property
    def first(self) -> int | None:
        """How many of the input's first rows are needed; None for all."""
        return None if self.count is None else self.count + self.offset

    def describe(self) -> str:
        """Return the number of rows, and where they begin."""
        if self.count is None:
            return f"Limit, offset {self.offset}"
        return f"Limit {self.count}" + (f", offset {self.offset}" if self.offset else "")

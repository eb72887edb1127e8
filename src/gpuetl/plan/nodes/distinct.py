"""Distinct: one row for each value of the keys."""

from __future__ import annotations

from typing import ClassVar

from gpuetl.plan.node import Locality, SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Distinct(SingleInput):
    """Keep one row for each distinct value of `on`: the first by `order_by`.

    Null equals null, NaN equals NaN, -0.0 equals 0.0; a float of `on` leaves as 0.0 and as the one NaN, whatever row is
    kept.  Row order is not promised.
    """

    on: tuple[str, ...]
    order_by: tuple[SortKey, ...] = ()
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns."""
        return schemas[0]

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns, the keys and those of the order."""
        return (wanted | frozenset(self.on) | frozenset(key.column for key in self.order_by),)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell rows apart."""
        return self.on

    def describe(self) -> str:
        """Return the keys, and which row is kept."""
        kept = f", first by {', '.join(map(str, self.order_by))}" if self.order_by else ""
        return f"Distinct {', '.join(self.on)}{kept}"

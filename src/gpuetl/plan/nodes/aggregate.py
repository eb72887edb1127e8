"""Aggregate: one row a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import ClassVar, Self

from gpuetl.expressions.ir import Call, Expr, columns_of
from gpuetl.expressions.unparse import to_sql
from gpuetl.plan.node import Locality, SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Aggregate(SingleInput):
    """Group by columns and compute calls of aggregate functions, whose arguments are columns.

    Null is a group, NaN another, -0.0 is 0.0; a float key leaves as 0.0 and as the one NaN.  Without keys there is one
    row, also of no rows.  Row order is not promised.  Expressions around and inside the calls stand in projections
    after and before.  `orders` has the order of rows for each call that needs one: `first` and `last`.

    Rows that are equal in the other keys are equal in those that are `determined`, as the optimizer knows.  Keys that
    nothing reads are `dropped`: they tell groups apart, but are no columns of the output.
    """

    by: tuple[str, ...]
    calls: Mapping[str, Call]
    orders: Mapping[str, tuple[SortKey, ...]] = field(default_factory=dict)
    determined: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    locality: ClassVar[Locality] = Locality.KEY

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the keys that are kept, then the calls' results."""
        results = {name: call.dtype for name, call in self.calls.items()}
        return schemas[0].select(self.kept).updated(results)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the keys, and the wanted calls' columns and orders."""
        kept = self.keeping(wanted)
        order = {key.column for keys in kept.orders.values() for key in keys}
        return (frozenset(self.by) | columns_of(*kept.calls.values()) | order,)

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Compute the wanted calls, and keep the wanted keys, only."""
        if wanted >= self.schema.keys():
            return self
        calls = {name: call for name, call in self.calls.items() if name in wanted}
        orders = {name: keys for name, keys in self.orders.items() if name in wanted}
        return replace(self, calls=calls, orders=orders, dropped=tuple(name for name in self.by if name not in wanted))

    @property
    def kept(self) -> tuple[str, ...]:
        """The keys that are columns of the output."""
        return tuple(name for name in self.by if name not in self.dropped)

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self.by

    @property
    def compared(self) -> tuple[str, ...]:
        """The keys that tell groups apart."""
        determined = frozenset(self.determined)
        return tuple(name for name in self.by if name not in determined)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The calls."""
        return tuple(self.calls.values())

    def describe(self) -> str:
        """Return the calls with their orders, and the keys."""
        calls = ", ".join(f"{name} = {to_sql(call)}{self.describe_order(name)}" for name, call in self.calls.items())
        also_determined = f", which determine {', '.join(self.determined)}" if self.determined else ""
        dropped = f" (not kept: {', '.join(self.dropped)})" if self.dropped else ""
        return f"Aggregate {calls}{' by ' + ', '.join(self.compared) if self.by else ''}{also_determined}{dropped}"

    def describe_order(self, name: str) -> str:
        """Return the order of rows for a call, if it needs one."""
        return f" in order of ({', '.join(map(str, self.orders[name]))})" if name in self.orders else ""

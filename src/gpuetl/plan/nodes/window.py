"""Window: values computed from the other rows of a group, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from datetime import timedelta
from functools import cached_property
from typing import ClassVar, Literal, Self

from gpuetl.expressions.ir import Call, Expr, columns_of
from gpuetl.expressions.unparse import to_sql
from gpuetl.plan.node import Locality, SingleInput, SortKey
from gpuetl.plan.nodes.aggregate import Aggregate
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema

STATE = ":carried"
"""Stands in the name of a column that a stateful window makes of an argument."""

LateRows = Literal["error", "drop"]
"""What a window that keeps its state does with a row that comes before the last row of its group's state."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouped(SingleInput):
    """What windows and kernels over groups share: rows sorted by group, then in the order of `order_by`.

    The rows leave in that order: groups ascending by key, nulls last.  Tied rows keep the order of the input.
    `presorted` says that the input has this order already.
    """

    by: tuple[str, ...]
    order_by: tuple[SortKey, ...]
    presorted: bool = False
    locality: ClassVar[Locality] = Locality.KEY

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self.by

    @property
    def sort_keys(self) -> tuple[SortKey, ...]:
        """The order that the operation needs and leaves."""
        return (*(SortKey(name) for name in self.by), *self.order_by)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order by group and `order_by`."""
        return self.sort_keys

    @property
    def new_columns(self) -> frozenset[str]:
        """The columns that the operation adds, or puts in place of others of the same name."""
        raise NotImplementedError

    @property
    def arguments_read(self) -> frozenset[str]:
        """The columns from which they are made, beside those of the order."""
        raise NotImplementedError

    @property
    def moves_rows(self) -> bool:
        """Whether the rows have to be put in order."""
        return not self.presorted

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """All columns where rows are moved; else what is read for the columns that are made, and these."""
        return super().touched if self.moves_rows else (self.arguments_read | self.sort_columns, self.new_columns)

    @property
    def sort_columns(self) -> frozenset[str]:
        """The columns of the order."""
        return frozenset(key.column for key in self.sort_keys)

    def describe_order(self) -> str:
        """Return the keys, and whether they still have to be sorted."""
        by = f" by {', '.join(self.by)}" if self.by else ""
        order = f" order by {', '.join(map(str, self.order_by))}" if self.order_by else ""
        return f"{by}{order}{' (already in order)' if self.presorted else ''}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Window(Grouped):
    """Add calls of window functions, whose arguments are columns or constants, as columns."""

    calls: Mapping[str, Call]

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns and the calls' results."""
        return schemas[0].updated({name: call.dtype for name, call in self.calls.items()})

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns, also those that a call replaces, in their place, the calls' and the order's."""
        calls = [call for name, call in self.calls.items() if name in wanted]
        return ((wanted & self.source.schema.keys()) | columns_of(*calls) | self.sort_columns,)

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Compute the wanted calls only."""
        if wanted >= self.calls.keys():
            return self
        return replace(self, calls={name: call for name, call in self.calls.items() if name in wanted})

    @property
    def new_columns(self) -> frozenset[str]:
        """The calls' columns."""
        return frozenset(self.calls)

    @property
    def arguments_read(self) -> frozenset[str]:
        """The calls' columns."""
        return columns_of(*self.calls.values())

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The calls."""
        return tuple(self.calls.values())

    def describe(self) -> str:
        """Return the calls and the order."""
        calls = ", ".join(f"{name} = {to_sql(call)}" for name, call in self.calls.items())
        return f"Window {calls}{self.describe_order()}"


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupWindow(Window):
    """Add aggregates of each row's whole group, whose arguments are columns or constants, as columns.

    Rows stay where they are.  `by` has at least one key: of all rows, a cross join with one aggregate does the same.
    `orders` has the order of rows for each call that needs one.
    """

    order_by: tuple[SortKey, ...] = ()
    orders: Mapping[str, tuple[SortKey, ...]] = field(default_factory=dict)

    @property
    def aggregate(self) -> Aggregate:
        """The aggregate that has one row for each group."""
        return Aggregate(source=self.source, by=self.by, calls=self.calls, orders=self.orders, origin=self.origin)

    @property
    def sort_keys(self) -> tuple[SortKey, ...]:
        """No order is needed."""
        return ()

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order."""
        return self.source.ordering

    @property
    def moves_rows(self) -> bool:
        """Rows are not put in order."""
        return False

    @property
    def sort_columns(self) -> frozenset[str]:
        """The columns that make groups, and those of the calls' orders."""
        return frozenset(self.by) | {key.column for keys in self.orders.values() for key in keys}

    def describe(self) -> str:
        """Return the calls and the keys."""
        calls = ", ".join(f"{name} = {to_sql(call)}" for name, call in self.calls.items())
        return f"Window {calls} of each group by {', '.join(self.by)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptWindow(Window):
    """A window whose groups go on from the last run: a run puts operations over the stored state in its place.

    Where there is no stored state, as in an explained plan, it is a window over the rows that there are.  Groups whose
    last row is more than `forget` before the newest row are dropped from the state.
    """

    late_rows: LateRows = "error"
    forget: timedelta | None = None

    @property
    def plain(self) -> Window:
        """The same window, which keeps no state."""
        return Window(**{one.name: getattr(self, one.name) for one in fields(Window)})

    def describe(self) -> str:
        """Return the calls and the order, and that its state is kept."""
        return f"{super().describe()}, state kept"

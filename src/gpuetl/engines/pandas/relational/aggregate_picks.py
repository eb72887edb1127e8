"""Aggregates that sort a group's rows: first, last and extremes, and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import INT64_MAX, Masked, canonical, from_masked, take_or_null, to_masked
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.columns.order import note_ties, ordinal
from gpuetl.engines.pandas.relational.grouping import GroupedRows, Ints
from gpuetl.expressions.functions.aggregates import BY_KEY, edge_arguments
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64

# Aggregates that pick one row of a group and give its value: first and last, min_by and max_by.


@dataclass(frozen=True)
class SelectedRows:
    """Each group's row, null where it has no candidate; `ties` counts the others that no key tells from it."""

    rows: Masked
    ties: int


def least_rows(groups: Groups, rows: Ints, digits: Sequence[Ints], last: bool = False) -> SelectedRows:
    """Pick each group's least one of `rows` by `digits`, the first key first; of those that tie, the first or `last`.

    Each key narrows the rows down to those of its least value in their group: O(rows) a key, nothing is sorted.
    """
    for digit in digits:
        codes, values = groups.codes[rows], digit[rows]
        least = np.full(groups.count, INT64_MAX)
        np.minimum.at(least, codes, values)
        rows = rows[values == least[codes]]
    codes = groups.codes[rows]
    selected_rows, found = np.zeros(groups.count, np.int64), np.zeros(groups.count, np.bool_)
    selected_rows[codes if last else codes[::-1]] = rows if last else rows[::-1]
    found[codes] = True
    return SelectedRows(Masked(selected_rows, found), len(rows) - int(found.sum()))


def first_value(rows: GroupedRows, call: Call) -> Any:
    """The value of the group's first row in the call's order."""
    return edge(rows, call, last=False)


def last_value(rows: GroupedRows, call: Call) -> Any:
    """The value of the group's last row in the call's order."""
    return edge(rows, call, last=True)


def edge(rows: GroupedRows, call: Call, last: bool) -> Any:
    """The value of the group's first or last row among those that the call considers; ties are noted."""
    x, ignore_nulls, only = edge_arguments(call)
    order = rows.order_of(call)

    def pick() -> SelectedRows:
        digits = [~rows.digits(key) if last else rows.digits(key) for key in order]
        kept = rows.condition(only) & rows.valid(x) if ignore_nulls else rows.condition(only)
        return least_rows(rows.groups, np.flatnonzero(kept), digits, last)

    selected_rows = rows.once(("edge", last, order, only, x if ignore_nulls else None), pick)
    note_ties(rows.operation, (*map(SortKey, rows.operation.by), *map(as_written, order)), selected_rows.ties)
    return take_or_null(rows.column(x), selected_rows.rows)


def as_written(key: SortKey) -> SortKey:
    """Return a key by the name that the user knows: one that partitions carry has more after a colon."""
    return replace(key, column=key.column.partition(BY_KEY)[0])


def value_of_least(rows: GroupedRows, call: Call) -> Any:
    """X of the row where y is least."""
    return value_by(rows, call, SortKey("y"))


def value_of_greatest(rows: GroupedRows, call: Call) -> Any:
    """X of the row where y is greatest."""
    return value_by(rows, call, SortKey("y", descending=True))


def value_by(rows: GroupedRows, call: Call, key: SortKey) -> Any:
    """X of the first row by y, then by x; rows where y is null are left out."""
    x, y = call.args
    digits = [ordinal(rows.column(y), key), ordinal(rows.column(x), replace(key, descending=False))]
    selected_rows = least_rows(rows.groups, np.flatnonzero(rows.valid(y)), digits)
    return take_or_null(canonical(rows.column(x)), selected_rows.rows)


# Aggregates over the distribution of a group's values: quantiles.  NaN is the greatest value.


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ascending:
    """The values of all groups that are not null, group by group, ascending; `sizes` has how many each group has."""

    values: Floats
    sizes: Ints

    @classmethod
    def of(cls, groups: Groups, column: Any) -> Ascending:
        """Sort a float64 column: by value, then, as unique integers, by group and place."""
        masked = to_masked(canonical(column))
        codes, values = groups.codes[masked.valid], masked.values[masked.valid]
        by_value = np.argsort(values)
        values, places = values[by_value], codes[by_value] * len(values) + np.arange(len(values))
        places.sort()
        return cls(values[places % max(len(values), 1)], np.bincount(codes, minlength=groups.count))

    def quantile(self, q: float) -> Masked:
        """Return the value at q * (size - 1) of each group, linear between the two beside it."""
        place = q * np.maximum(self.sizes - 1, 0)
        low = np.floor(place).astype(np.int64)
        share = place - low
        starts = np.cumsum(self.sizes) - self.sizes
        padded, valid = np.append(self.values, 0.0), self.sizes > 0
        below = padded[np.where(valid, starts + low, -1)]
        above = padded[np.where(valid, starts + low + (share > 0), -1)]
        with np.errstate(invalid="ignore"):
            between = below * (1 - share) + above * share
        return Masked(np.where(below == above, below, between), valid)


def cell(rows: GroupedRows, call: Call) -> Any:
    """The value of the row at a place of its group: rows are put into a table of cells, once for all calls."""
    x, place, number, cells = call.args
    assert isinstance(number, Literal)
    assert isinstance(cells, Literal)
    size, count = cells.value, rows.groups.count

    def make() -> Ints:
        places = to_masked(rows.column(place)).values
        kept = np.flatnonzero(places >= 0)
        table = np.full(size * count, -1, np.int64)
        table[places[kept] * count + rows.groups.codes[kept]] = kept
        return table

    found = rows.once(("cells", place, size), make)[number.value * count : (number.value + 1) * count]
    return take_or_null(rows.column(x), Masked(np.maximum(found, 0), found >= 0))


def quantile(rows: GroupedRows, call: Call) -> Any:
    """The quantile at a constant q."""
    assert isinstance(call.args[1], Literal)
    return quantile_at(rows, call.args[0], call.args[1].value)


def median(rows: GroupedRows, call: Call) -> Any:
    """The middle of the values."""
    return quantile_at(rows, call.args[0], 0.5)


def quantile_at(rows: GroupedRows, argument: Expr, q: float) -> Any:
    """Return the quantile of a column, which is sorted once for all its quantiles."""
    ascending = rows.once(("ascending", argument), lambda: Ascending.of(rows.groups, rows.column(argument)))
    return from_masked(ascending.quantile(q), FLOAT64)


def quantile_disc(rows: GroupedRows, call: Call) -> Any:
    """The value at the quantile at a constant q: one of the values themselves."""
    x, q = call.args
    assert isinstance(q, Literal)
    column = canonical(rows.column(x))
    kept = np.flatnonzero(rows.valid(x))
    order = kept[np.lexsort([ordinal(column, SortKey("x"))[kept], rows.groups.codes[kept]])]
    sizes = np.bincount(rows.groups.codes[kept], minlength=rows.groups.count)
    places = np.maximum(1, sizes - np.floor(sizes - sizes * float(q.value)).astype(np.int64)) - 1
    starts, found = np.cumsum(sizes) - sizes, sizes > 0
    picked = np.append(order, 0)[np.where(found, starts + places, -1)]
    return take_or_null(column, Masked(picked, found))


def mad(rows: GroupedRows, call: Call) -> Any:
    """The median of the absolute deviations from the median."""
    centers = to_masked(median(rows, call)).values
    masked = to_masked(rows.column(call.args[0]))
    with np.errstate(invalid="ignore"):
        deviations = np.abs(masked.values - centers[rows.groups.codes])
    column = from_masked(Masked(deviations, masked.valid), FLOAT64)
    return from_masked(Ascending.of(rows.groups, column).quantile(0.5), FLOAT64)

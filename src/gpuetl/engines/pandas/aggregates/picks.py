"""Aggregates that pick one row of a group and give its value: first and last, min_by and max_by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpuetl.engines.pandas.aggregates.grouped_rows import GroupedRows, Ints
from gpuetl.engines.pandas.columns.column import canonical
from gpuetl.engines.pandas.columns.gather import take_or_null
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.columns.masked import INT64_MAX, Masked
from gpuetl.engines.pandas.columns.order import note_ties, ordinal
from gpuetl.expressions.functions.aggregates import CARRIED, edge_arguments
from gpuetl.expressions.ir import Call
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass


@dataclass(frozen=True)
class Picked:
    """Each group's row, null where it has no candidate; `ties` counts the others that no key tells from it."""

    rows: Masked
    ties: int


def least_rows(groups: Groups, rows: Ints, digits: Sequence[Ints], last: bool = False) -> Picked:
    """Pick each group's least one of `rows` by `digits`, the first key first; of those that tie, the first or `last`.

    Each key narrows the rows down to those of its least value in their group: O(rows) a key, nothing is sorted.
    """
    for digit in digits:
        codes, values = groups.codes[rows], digit[rows]
        least = np.full(groups.count, INT64_MAX)
        np.minimum.at(least, codes, values)
        rows = rows[values == least[codes]]
    codes = groups.codes[rows]
    picked, found = np.zeros(groups.count, np.int64), np.zeros(groups.count, np.bool_)
    picked[codes if last else codes[::-1]] = rows if last else rows[::-1]
    found[codes] = True
    return Picked(Masked(picked, found), len(rows) - int(found.sum()))


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

    def pick() -> Picked:
        digits = [~rows.digits(key) if last else rows.digits(key) for key in order]
        kept = rows.condition(only) & rows.valid(x) if ignore_nulls else rows.condition(only)
        return least_rows(rows.groups, np.flatnonzero(kept), digits, last)

    picked = rows.once(("edge", last, order, only, x if ignore_nulls else None), pick)
    note_ties(rows.operation, (*map(SortKey, rows.operation.by), *map(as_written, order)), picked.ties)
    return take_or_null(rows.column(x), picked.rows)


def as_written(key: SortKey) -> SortKey:
    """Return a key by the name that the user knows: one that partitions carry has more after a colon."""
    return replace(key, column=key.column.partition(CARRIED)[0])


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
    picked = least_rows(rows.groups, np.flatnonzero(rows.valid(y)), digits)
    return take_or_null(canonical(rows.column(x)), picked.rows)

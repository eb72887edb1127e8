"""Some of an aggregate's rows sorted within their groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.keys import Key, Keys
from gpuetl.backends.cudf.columns.order import sort_keys
from gpuetl.backends.cudf.machine import Array


@dataclass(frozen=True, eq=False)
class Runs:
    """Some rows sorted by group and then by keys: equal ones stand together.

    `rows` are their numbers in the frame, `codes` their groups, `new` marks the first of each run of equal rows.
    """

    rows: Array
    codes: Array
    new: Array

    @classmethod
    def of(cls, groups: Groups, kept: Array, keys: Sequence[Key]) -> Runs:
        """Sort the rows that `kept` (uint8) marks, stably."""
        machine = groups.machine
        rows = numbers_where(kept, machine)
        order = sort_keys(Keys((groups.code_key, *keys), len(rows), rows), 1, False, machine)
        rows = rows if order.rows is None else rows[order.rows]
        return cls(rows, groups.codes[rows], order.new_value)

    def edge(self, groups: Groups, last: bool = False) -> Array:
        """Return the place of each group's first or last row among these, -1 where it has none."""
        arrays = groups.machine.arrays
        places = arrays.searchsorted(self.codes, arrays.arange(groups.count + 1, dtype="int32"))
        found = places[1:] > places[:-1]
        return arrays.where(found, places[1:] - 1 if last else places[:-1], -1)

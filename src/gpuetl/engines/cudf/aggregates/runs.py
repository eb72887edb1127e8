"""Some of an aggregate's rows sorted within their groups."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.aggregates.edges import edges
from gpuetl.engines.cudf.aggregates.groups import Groups
from gpuetl.engines.cudf.columns.arrays import iota, pick
from gpuetl.engines.cudf.columns.compact import numbers_where
from gpuetl.engines.cudf.columns.keys import Key, Keys
from gpuetl.engines.cudf.columns.order import sort_keys
from gpuetl.engines.cudf.machine import Array
from gpuetl.records import dataclass


@dataclass(frozen=True, eq=False)
class Runs:
    """Some rows sorted by group and then by keys: equal ones stand together.

    `rows` are their numbers in the frame, `codes` their groups, `new` marks the first of each run of equal rows.
    """

    rows: Array
    codes: Array
    new: Array

    @classmethod
    def of(cls, groups: Groups, kept: Array | None, keys: Sequence[Key]) -> Runs:
        """Sort the rows that `kept` (uint8) marks, all of them where it is None, stably."""
        machine = groups.machine
        rows = None if kept is None else numbers_where(kept, machine)
        count = groups.frame.rows if rows is None else len(rows)
        order = sort_keys(Keys((groups.code_key, *keys), count, rows), 1, False, machine)
        places = iota(count, machine) if order.rows is None else order.rows
        rows = places if rows is None else pick(rows, places, machine)
        return cls(rows, pick(groups.codes, rows, machine), order.new_value)

    def edge(self, groups: Groups, last: bool = False) -> Array:
        """Return the place (int64) of each group's first or last row among these, -1 where it has none."""
        return edges(self.codes, groups.count, last, groups.machine)

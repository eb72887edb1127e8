"""Groups of keys that range narrowly: each row's key is a code, and counts by code tell where groups begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.arrays import pick
from gpuetl.backends.cudf.columns.keys import Keys
from gpuetl.backends.cudf.columns.layout import Layout
from gpuetl.backends.cudf.columns.words import packed
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.records import dataclass

TABLE_BITS = 12
"""Counts of so many bits of code fit the shared memory of a block; see device/closed/groups.cu."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows by the code of their keys.

    `codes` (uint8 or uint16) are the rows' own, `ranks` (int32, in host memory) tell the group of each code, and
    `starts` where each group begins among the rows in the order of their codes, with their number at the end.
    """

    codes: Array
    ranks: NDArray[np.int32]
    starts: Array

    def groups(self, machine: Machine) -> Array:
        """Return the group (int32) of each row."""
        return pick(machine.arrays.asarray(self.ranks), self.codes, machine)


def table_of(keys: Keys, layout: Layout, machine: Machine) -> Table | None:
    """Return the table of rows that are not in order and whose keys range narrowly, None for others."""
    bits, arrays = sum(layout.bits), machine.arrays
    if not 0 < bits <= TABLE_BITS or not chosen("group_by_table") or (layout.in_order and chosen("notice_order")):
        return None
    (codes,) = packed(keys, layout, machine)
    counts = arrays.zeros(1 << bits, "int32")
    machine.launch(machine.closed("groups"), f"tally_{codes.dtype}", keys.rows, [keys.rows, 1 << bits, codes, counts])
    found = machine.host(counts)  # so few that the host is quicker than several kernels
    starts = np.concatenate([[0], np.cumsum(found[found > 0])])
    return Table(codes, np.cumsum(found > 0, dtype=np.int32) - 1, arrays.asarray(starts))

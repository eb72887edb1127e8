"""Rows in the order of their keys' codes, by counts of each code: faster than sorting where codes are a few million.

The counts stay in a GPU's cache, and so does the place that each group's next row takes.  Atomics give rows of a group
their places in any order, so each group's row numbers are sorted afterwards, by a warp: the order is the stable one.
"""

from __future__ import annotations

import numpy as np

from gpuetl.backends.cudf.columns.arrays import iota, pick, scan
from gpuetl.backends.cudf.machine import Array, Machine

PROGRAM = "counting"
MOST_BITS = 24
"""Counts of so many bits of code, 64 MiB, are near the size of a GPU's cache."""
SMALL_TABLE, ROWS_A_CODE = 1 << 16, 16
"""Any rows may have so many codes; more only where there are as many rows for each code."""
MOST_SORTED = 1024
"""As in device/closed/counting.cu: a warp sorts a group of so many rows."""
SORTING_THREADS, SORTING_BLOCKS = 256, 4096
SAMPLED, MOST_SAMPLED = 4096, 128
"""Of so many rows, one in equal distances, no code may have more than these: additions to one count are one by one."""


def are_countable(bits: int, rows: int) -> bool:
    """Tell whether there may be a count of each code of so many bits."""
    return bits <= MOST_BITS and 1 << bits <= max(SMALL_TABLE, rows // ROWS_A_CODE)


def counts_of(codes: Array, bits: int, machine: Machine) -> Array | None:
    """Return how many rows (int32) each code (uint16 or uint32) has; None where a sample has one code very often."""
    if len(codes) >= SAMPLED * MOST_SAMPLED and most_sampled(codes, machine) > MOST_SAMPLED:
        return None
    counts = machine.arrays.zeros(1 << bits, "int32")
    machine.launch(machine.closed(PROGRAM), f"count_by_code_{codes.dtype}", len(codes), [len(codes), codes, counts])
    return counts


def most_sampled(codes: Array, machine: Machine) -> int:
    """Return how many rows of a sample have its most frequent code."""
    rows = iota(SAMPLED, machine, step=len(codes) // SAMPLED)
    _, counts = np.unique(machine.host(pick(codes, rows, machine)), return_counts=True)
    return int(max(counts.tolist()))


def most_of(counts: Array, machine: Machine) -> int:
    """Return the greatest count."""
    most = machine.arrays.zeros(1, "uint64")
    machine.launch(machine.closed(PROGRAM), "find_most_rows", len(counts), [len(counts), counts, most])
    return int(most[0])


def order_by_counts(codes: Array, counts: Array, starts: Array, machine: Machine) -> Array:
    """Return the stable order (int32 row numbers) of codes, of which none has more than `MOST_SORTED` rows.

    `starts` (int64) are where the groups begin in that order, and the number of rows.
    """
    rows, module = len(codes), machine.closed(PROGRAM)
    order, places = machine.arrays.empty(rows, "int32"), scan(counts, machine, "int32", before=True)
    machine.launch(module, f"place_by_code_{codes.dtype}", rows, [rows, codes, places, order])
    groups, warps = len(starts) - 1, SORTING_THREADS // 32
    blocks = min(-(-groups // warps), SORTING_BLOCKS)
    machine.launch_blocks(module, "sort_groups", blocks, SORTING_THREADS, [groups, starts, order])
    return order

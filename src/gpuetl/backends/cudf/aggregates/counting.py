"""Rows counted by the code of their keys, for codes of up to some millions: the counts stay in a GPU's cache.

Sums of counts tell where each group begins among the sorted rows.  So no row is compared with the one before it, for
which each row's code would be read at random.
"""

from __future__ import annotations

import numpy as np

from gpuetl.backends.cudf.columns.arrays import iota, pick
from gpuetl.backends.cudf.machine import Array, Machine

MOST_BITS = 24
"""The widest code: its counts, 64 MiB, are near the size of a GPU's cache."""
SMALL_TABLE, ROWS_A_CODE = 1 << 16, 16
"""The codes that any rows may have, and the rows for each code that larger tables need."""
SAMPLED, MOST_SAMPLED = 4096, 128
"""The rows of a sample, and how many of them may have one code: additions to one count come one by one.  Rows of the
code that most have, such as that of nulls, are counted in registers."""


def are_countable(bits: int, rows: int) -> bool:
    """Tell whether codes of this width are few enough to be counted."""
    return bits <= MOST_BITS and 1 << bits <= max(SMALL_TABLE, rows // ROWS_A_CODE)


def counts_of(codes: Array, bits: int, machine: Machine) -> Array | None:
    """Return how many rows (int32) each code (uint16 or uint32) has; None where a sample has two codes very often."""
    often, _, second = most_sampled(codes, machine) if len(codes) >= SAMPLED * MOST_SAMPLED else (0, 0, 0)
    if second > MOST_SAMPLED:
        return None
    counts, entry = machine.arrays.zeros(1 << bits, "int32"), f"count_by_code_{codes.dtype}"
    machine.launch(machine.closed("counting"), entry, len(codes), [len(codes), often, codes, counts])
    return counts


def most_sampled(codes: Array, machine: Machine) -> tuple[int, int, int]:
    """Return the most frequent code of a sample, how many rows have it, and how many have the second most frequent."""
    rows = iota(SAMPLED, machine, step=len(codes) // SAMPLED)
    found, counts = np.unique(machine.host(pick(codes, rows, machine)), return_counts=True)
    (first, often), (second, _) = sorted([*zip(counts.tolist(), found.tolist(), strict=True), (0, 0)], reverse=True)[:2]
    return often, first, second

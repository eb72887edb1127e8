"""Rows counted by the code of their keys: sums of counts tell where each group begins among the sorted rows.

So no row is compared with the one before it, for which each row's code would be read at random.  Counts of few codes
lie in shared memory, and those of up to some millions of codes in a GPU's cache.
"""

from __future__ import annotations

import numpy as np

from gpuetl.engines.cudf.columns.arrays import iota, pick
from gpuetl.engines.cudf.machine import Array, Machine

MOST_BITS = 24
"""The widest code: its counts, 64 MiB, are near the size of a GPU's cache."""
SMALL_TABLE, ROWS_A_CODE = 1 << 16, 16
"""The codes that any rows may have, and the rows for each code that larger tables need."""
SHARED_BITS = 16
"""The widest code that is counted in shared memory.  A block counts 2^13 codes, so eight blocks read each code."""
SAMPLED, MOST_SAMPLED = 4096, 128
"""The rows of a sample, and how many of them may have one code: additions to one count in the cache come one by one.
Rows of the code that most have, such as that of nulls, are counted in registers."""
THREADS = 512
"""Of the block that ranks the codes; the kernel takes up to 1,024."""


def are_countable(bits: int, rows: int) -> bool:
    """Tell whether codes of this width are few enough to be counted."""
    return bits <= MOST_BITS and 1 << bits <= max(SMALL_TABLE, rows // ROWS_A_CODE)


def shared_counts(codes: Array, bits: int, machine: Machine) -> Array:
    """Return how many rows (int32) each code (uint8 or uint16) has."""
    counts = machine.arrays.zeros(1 << bits, "int32")
    arguments = [len(codes), len(counts), codes, counts]
    machine.launch(machine.closed("counting"), f"tally_{codes.dtype}", len(codes), arguments)
    return counts


def cached_counts(codes: Array, bits: int, machine: Machine) -> Array | None:
    """Return how many rows (int32) each code (uint32) has; None where a sample has two codes very often."""
    often, _, second = most_sampled(codes, machine) if len(codes) >= SAMPLED * MOST_SAMPLED else (0, 0, 0)
    if second > MOST_SAMPLED:
        return None
    counts = machine.arrays.zeros(1 << bits, "int32")
    machine.launch(machine.closed("counting"), "count_by_code", len(codes), [len(codes), often, codes, counts])
    return counts


def ranked(counts: Array, rows: int, machine: Machine) -> tuple[Array, Array]:
    """Return the group (int32) of each code, and where groups begin (int64) among the sorted rows, and their number.

    One block does it, for few codes.  The host waits for how many groups there are.
    """
    arrays, size = machine.arrays, len(counts)
    ranks, starts, groups = (
        arrays.empty(size, "int32"),
        arrays.empty(min(size, rows) + 1, "int64"),
        arrays.zeros(1, "uint64"),
    )
    arguments = [size, rows, counts, ranks, starts, groups]
    machine.launch_blocks(machine.closed("counting"), "rank_codes", 1, THREADS, arguments)
    return ranks, starts[: int(groups[0]) + 1]


def most_sampled(codes: Array, machine: Machine) -> tuple[int, int, int]:
    """Return the most frequent code of a sample, how many rows have it, and how many have the second most frequent."""
    rows = iota(SAMPLED, machine, step=len(codes) // SAMPLED)
    found, counts = np.unique(machine.host(pick(codes, rows, machine)), return_counts=True)
    (first, often), (second, _) = sorted([*zip(counts.tolist(), found.tolist(), strict=True), (0, 0)], reverse=True)[:2]
    return often, first, second

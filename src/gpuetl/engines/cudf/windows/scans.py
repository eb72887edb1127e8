"""Launches of the kernels that scan.cuh makes of a fold: those of window functions, and of users' texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuetl.engines.cudf.machine import Array, Machine, Module

TILE_ROWS = 1024
"""The rows of a tile: 32 * TILE_WORDS of scan.cuh."""
FAN = 32
"""How many totals of tiles have one total on the next level: the lanes of a warp, which makes it."""
THREADS = 128
"""Of a block, whose warps do not wait for each other: small blocks leave fewer registers unused."""


class Reducing(NamedTuple):
    """The kernels `reduce` and `totals`.

    Parameters
    ----------
    module
        Returns their module.  It is asked for where there is more than one tile.
    arguments
        What `reduce` takes after the rows and the memory of the totals.
    """

    module: Callable[[], Module]
    arguments: Sequence[Array | int]


def totals_before(reducing: Reducing, rows: int, segment_bytes: int, machine: Machine) -> Array:
    """Return what comes before each tile, which the kernel `scan` reads from the second tile on.

    `reduce` runs once, then `totals` for each level of totals that is made of others, and last for all tiles.

    Parameters
    ----------
    reducing
        The kernels, which call `reduce_tiles` and `reduce_totals`.
    rows
        How many, at least one.
    segment_bytes
        As many as a `Segment` of the fold's state takes, or more.
    machine
        Runs them.
    """
    counts = tile_counts(rows)
    totals = machine.arrays.zeros(sum(counts) * segment_bytes, "uint8")  # what lies between members is read, too
    before = machine.arrays.zeros(counts[0] * segment_bytes, "uint8")
    if counts[0] > 1:
        module = reducing.module()
        machine.launch_blocks(module, "reduce", blocks(counts[0]), THREADS, [rows, totals, *reducing.arguments])
        for level in [*range(1, len(counts)), 0]:
            machine.launch_blocks(module, "totals", blocks(counts[level]), THREADS, [rows, level, totals, before])
    return before


def launch_scan(module: Module, rows: int, before: Array, arguments: Sequence[Array | int], machine: Machine) -> None:
    """Run the kernel `scan`, which calls `scan_tiles`: of the rows, what comes before tiles, and the arguments."""
    machine.launch_blocks(module, "scan", blocks(tile_counts(rows)[0]), THREADS, [rows, before, *arguments])


def tile_counts(rows: int) -> list[int]:
    """Return how many totals there are on each level; level 0 are tiles."""
    counts = [-(-rows // TILE_ROWS)]
    while counts[-1] > FAN:
        counts.append(-(-counts[-1] // FAN))
    return counts


def blocks(warps: int) -> int:
    """Return how many blocks have so many warps."""
    return -(-warps * FAN // THREADS)

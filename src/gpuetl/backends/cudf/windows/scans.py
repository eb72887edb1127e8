"""Launches of the kernels that scan.cuh makes of a fold: those of window functions, and of users' texts."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.backends.cudf.machine import Array, Machine, Module

TILE_ROWS = 1024
"""The rows of a tile: 32 * TILE_WORDS of scan.cuh."""
FAN = 32
"""How many totals of tiles have one total on the next level: the lanes of a warp, which makes it."""
THREADS = 128
"""Of a block, whose warps do not wait for each other: small blocks leave fewer registers unused."""


def launch_scan(
    module: Module, rows: int, segment_bytes: int, arguments: Sequence[Array | int], machine: Machine
) -> None:
    """Run the kernels `reduce`, once for each level of totals, and `scan`.

    Their parameters are the rows, the level, the memory of the totals, and then the arguments.

    Parameters
    ----------
    module
        Has the kernels, which call `reduce_tiles` and `scan_tiles`.
    rows
        How many, at least one.
    segment_bytes
        As many as a `Segment` of the fold's state takes, or more.
    arguments
        What the kernels take beside.
    machine
        Runs them.
    """
    counts = [-(-rows // TILE_ROWS)]
    while counts[-1] > FAN:
        counts.append(-(-counts[-1] // FAN))
    totals = machine.arrays.zeros(sum(counts) * segment_bytes, "uint8")  # what lies between members is read, too
    blocks = [-(-count * FAN // THREADS) for count in counts]
    if counts[0] > 1:
        for level, reducing in enumerate(blocks):
            machine.launch_blocks(module, "reduce", reducing, THREADS, [rows, level, totals, *arguments])
    machine.launch_blocks(module, "scan", blocks[0], THREADS, [rows, 0, totals, *arguments])

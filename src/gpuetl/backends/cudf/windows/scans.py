"""Launches of the kernels that scan.cuh makes of a fold: those of window functions, and of users' texts."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.backends.cudf.machine import Array, Machine, Module

TILE_ROWS = 1024
"""The rows of a tile: 32 * TILE_WORDS of scan.cuh."""
FAN = 32
"""How many totals of tiles have one total on the next level."""


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
    if counts[0] > 1:
        for level, count in enumerate(counts):
            machine.launch(module, "reduce", count * 32, [rows, level, totals, *arguments])
    machine.launch(module, "scan", counts[0] * 32, [rows, 0, totals, *arguments])

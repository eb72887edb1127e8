"""The numbers of rows that pass a test."""

from __future__ import annotations

from typing import NamedTuple

from gpuetl.engines.cudf.columns.arrays import scan
from gpuetl.engines.cudf.machine import Array, Machine

TILE = 1024
"""As in device/compact.cuh."""
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


class Between(NamedTuple):
    """Whether a value lies between two others, both included; with `wanted` False whether it does not."""

    least: int
    greatest: int
    wanted: bool = True


NOT_ZERO, ZERO = Between(0, 0, wanted=False), Between(0, 0)
NEGATIVE, NOT_NEGATIVE = Between(LEAST, -1), Between(0, GREATEST)


def above(limit: int) -> Between:
    """Test whether a value is greater."""
    return Between(limit + 1, GREATEST)


def numbers_where(values: Array, machine: Machine, test: Between = NOT_ZERO) -> Array:
    """Return the numbers (int32), ascending, of the rows whose value (uint8, int32 or int64) passes a test.

    Two passes over them, and one wait.
    """
    return numbered(values, test, "int32", 0, machine)


def bounds_where(marks: Array, machine: Machine) -> Array:
    """Return the numbers (int64) of marked rows, and that of all rows: where groups begin, and where the last ends."""
    return numbered(marks, NOT_ZERO, "int64", 1, machine)


def numbered(values: Array, test: Between, dtype: str, more: int, machine: Machine) -> Array:
    """Return the numbers of the rows that pass, and in `more` elements after them how many rows there are."""
    arrays, rows = machine.arrays, len(values)
    tiles = -(-rows // TILE)
    if not tiles:
        return arrays.zeros(more, dtype)
    module, kind = machine.closed("compact"), str(values.dtype)
    given = [rows, tiles, values, test.least, test.greatest, int(test.wanted)]
    ends = arrays.empty(tiles, "int64")
    machine.launch(module, f"count_{kind}", tiles * 32, [*given, ends])
    ends = scan(ends, machine)
    numbers = arrays.empty(int(ends[-1]) + more, dtype)
    machine.launch(module, f"number_{kind}_{dtype}", tiles * 32, [*given, ends, more, numbers])
    return numbers

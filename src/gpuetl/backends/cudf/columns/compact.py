"""The numbers of rows that pass a test."""

from __future__ import annotations

from functools import cache

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine

TILE = 1024
"""As in device/compact.cuh."""


def numbers_where(values: Array, machine: Machine, test: str = "!= 0") -> Array:
    """Return the numbers (int32), ascending, of the rows whose value passes a test of C++.

    Two passes over them, and one wait.
    """
    return numbered(values, test, "int32", 0, machine)


def bounds_where(marks: Array, machine: Machine) -> Array:
    """Return the numbers (int64) of marked rows, and that of all rows: where groups begin, and where the last ends."""
    return numbered(marks, "!= 0", "int64", 1, machine)


def numbered(values: Array, test: str, dtype: str, more: int, machine: Machine) -> Array:
    """Return the numbers of the rows that pass, and in `more` elements after them how many rows there are."""
    arrays, rows = machine.arrays, len(values)
    tiles = -(-rows // TILE)
    if not tiles:
        return arrays.zeros(more, dtype)
    module = machine.compiled(numbers_source(str(values.dtype), test, dtype, bool(more)))
    ends = arrays.empty(tiles, "int64")
    machine.launch(module, "count", tiles * 32, [rows, tiles, values, ends])
    ends = arrays.cumsum(ends)
    numbers = arrays.empty(int(ends[-1]) + more, dtype)
    machine.launch(module, "write", tiles * 32, [rows, tiles, values, ends, numbers])
    return numbers


@cache
def numbers_source(value: str, test: str, number: str, bounded: bool) -> str:
    """Return the kernels `count` and `write`."""
    end = "if (LANE == 0 && tile == tiles - 1) numbers[ends[tile]] = rows;" if bounded else ""
    return f"""{headers_text(["rows.cuh", "compact.cuh"])}
struct Passes {{
    const {value}_t* values;
    DEVICE bool operator()(int64_t row) const {{ return values[row] {test}; }}
}};
KERNEL count(int64_t rows, int64_t tiles, const {value}_t* values, int64_t* counts) {{
    count_tiles(rows, tiles, Passes{{values}}, counts);
}}
KERNEL write(int64_t rows, int64_t tiles, const {value}_t* values, const int64_t* ends, {number}_t* numbers) {{
    FOR_EACH_WARP(tile, tiles) {{
        write_tile(rows, tile, Passes{{values}}, ends, numbers);
        {end}
    }}
}}
"""

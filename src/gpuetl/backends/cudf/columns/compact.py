"""The numbers of rows that are marked."""

from __future__ import annotations

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine

TILE = 1024
"""As in device/compact.cuh."""


def numbers_where(marks: Array, machine: Machine) -> Array:
    """Return the numbers (int32), ascending, of the rows that bytes mark: two passes over them, and one wait."""
    arrays, rows = machine.arrays, len(marks)
    tiles = -(-rows // TILE)
    if not tiles:
        return arrays.empty(0, "int32")
    module = machine.compiled(NUMBERS)
    counts = arrays.empty(tiles, "int32")
    machine.launch(module, "count", tiles * 32, [rows, tiles, marks, counts])
    ends = arrays.cumsum(counts, dtype="int64")
    numbers = arrays.empty(int(ends[-1]), "int32")
    machine.launch(module, "write", tiles * 32, [rows, tiles, marks, ends, numbers])
    return numbers


NUMBERS = f"""{headers_text(["rows.cuh", "compact.cuh"])}
struct Marked {{
    const uint8_t* marks;
    DEVICE bool operator()(int64_t row) const {{ return marks[row]; }}
}};
KERNEL count(int64_t rows, int64_t tiles, const uint8_t* marks, int32_t* counts) {{
    count_tiles(rows, tiles, Marked{{marks}}, counts);
}}
KERNEL write(int64_t rows, int64_t tiles, const uint8_t* marks, const int64_t* ends, int32_t* numbers) {{
    write_numbers(rows, tiles, Marked{{marks}}, ends, numbers);
}}
"""

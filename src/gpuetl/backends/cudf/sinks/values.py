"""Columns' values without nulls, their limits, and what is encoded by one kernel: PLAIN and packed bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuetl.backends.cudf.columns.written import empty_values
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.sinks.encoded import Encoded
from gpuetl.backends.cudf.sinks.footer import PLAIN
from gpuetl.backends.cudf.sinks.levels import Levels
from gpuetl.backends.cudf.sinks.pieces import Piece, Span
from gpuetl.backends.cudf.sinks.statistics import limits_of, ranges_found
from gpuetl.backends.cudf.vector import Vector

GROUP = 32
"""Numbers that are packed into whole words, whatever their width."""
BLOCK = 128
"""Values that a warp looks at: as many as a block of DELTA_BINARY_PACKED has differences."""


class Bits:
    """Truth values, a bit each."""

    def __init__(self, vector: Vector, levels: Levels, machine: Machine) -> None:
        self.dtype, self.levels, self.machine = vector.dtype, levels, machine
        self.values = valid_values(vector, levels, machine)
        self.measures = [ranges_of(self.values, "uint8_t", levels, machine)]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> Encoded:
        """Pack the bits."""
        widths = np.ones(len(self.levels.counts), np.int64)
        packed = packed_pages(self.values, "uint8_t", self.levels, widths, self.machine)
        return Encoded(PLAIN, [[piece] for piece in packed], ranges_found(measures[0]), limits_of(self.dtype))


class LongDecimals:
    """Decimals of more than 18 digits: 16 bytes, the highest first; their limits are not told."""

    measures = ()

    def __init__(self, vector: Vector, levels: Levels, machine: Machine) -> None:
        self.levels = levels
        values = valid_values(vector, levels, machine)
        self.values = machine.arrays.empty_like(values)
        module = machine.compiled(turning_source())
        machine.launch(module, "turn_bytes", len(values), [len(values), values, self.values])

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> Encoded:
        """Take the turned values for the pages."""
        return Encoded(PLAIN, plain_pages(self.values, self.levels))


def plain_pages(values: Array, levels: Levels) -> list[list[Piece]]:
    """Return pages of values as they lie in memory."""
    width = values.nbytes // max(len(values), 1)
    return [
        [Span(values, start * width, count * width)] if count else []
        for start, count in zip(levels.starts, levels.counts, strict=False)
    ]


def valid_values(vector: Vector, levels: Levels, machine: Machine) -> Array:
    """Return the values that are not null: the column's own memory where none is."""
    if levels.valid is None:
        return vector.data
    values = empty_values(vector.dtype, levels.valid_rows, machine)
    compact(vector.data, stored_c_type(vector.dtype), levels, values, machine)
    return values


def compact(data: Array, stored: str, levels: Levels, values: Array, machine: Machine) -> None:
    """Copy the values that are not null to `values`, of the same C++ type."""
    module = machine.compiled(compacting_source(stored))
    machine.launch(module, "compact", levels.rows, [levels.rows, data, levels.valid, levels.through, values])


def ranges_of(values: Array, stored: str, levels: Levels, machine: Machine) -> Array:
    """Return the `Range` of each page: uint64[pages, 2]."""
    arrays, blocks = machine.arrays, blocks_a_page(levels)
    ranges = arrays.zeros((len(levels.counts), 2), "uint64")
    arguments = [blocks * len(levels.counts), blocks, values, levels.d_starts, ranges]
    machine.launch(machine.compiled(ranges_source(stored)), "find_ranges", arguments[0] * 32, arguments)
    return ranges


def blocks_a_page(levels: Levels) -> int:
    """Return how many blocks the values of a page without nulls are."""
    return -(-levels.page_rows // BLOCK)


def packed_pages(
    values: Array, stored: str, levels: Levels, widths: np.ndarray[Any, Any], machine: Machine
) -> list[Piece]:
    """Pack each page's numbers into so many bits; a page's bytes hold a multiple of 8 numbers."""
    arrays, pages, groups = machine.arrays, len(levels.counts), -(-levels.page_rows // GROUP)
    stride = groups * int(widths.max())
    words = arrays.empty(pages * stride, "uint32")
    arguments = [pages * groups, groups, stride, values, levels.d_starts, arrays.asarray(widths), words]
    machine.launch(machine.compiled(packing_source(stored)), "pack", pages * groups * 32, arguments)
    sizes = -(-np.array(levels.counts) // 8) * widths
    return [Span(words, page * stride * 4, int(size)) for page, size in enumerate(sizes)]


def compacting_source(stored: str) -> str:
    """Return the kernel `compact` for values of a C++ type."""
    return f"""{headers_text(["parquet.cuh"])}
KERNEL compact(int64_t rows, const {stored}* data, const uint32_t* valid, const int64_t* through, {stored}* values) {{
    const parquet::Ranks ranks{{valid, through}};
    FOR_EACH_ROW(row, rows) {{
        int64_t rank;
        if (row < rows && ranks(row, rank)) values[rank] = data[row];
    }}
}}
"""


def ranges_source(stored: str) -> str:
    """Return the kernel `find_ranges` for values of a C++ type."""
    return f"""{headers_text(["parquet.cuh"])}
KERNEL find_ranges(int64_t blocks, int64_t blocks_a_page, const {stored}* values, const int64_t* starts,
                   uint64_t* ranges) {{
    FOR_EACH_WARP(block, blocks) {{
        const int64_t page = block / blocks_a_page, first = starts[page] + block % blocks_a_page * {BLOCK};
        const int64_t end = first + {BLOCK} < starts[page + 1] ? first + {BLOCK} : starts[page + 1];
        parquet::Range range;
        for (int64_t at = first + LANE; at < end; at += LANES) range.take(values[at]);
        merge_lanes(range);
        if (LANE == 0) range.store(ranges + 2 * page);
    }}
}}
"""


def packing_source(stored: str) -> str:
    """Return the kernel `pack` for numbers of a C++ type."""
    return f"""{headers_text(["parquet.cuh"])}
KERNEL pack(int64_t groups, int64_t groups_a_page, int64_t words_a_page, const {stored}* values, const int64_t* starts,
            const int64_t* widths, uint32_t* words) {{
    FOR_EACH_WARP(item, groups) {{
        const int64_t page = item / groups_a_page, group = item % groups_a_page, width = widths[page];
        const int64_t first = starts[page] + group * {GROUP}, end = starts[page + 1];
        const auto number = [&](int i) {{ return first + i < end ? uint64_t(values[first + i]) : uint64_t(0); }};
        uint32_t* const packed = words + page * words_a_page + group * width;
        for (int each = LANE; each < width; each += LANES) packed[each] = parquet::packed_word(each, width, number);
    }}
}}
"""


def turning_source() -> str:
    """Return the kernel `turn_bytes`."""
    return f"""{headers_text(["parquet.cuh"])}
KERNEL turn_bytes(int64_t rows, const uint64_t* values, uint64_t* turned) {{
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) break;
        turned[2 * row] = parquet::bytes_turned(values[2 * row + 1]);
        turned[2 * row + 1] = parquet::bytes_turned(values[2 * row]);
    }}
}}
"""

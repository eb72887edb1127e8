"""Integers as DELTA_BINARY_PACKED where that is smaller: dates, times, decimals and texts' lengths too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.sinks.encoded import Encoded
from gpuetl.backends.cudf.sinks.footer import DELTA_BINARY_PACKED, PLAIN
from gpuetl.backends.cudf.sinks.levels import Levels, page_ends
from gpuetl.backends.cudf.sinks.pieces import Piece, Span
from gpuetl.backends.cudf.sinks.statistics import limits_of, ranges_found
from gpuetl.backends.cudf.sinks.thrift import varint, zigzag
from gpuetl.backends.cudf.sinks.values import blocks_a_page, plain_pages, valid_values
from gpuetl.backends.cudf.vector import Vector

HEADER = varint(128) + varint(4)
"""Of a page: differences in a block, and the miniblocks that share a block."""
WORTH = 7 / 8
"""Of PLAIN's bytes: readers take longer with differences, so they must save something."""


class Deltas:
    """Differences of neighbours, measured: what each block of 128 takes."""

    def __init__(self, values: Array, stored: str, levels: Levels, machine: Machine) -> None:
        arrays = machine.arrays
        self.values, self.levels, self.machine = values, levels, machine
        self.module = machine.compiled(delta_source(stored))
        pages, self.blocks = len(levels.counts), blocks_a_page(levels)
        self.total = pages * self.blocks
        self.sizes, self.widths = arrays.empty(self.total, "int32"), arrays.empty(self.total, "uint32")
        self.least, self.first = arrays.empty(self.total, "int64"), arrays.empty(pages, "int64")
        self.ranges, self.starts = arrays.zeros((pages, 2), "uint64"), levels.d_starts
        measured = [self.sizes, self.least, self.widths, self.first, self.ranges]
        machine.launch(
            self.module, "measure", self.total * 32, [self.total, self.blocks, values, self.starts, *measured]
        )
        self.ends = arrays.cumsum(self.sizes, dtype="int64")

    @property
    def measures(self) -> list[Array]:
        """The first value and the range of each page, and where the page's blocks end."""
        return [self.first, self.ranges, page_ends(self.ends, self.blocks, self.machine)]

    def pages(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[list[Piece]]:
        """Encode; return each page's pieces."""
        firsts, _, ends = (each.tolist() for each in measures)
        packed = self.machine.arrays.empty(ends[-1], "uint8")
        arguments = [self.total, self.blocks, self.values, self.starts, self.sizes, self.ends, self.least, self.widths]
        self.machine.launch(self.module, "pack", self.total * 32, [*arguments, packed])
        return [
            [HEADER + varint(count) + zigzag(first), Span(packed, start, end - start)]
            for count, first, start, end in zip(self.levels.counts, firsts, [0, *ends], ends, strict=False)
        ]


class Integers:
    """Integers, and what is stored as such; those below 32 bits are never PLAIN, which would widen them."""

    def __init__(self, vector: Vector, levels: Levels, machine: Machine) -> None:
        self.dtype, self.levels = vector.dtype, levels
        self.values = valid_values(vector, levels, machine)
        self.deltas = Deltas(self.values, stored_c_type(vector.dtype), levels, machine)
        self.measures = self.deltas.measures

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> Encoded:
        """Take the smaller encoding."""
        ranges, packed_bytes = ranges_found(measures[1]), int(measures[2][-1])
        if self.values.dtype.itemsize < 4 or packed_bytes < WORTH * self.values.nbytes:
            return Encoded(DELTA_BINARY_PACKED, self.deltas.pages(measures), ranges, limits_of(self.dtype))
        return Encoded(PLAIN, plain_pages(self.values, self.levels), ranges, limits_of(self.dtype))


def delta_source(stored: str) -> str:
    """Return the kernels `measure` and `pack` for integers of a C++ type."""
    bits = 64 if stored in ("int64_t", "uint64_t") else 32
    wide = f"int{bits}_t, uint{bits}_t"
    place = """
        const int64_t page = item / blocks_a_page, block = item % blocks_a_page;
        const int64_t count = starts[page + 1] - starts[page];"""
    return f"""{headers_text(["parquet.cuh"])}
KERNEL measure(int64_t blocks, int64_t blocks_a_page, const {stored}* values, const int64_t* starts, int32_t* sizes,
               int64_t* least, uint32_t* widths, int64_t* first, uint64_t* ranges) {{
    FOR_EACH_WARP(item, blocks) {{{place}
        const {stored}* const own = values + starts[page];
        parquet::measure_block<{wide}>(own, count, block, sizes + item, least + item, widths + item, ranges + 2 * page);
        if (block == 0 && LANE == 0) first[page] = count ? int64_t(int{bits}_t(own[0])) : 0;
    }}
}}
KERNEL pack(int64_t blocks, int64_t blocks_a_page, const {stored}* values, const int64_t* starts, const int32_t* sizes,
            const int64_t* ends, const int64_t* least, const uint32_t* widths, uint8_t* packed) {{
    FOR_EACH_WARP(item, blocks) {{{place}
        if (!sizes[item]) continue;
        const parquet::BlockHeader header{{least[item], widths[item]}};
        parquet::pack_block<{wide}>(values + starts[page], count, block, header, packed + ends[item] - sizes[item]);
    }}
}}
"""

"""Integers as DELTA_BINARY_PACKED where that is smaller: dates, times, decimals and texts' lengths too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import every, scan
from gpuetl.engines.cudf.machine import Array, Machine, Struct
from gpuetl.engines.cudf.sinks.encoded import Encoded
from gpuetl.engines.cudf.sinks.footer import DELTA_BINARY_PACKED, PLAIN
from gpuetl.engines.cudf.sinks.pieces import Piece, Span
from gpuetl.engines.cudf.sinks.stack import Column, Stack, stack_of
from gpuetl.engines.cudf.sinks.statistics import limits_of, ranges_found
from gpuetl.engines.cudf.sinks.thrift import varint, zigzag
from gpuetl.engines.cudf.sinks.values import blocks_a_page, plain_pages

HEADER = varint(128) + varint(4)
"""Of a page: differences in a block, and the miniblocks that share a block."""
WORTH = 7 / 8
"""Of PLAIN's bytes: readers take longer with differences, so they must save something."""


class Deltas:
    """Differences of neighbours, measured: what each block of 128 takes."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.machine, arrays = stack, stack.machine, stack.machine.arrays
        self.blocks = blocks_a_page(stack.levels[0])
        self.total = stack.pages * self.blocks
        self.sizes, self.widths = arrays.empty((2, self.total), "int32")
        self.least, self.first = arrays.empty(self.total, "int64"), arrays.empty(stack.pages, "int64")
        self.ranges = arrays.zeros((stack.pages, 2), "uint64")
        parts = [self.machine.address(each) for each in (stack.table, self.sizes, self.widths, self.least)]
        self.parts = Struct(np.array([self.blocks, stack.column_pages, *parts], np.int64))
        self.launch("measure", [self.first, self.ranges])
        self.ends = scan(self.sizes, self.machine)

    def launch(self, kernel: str, arguments: Sequence[Array]) -> None:
        """Run a kernel with a warp for each block."""
        module, entry = self.machine.closed("deltas"), f"{kernel}_delta_{self.stack.stored}"
        self.machine.launch(module, entry, self.total * 32, [self.total, *arguments, self.parts])

    @cached_property
    def measures(self) -> list[Array]:
        """The first value and the range of each page, and where the page's blocks end."""
        ends = every(self.ends, self.blocks - 1, self.blocks, self.stack.pages, self.machine)
        return [self.first, self.ranges, ends]

    def pages(self, measures: Sequence[np.ndarray[Any, Any]], chosen: Sequence[bool]) -> list[list[Piece]]:
        """Encode the columns that are chosen; return each page's pieces, of other columns none."""
        stack, (firsts, _, ends) = self.stack, measures
        sizes = np.diff(ends, prepend=0).reshape(len(chosen), -1)
        before = np.cumsum(np.where(chosen, 0, sizes.sum(1)))  # bytes of columns that are not chosen
        packed = self.machine.arrays.empty(int(ends[-1] - before[-1]), "uint8")
        bases = self.machine.arrays.asarray(np.where(chosen, before, -1))
        self.launch("encode", [self.ends, bases, packed])
        starts = (ends.reshape(sizes.shape) - sizes - before[:, None]).reshape(-1)
        given = zip(stack.counts, firsts.tolist(), starts.tolist(), sizes.reshape(-1).tolist(), strict=True)
        pages: list[list[Piece]] = [
            [HEADER + varint(count) + zigzag(first), Span(packed, start, size)] for count, first, start, size in given
        ]
        return pages


class Integers:
    """Integers, and what is stored as such; those below 32 bits are never PLAIN, which would widen them."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns, self.stack = columns, stack_of(columns, machine)
        self.deltas = Deltas(self.stack)
        self.measures = self.deltas.measures

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Take the smaller encoding of each column."""
        stack = self.stack
        packed_bytes = np.diff(measures[2][stack.column_pages - 1 :: stack.column_pages], prepend=0).tolist()
        width = stack.values[0].dtype.itemsize
        chosen = [
            width < 4 or size < WORTH * width * each.valid_rows
            for size, each in zip(packed_bytes, stack.levels, strict=True)
        ]
        pages = stack.split(self.deltas.pages(measures, chosen)) if any(chosen) else [()] * len(chosen)
        given = zip(chosen, pages, stack.split(ranges_found(measures[1])), stack.values, self.columns, strict=True)
        return [
            Encoded(DELTA_BINARY_PACKED, own, ranges, limits_of(column.vector.dtype))
            if smaller
            else Encoded(PLAIN, plain_pages(values, column.levels), ranges, limits_of(column.vector.dtype))
            for smaller, own, ranges, values, column in given
        ]

"""Values as they lie in memory, numbers packed into bits, and integers as DELTA_BINARY_PACKED where that is smaller."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import every, scan
from gpuetl.engines.cudf.io.definition_levels import Levels
from gpuetl.engines.cudf.io.encoded_columns import (
    Column,
    Encoded,
    Stack,
    limits_of,
    ranges_found,
    stack_of,
    valid_values,
)
from gpuetl.engines.cudf.io.parquet_metadata import DELTA_BINARY_PACKED, PLAIN, varint, zigzag
from gpuetl.engines.cudf.io.threaded_file import Piece, Span
from gpuetl.engines.cudf.machine import Array, Machine, Struct

# Values as they lie in memory, their limits, and numbers packed into bits: what one kernel encodes.


GROUP = 32
"""Numbers that are packed into whole words, whatever their width: as in device/closed/pages.cu."""
BLOCK = 128
"""As in device/parquet.cuh."""


class Bits:
    """Truth values, a bit each."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns, self.stack = columns, stack_of(columns, machine)
        self.measures = [ranges_of(self.stack, "uint8")]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Pack the bits."""
        packed = packed_pages(self.stack, np.ones(self.stack.pages, np.int64))
        pages, ranges = self.stack.split([[piece] for piece in packed]), self.stack.split(ranges_found(measures[0]))
        limits = [limits_of(column.vector.dtype) for column in self.columns]
        return [Encoded(PLAIN, *each) for each in zip(pages, ranges, limits, strict=True)]


class LongDecimals:
    """Decimals of more than 18 digits: 16 bytes, the highest first; their limits are not told."""

    measures = ()

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns = columns
        self.values = [turned(values, machine) for values in valid_values(columns, machine)]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Take the turned values for the pages."""
        given = zip(self.values, self.columns, strict=True)
        return [Encoded(PLAIN, plain_pages(values, column.levels)) for values, column in given]


def turned(values: Array, machine: Machine) -> Array:
    """Return values of 16 bytes with their highest byte first."""
    made = machine.arrays.empty_like(values)
    machine.launch(machine.closed("pages"), "turn_bytes", len(values), [len(values), values, made])
    return made


def plain_pages(values: Array, levels: Levels) -> list[list[Piece]]:
    """Return pages of values as they lie in memory."""
    width = values.nbytes // max(len(values), 1)
    return [
        [Span(values, start * width, count * width)] if count else []
        for start, count in zip(levels.starts, levels.counts, strict=False)
    ]


def ranges_of(stack: Stack, stored: str) -> Array:
    """Return the `Range` of each page: uint64[pages, 2]; `stored` is the type to compare as."""
    machine, blocks = stack.machine, blocks_a_page(stack.levels[0])
    ranges = machine.arrays.zeros((stack.pages, 2), "uint64")
    arguments: list[Any] = [blocks * stack.pages, blocks, stack.column_pages, stack.table, ranges]
    machine.launch(machine.closed("pages"), f"find_ranges_{stored}", arguments[0] * 32, arguments)
    return ranges


def blocks_a_page(levels: Levels) -> int:
    """Return how many blocks the values of a page without nulls are."""
    return -(-levels.page_rows // BLOCK)


def packed_pages(stack: Stack, widths: np.ndarray[Any, Any]) -> list[Piece]:
    """Pack each page's numbers into so many bits; a page's bytes hold a multiple of 8 numbers."""
    machine, arrays, groups = stack.machine, stack.machine.arrays, -(-stack.levels[0].page_rows // GROUP)
    ends = np.cumsum(groups * widths)
    starts = ends - groups * widths
    words, table = arrays.empty(int(ends[-1]), "uint32"), arrays.asarray(np.stack([widths, starts], axis=1))
    arguments: list[Any] = [stack.pages * groups, groups, stack.column_pages, stack.table, table, words]
    machine.launch(machine.closed("pages"), f"pack_{stack.stored}", arguments[0] * 32, arguments)
    sizes = -(-np.array(stack.counts) // 8) * widths
    return [Span(words, start * 4, size) for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)]


# Integers as DELTA_BINARY_PACKED where that is smaller: dates, times, decimals and texts' lengths too.


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

"""Values as they lie in memory, their limits, and numbers packed into bits: what one kernel encodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.sinks.encoded import Encoded
from gpuetl.engines.cudf.sinks.footer import PLAIN
from gpuetl.engines.cudf.sinks.levels import Levels
from gpuetl.engines.cudf.sinks.pieces import Piece, Span
from gpuetl.engines.cudf.sinks.stack import Column, Stack, stack_of, valid_values
from gpuetl.engines.cudf.sinks.statistics import limits_of, ranges_found

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
    arguments = [blocks * stack.pages, blocks, stack.column_pages, stack.table, ranges]
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
    arguments = [stack.pages * groups, groups, stack.column_pages, stack.table, table, words]
    machine.launch(machine.closed("pages"), f"pack_{stack.stored}", arguments[0] * 32, arguments)
    sizes = -(-np.array(stack.counts) // 8) * widths
    return [Span(words, start * 4, size) for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)]

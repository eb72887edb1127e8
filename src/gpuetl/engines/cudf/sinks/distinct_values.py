"""Dictionaries of row groups of few distinct values, found by tables of their bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import filled
from gpuetl.engines.cudf.machine import Array, Struct
from gpuetl.engines.cudf.sinks.delta import WORTH
from gpuetl.engines.cudf.sinks.encoded import Dictionary
from gpuetl.engines.cudf.sinks.pieces import Piece, Span
from gpuetl.engines.cudf.sinks.stack import Stack
from gpuetl.engines.cudf.sinks.texts import code_page
from gpuetl.engines.cudf.sinks.values import blocks_a_page, packed_pages

MOST_VALUES = 1 << 17
"""Of a dictionary: float64 then takes a MiB of it, as much as readers expect."""
SAMPLE = 1 << 12
MOST_SAMPLED = SAMPLE - SAMPLE**2 // (2 * MOST_VALUES)
"""Rows of a group that are looked at first, and the distinct values among them of one that may have few in all.

Of n values that are equally frequent, s rows repeat about s² / 2n.  Both are as in device/value_table.cuh.
"""


class DistinctValues:
    """The distinct values of each row group of columns by their bits: 32 or 64, without nulls.

    A group has a table of `places`, half of which may be taken; those that are, are listed in `taken`.
    """

    def __init__(self, stack: Stack) -> None:
        levels, arrays = stack.levels[0], stack.machine.arrays
        self.stack, self.machine, self.width = stack, stack.machine, stack.values[0].dtype.itemsize
        self.bits = f"uint{8 * self.width}"
        self.column_groups, self.groups = levels.groups, len(stack.levels) * levels.groups
        self.places = min(2 * MOST_VALUES, 1 << (2 * levels.group_rows - 1).bit_length())
        self.blocks = stack.pages * blocks_a_page(levels)
        self.table = filled(self.groups * self.places, -1, "uint64", self.machine)
        self.taken = arrays.empty(self.groups * (self.places // 2), "int32")
        self.counts = arrays.zeros(self.groups, "uint64")
        layout = [blocks_a_page(levels), stack.column_pages, levels.group_pages, self.column_groups, self.places]
        tables = [self.machine.address(each) for each in (stack.table, self.table, self.counts, self.taken)]
        self.tables = Struct(np.array([*layout, *tables], np.int64))
        self.launch(f"sample_values_{self.bits}", self.groups * SAMPLE, [])
        self.sampled = self.counts.copy()
        self.launch(f"insert_values_{self.bits}", self.blocks, [self.sampled], lanes=32)

    @property
    def measures(self) -> list[Array]:
        """How many distinct values a sample of each group has, and its rows; a count above half the places is any."""
        return [self.sampled, self.counts]

    def launch(self, entry: str, items: int, arguments: Sequence[Any], lanes: int = 1) -> None:
        """Run a kernel with `lanes` threads for each item."""
        module = self.machine.closed("distinct_values")
        self.machine.launch(module, entry, items * lanes, [items, *arguments, self.tables])

    def worthwhile(self, sampled: Sequence[int], counts: Sequence[int]) -> list[int]:
        """Return the distinct values of each group that is to have a dictionary, zero for others."""
        found = []
        rows = [levels.valid_rows_of(group) for levels in self.stack.levels for group in range(self.column_groups)]
        for few, count, own in zip(sampled, counts, rows, strict=True):
            size = count * self.width + own * code_bits(count) // 8
            known = few <= MOST_SAMPLED and count <= self.places // 2
            found.append(count if known and size < WORTH * own * self.width else 0)
        return found

    def encoded(self, counts: Sequence[int]) -> tuple[dict[int, list[Piece]], list[Dictionary | None]]:
        """Return pages of codes, and each group's dictionary, given the distinct values of each group, or zero."""
        first = list(accumulate(counts, initial=0))
        chosen = self.machine.arrays.asarray(np.array([counts, first[:-1]], np.int64))
        ranks, data = self.numbered(chosen, first[-1])
        dictionaries = [
            Dictionary(Span(data, start * self.width, count * self.width), count) if count else None
            for start, count in zip(first, counts, strict=False)
        ]
        return self.pages(counts, chosen, ranks), dictionaries

    def numbered(self, chosen: Array, total: int) -> tuple[Array, Array]:
        """Sort the values of each group by their bits, that files may be the same in each run, and number them.

        Return the numbers by place in the tables, and the values.
        """
        arrays, half = self.machine.arrays, self.places // 2
        keys, groups = arrays.empty(total, "uint64"), arrays.empty(total, "uint32")
        where, ranks = arrays.empty(total, "int32"), arrays.empty(len(self.table), "int32")
        data = arrays.empty(total, self.bits)
        self.launch("collect_values", self.groups * half, [chosen, keys, groups, where])
        order = self.machine.sorted_order([groups, keys])
        arguments = [chosen, keys, groups, where, order, self.groups, ranks, data]
        self.launch(f"rank_values_{self.bits}", total, arguments)
        return ranks, data

    def pages(self, counts: Sequence[int], chosen: Array, ranks: Array) -> dict[int, list[Piece]]:
        """Return the pages of the groups that have a dictionary, by their number among those of all columns."""
        stack, size = self.stack, self.column_groups
        columns = [place for place in range(len(stack.levels)) if any(counts[place * size : (place + 1) * size])]
        codes = self.codes(columns, chosen, ranks)
        pages = [place * stack.column_pages + page for place in columns for page in range(stack.column_pages)]
        entries = [counts[self.group_of(page)] for page in pages]
        widths = [code_bits(count) for count in entries]
        packed = packed_pages(codes, np.array(widths))
        given = zip(pages, entries, codes.counts, widths, packed, strict=True)
        return {page: code_page(rows, count - 1, width, run) for page, count, rows, width, run in given if count}

    def group_of(self, page: int) -> int:
        """Return the row group of a page, both by their numbers among those of all columns."""
        column, own = divmod(page, self.stack.column_pages)
        return column * self.column_groups + own // self.stack.levels[0].group_pages

    def codes(self, columns: Sequence[int], chosen: Array, ranks: Array) -> Stack:
        """Return each value's number in the dictionary of its group, in columns of which some group has one."""
        stack, arrays = self.stack, self.machine.arrays
        memory = arrays.empty((len(columns), stack.levels[0].rows), "int32")
        codes = [memory[place] for place in range(len(columns))]
        targets = np.zeros(len(stack.levels), np.int64)
        targets[columns] = [self.machine.address(each) for each in codes]
        arguments = [ranks, chosen, arrays.asarray(targets)]
        self.launch(f"number_values_{self.bits}", self.blocks, arguments, lanes=32)
        return Stack(codes, "int32", [stack.levels[place] for place in columns], self.machine)


def code_bits(count: int) -> int:
    """Return the bits of codes of so many values, none for one value."""
    return max(count - 1, 0).bit_length()

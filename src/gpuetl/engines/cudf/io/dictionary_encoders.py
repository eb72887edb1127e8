"""Strings and floats as codes of a dictionary in row groups of few distinct values, else as they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import every, filled, host_numbers, iota
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kernel_arguments import integer_name
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.encoded_columns import (
    ALL,
    Column,
    Dictionary,
    Encoded,
    HostTexts,
    Stack,
    limits_of,
    ranges_found,
    stack_of,
    text_limits,
)
from gpuetl.engines.cudf.io.parquet_metadata import DELTA_LENGTH_BYTE_ARRAY, PLAIN, RLE_DICTIONARY, varint
from gpuetl.engines.cudf.io.threaded_file import Piece, Span
from gpuetl.engines.cudf.io.value_encoders import WORTH, Deltas, blocks_a_page, packed_pages, plain_pages, ranges_of
from gpuetl.engines.cudf.machine import Array, Machine, Struct

# Texts as codes of a dictionary where few are distinct, else as lengths and the bytes as they lie in memory.


SAMPLED_STRINGS = 1 << 17
MOST_DISTINCT_BYTES = 1 << 24
"""Of a dictionary, which is written for each row group anew."""


def few_distinct(texts: Vector, machine: Machine) -> bool:
    """Tell by a sample from all over the column whether few texts are distinct; the host waits for it."""
    step = -(-texts.rows // SAMPLED_STRINGS)
    sample = take({"": texts}, iota(-(-texts.rows // step), machine, step=step), machine)[""]
    return with_dictionary(sample, machine).dictionary is not None


def coded(texts: Vector, few: bool, dictionary: HostTexts | None, machine: Machine) -> tuple[Vector, HostTexts | None]:
    """Return texts by numbers, and the texts of these, where they have them or few are thought to be distinct."""
    if dictionary is not None or not few:
        return texts, dictionary
    found = with_dictionary(texts, machine)
    if found.dictionary and found.dictionary.data.nbytes <= MOST_DISTINCT_BYTES:
        return found, HostTexts(found.dictionary, machine)
    return texts, None


class Codes:
    """Codes (int32) of texts in a dictionary in the order of their bytes; the code of a null is any."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns, self.stack = columns, stack_of(columns, machine)
        self.measures = [ranges_of(self.stack, "uint32")]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Pack each page's codes in as many bits as its greatest one needs; a page of one code is one run."""
        found = ranges_found(measures[0])
        bits = [0 if least ^ ALL == greatest else greatest.bit_length() for least, greatest in found]
        packed = packed_pages(self.stack, np.array(bits, np.int64))
        pages = [
            code_page(count, greatest, width, run)
            for count, (_, greatest), width, run in zip(self.stack.counts, found, bits, packed, strict=True)
        ]
        given = zip(self.columns, self.stack.split(pages), self.stack.split(found), strict=True)
        return [encoded_codes(column, own, ranges) for column, own, ranges in given]


def encoded_codes(column: Column, pages: Sequence[list[Piece]], ranges: Sequence[list[int]]) -> Encoded:
    """Return pages of codes with the dictionary of their column."""
    texts = column.texts
    assert texts is not None
    dictionary = Dictionary(Span(texts.d_plain, 0, len(texts.plain)), len(texts))
    return Encoded(RLE_DICTIONARY, pages, ranges, text_limits(texts), [dictionary] * column.levels.groups)


def code_page(count: int, greatest: int, width: int, packed: Piece) -> list[Piece]:
    """Return a page's codes behind their width: one run of bits, or of the one code that there is, if there is any."""
    if not count:
        return [b"\0"]
    if width:
        return [bytes([width]) + varint(-(-count // 8) << 1 | 1), packed]
    width = max(greatest.bit_length(), 1)
    return [bytes([width]) + varint(count << 1) + greatest.to_bytes(-(-width // 8), "little")]


class Lengths:
    """Lengths as DELTA_BINARY_PACKED, and the bytes: DELTA_LENGTH_BYTE_ARRAY."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns, self.machine = columns, machine
        self.in_nulls = machine.arrays.zeros(len(columns), "uint64")
        lengths = [self.lengths(place, column) for place, column in enumerate(columns)]
        self.deltas = Deltas(Stack(lengths, "int32", [column.levels for column in columns], machine))
        places = [page_offsets(column.vector, column.levels.page_rows, machine) for column in columns]
        self.measures = [*self.deltas.measures, self.in_nulls, *places]

    def lengths(self, place: int, column: Column) -> Array:
        """Return the lengths of texts that are not null, with room for all; see whether nulls have any."""
        texts, levels = column.vector, column.levels
        made = self.machine.arrays.empty(texts.rows, "int32")
        valid = [] if levels.valid is None else [levels.valid, levels.through, self.in_nulls[place : place + 1]]
        entry = f"measure_{'valid_' if valid else ''}strings_{integer_name(texts.offsets)}"
        self.machine.launch(self.machine.closed("pages"), entry, texts.rows, [texts.rows, texts.offsets, *valid, made])
        return made

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Encode the lengths; where nulls have bytes, texts are copied without them."""
        first, ranges, ends, in_nulls, *places = measures
        pages = self.deltas.stack.split(self.deltas.pages([first, ranges, ends], [True] * len(self.columns)))
        given = zip(self.columns, pages, places, in_nulls.tolist(), strict=True)
        return [Encoded(DELTA_LENGTH_BYTE_ARRAY, self.with_bytes(*each)) for each in given]

    def with_bytes(
        self, column: Column, pages: Sequence[list[Piece]], places: np.ndarray[Any, Any], in_nulls: int
    ) -> list[list[Piece]]:
        """Return pages of lengths with the bytes behind them, which lie between `places`."""
        texts = column.vector
        if in_nulls:
            texts = take({"": texts}, iota(texts.rows, self.machine), self.machine)[""]
            places = host_numbers([page_offsets(texts, column.levels.page_rows, self.machine)], self.machine)[0]
        found = zip(pages, pairwise(places.tolist()), strict=True)
        return [[*page, Span(texts.data, start, end - start)] for page, (start, end) in found]


def page_offsets(texts: Vector, page_rows: int, machine: Machine) -> Array:
    """Return where each page's bytes begin, and where the last one's end (int64)."""
    return every(texts.required_offsets, 0, page_rows, -(-texts.rows // page_rows) + 1, machine)


# Dictionaries of row groups of few distinct values, found by tables of their bits.


MOST_VALUES = 1 << 17
"""Of a dictionary: float64 then takes a MiB of it, as much as readers expect."""
SAMPLED_VALUES = 1 << 12
MOST_SAMPLED = SAMPLED_VALUES - SAMPLED_VALUES**2 // (2 * MOST_VALUES)
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
        self.launch(f"sample_values_{self.bits}", self.groups * SAMPLED_VALUES, [])
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


# Floats: codes of a dictionary in row groups of few distinct ones, such as prices, else as they lie in memory.


class Numbers:
    """Floats; a NaN keeps its bits, and zeros their signs."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None:
        self.columns, self.stack = columns, stack_of(columns, machine)
        self.distinct = DistinctValues(self.stack)
        self.measures = [ranges_of(self.stack, self.stack.stored), *self.distinct.measures]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Take codes for the pages of row groups where that is worth it, for others the values themselves."""
        stack, (ranges, *distinct) = self.stack, measures
        counts = self.distinct.worthwhile(*(each.tolist() for each in distinct))
        codes, dictionaries = self.distinct.encoded(counts) if any(counts) else ({}, [None] * len(counts))
        found, groups = [], stack.levels[0].groups
        for place, (column, own) in enumerate(zip(self.columns, stack.split(ranges_found(ranges)), strict=True)):
            plain, first = plain_pages(stack.values[place], column.levels), place * stack.column_pages
            pages = [codes.get(first + page, values) for page, values in enumerate(plain)]
            used = dictionaries[place * groups : (place + 1) * groups]
            found.append(Encoded(PLAIN, pages, own, limits_of(column.vector.dtype), used))
        return found

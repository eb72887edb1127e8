"""Texts as codes of a dictionary where few are distinct, else as lengths and the bytes as they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import every, host_numbers, iota
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.text_codes import with_dictionary
from gpuetl.engines.cudf.device.closed_set import integer_name
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.sinks.delta import Deltas
from gpuetl.engines.cudf.sinks.encoded import Dictionary, Encoded
from gpuetl.engines.cudf.sinks.footer import DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY
from gpuetl.engines.cudf.sinks.host_texts import HostTexts
from gpuetl.engines.cudf.sinks.pieces import Piece, Span
from gpuetl.engines.cudf.sinks.stack import Column, Stack, stack_of
from gpuetl.engines.cudf.sinks.statistics import ALL, ranges_found, text_limits
from gpuetl.engines.cudf.sinks.thrift import varint
from gpuetl.engines.cudf.sinks.values import packed_pages, ranges_of
from gpuetl.engines.cudf.vector import Vector

SAMPLE = 1 << 17
MOST_DISTINCT_BYTES = 1 << 24
"""Of a dictionary, which is written for each row group anew."""


def few_distinct(texts: Vector, machine: Machine) -> bool:
    """Tell by a sample from all over the column whether few texts are distinct; the host waits for it."""
    step = -(-texts.rows // SAMPLE)
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
        entry = f"measure_{'valid_' if valid else ''}texts_{integer_name(texts.offsets)}"
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
    return every(texts.offsets, 0, page_rows, -(-texts.rows // page_rows) + 1, machine)

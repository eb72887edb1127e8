"""Texts as codes of a dictionary where few are distinct, else as lengths and the bytes as they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.columns.text_codes import with_dictionary
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.sinks.delta import Deltas
from gpuetl.backends.cudf.sinks.encoded import Dictionary, Encoded, Encoder
from gpuetl.backends.cudf.sinks.footer import DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY
from gpuetl.backends.cudf.sinks.levels import Levels
from gpuetl.backends.cudf.sinks.pieces import Piece, Span, fetched
from gpuetl.backends.cudf.sinks.statistics import ALL, ranges_found, text_limits
from gpuetl.backends.cudf.sinks.thrift import varint
from gpuetl.backends.cudf.sinks.values import compact, packed_pages, ranges_of
from gpuetl.backends.cudf.vector import Vector

SAMPLE = 1 << 17
MOST_DISTINCT_BYTES = 1 << 24
"""Of a dictionary, which is written for each row group anew."""


def few_distinct(texts: Vector, machine: Machine) -> bool:
    """Tell by a sample from all over the column whether few texts are distinct; the host waits for it."""
    step = -(-texts.rows // SAMPLE)
    sample = take({"": texts}, machine.arrays.arange(0, texts.rows, step), machine)[""]
    return with_dictionary(sample, machine).dictionary is not None


def text_encoder(texts: Vector, levels: Levels, few: bool, dictionary: HostTexts | None, machine: Machine) -> Encoder:
    """Return the encoder of texts that have a dictionary, or of which few are thought to be distinct, or not."""
    if dictionary is not None:
        return Codes(texts.data, dictionary, levels, machine)
    coded = with_dictionary(texts, machine) if few else texts
    if coded.dictionary and coded.dictionary.data.nbytes <= MOST_DISTINCT_BYTES:
        return Codes(coded.data, HostTexts(coded.dictionary, machine), levels, machine)
    return Lengths(texts, levels, machine)


class HostTexts(Sequence[bytes]):
    """Texts in host memory."""

    def __init__(self, texts: Vector, machine: Machine) -> None:
        self.offsets = machine.host(texts.offsets).astype(np.int64)
        self.data = machine.host(texts.data)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, at: Any) -> Any:
        return self.data[self.offsets[at] : self.offsets[at + 1]].tobytes()

    @cached_property
    def plain(self) -> np.ndarray[Any, Any]:
        """Return all of them as PLAIN encodes them: each behind its length of 4 bytes."""
        sizes = np.diff(self.offsets)
        starts = self.offsets[:-1] + 4 * np.arange(len(self))
        heads = (starts[:, None] + np.arange(4)).reshape(-1)
        encoded = np.empty(len(self.data) + 4 * len(self), np.uint8)
        encoded[heads] = sizes.astype("<u4").view(np.uint8)
        rest = np.ones(len(encoded), bool)
        rest[heads] = False
        encoded[rest] = self.data
        return encoded


class Codes:
    """Codes (int32) of texts in a dictionary in the order of their bytes; the code of a null is any."""

    def __init__(self, codes: Array, texts: HostTexts, levels: Levels, machine: Machine) -> None:
        self.levels, self.machine, self.texts, self.values = levels, machine, texts, codes
        if levels.valid is not None:
            self.values = machine.arrays.empty(levels.valid_rows, "int32")
            compact(codes, "int32_t", levels, self.values, machine)
        self.measures = [ranges_of(self.values.view("uint32"), "uint32_t", levels, machine)]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> Encoded:
        """Pack each page's codes in as many bits as its greatest one needs; a page of one code is one run."""
        found = ranges_found(measures[0])
        equal = [least ^ ALL == greatest for least, greatest in found]
        bits = [0 if same else greatest.bit_length() for same, (_, greatest) in zip(equal, found, strict=True)]
        widths = np.array(bits, np.int64)
        packed = packed_pages(self.values, "int32_t", self.levels, widths, self.machine)
        pages = [
            code_page(count, greatest, width, run)
            for count, (_, greatest), width, run in zip(self.levels.counts, found, bits, packed, strict=True)
        ]
        plain = self.texts.plain
        dictionary = Dictionary(Span(self.machine.arrays.asarray(plain), 0, len(plain)), len(self.texts))
        return Encoded(RLE_DICTIONARY, pages, found, text_limits(self.texts), [dictionary] * self.levels.groups)


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

    def __init__(self, texts: Vector, levels: Levels, machine: Machine) -> None:
        arrays = machine.arrays
        self.texts, self.levels, self.machine = texts, levels, machine
        self.in_nulls = arrays.zeros(1, "uint64")
        lengths = arrays.empty(levels.valid_rows, "int32")
        valid = [] if levels.valid is None else [levels.valid, levels.through, self.in_nulls]
        module = machine.compiled(lengths_source(texts.offsets.dtype.itemsize, bool(valid)))
        machine.launch(module, "lengths", texts.rows, [texts.rows, texts.offsets, *valid, lengths])
        self.deltas = Deltas(lengths, "int32_t", levels, machine)
        self.measures = [*self.deltas.measures, self.in_nulls, page_offsets(texts, levels.page_rows, machine)]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> Encoded:
        """Encode the lengths; where nulls have bytes, texts are copied without them."""
        *deltas, in_nulls, places = measures
        texts = self.texts
        if in_nulls[0]:
            texts = take({"": texts}, self.machine.arrays.arange(texts.rows), self.machine)[""]
            places = fetched([page_offsets(texts, self.levels.page_rows, self.machine)], self.machine)[0]
        pages = self.deltas.pages(deltas)
        for page, (start, end) in zip(pages, zip(places[:-1].tolist(), places[1:].tolist(), strict=True), strict=True):
            page.append(Span(texts.data, start, end - start))
        return Encoded(DELTA_LENGTH_BYTE_ARRAY, pages)


def page_offsets(texts: Vector, page_rows: int, machine: Machine) -> Array:
    """Return where each page's bytes begin, and where the last one's end (int64)."""
    starts = texts.offsets[: texts.rows : page_rows]
    return machine.arrays.concatenate([starts, texts.offsets[-1:]]).astype("int64")


def lengths_source(offset_bytes: int, nullable: bool) -> str:
    """Return the kernel `lengths`."""
    offset = f"int{8 * offset_bytes}_t"
    parameters = "const uint32_t* valid, const int64_t* through, uint64_t* in_nulls, " if nullable else ""
    store = """int64_t rank;
        if (parquet::Ranks{valid, through}(row, rank)) lengths[rank] = length;
        else if (length) *in_nulls = 1;""" if nullable else "lengths[row] = length;"  # fmt: skip
    return f"""{headers_text(["parquet.cuh"])}
KERNEL lengths(int64_t rows, const {offset}* offsets, {parameters}int32_t* lengths) {{
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) break;
        const int32_t length = int32_t(offsets[row + 1] - offsets[row]);
        {store}
    }}
}}
"""

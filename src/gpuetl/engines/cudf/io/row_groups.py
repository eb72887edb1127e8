"""Rows of a frame encoded as the row groups of Parquet files: measured, encoded by kind, laid out as pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field, replace
from itertools import islice
from threading import BoundedSemaphore, RLock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import host_numbers
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
from gpuetl.engines.cudf.io.column_chunks import Page, StoredPage, chunk_pages, described_chunk, placed_chunk
from gpuetl.engines.cudf.io.compressed_pages import CODECS, pages_to_store
from gpuetl.engines.cudf.io.definition_levels import BatchLevels, Levels, levels_of
from gpuetl.engines.cudf.io.dictionary_encoders import (
    MOST_DISTINCT_BYTES,
    Codes,
    Lengths,
    Numbers,
    coded,
    few_distinct,
    page_offsets,
)
from gpuetl.engines.cudf.io.encoded_columns import Column, Encoded, Encoder, HostTexts
from gpuetl.engines.cudf.io.parquet_metadata import MAGIC, ChunkPlace
from gpuetl.engines.cudf.io.threaded_file import Span, assembled
from gpuetl.engines.cudf.io.value_encoders import Bits, Integers, LongDecimals
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.formats.compression import NO_COMPRESSION, Compression
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, STRING, DataType, is_floating
from gpuetl.types.schema import Schema

# The columns of a batch, measured and then encoded: those of one kind together.


@dataclass(frozen=True, eq=False)
class MeasuredBatch:
    """What measures the columns of some row groups; each encoder stands beside the names of its columns."""

    levels: BatchLevels
    encoders: Sequence[tuple[Sequence[str], Encoder]]

    @property
    def measures(self) -> list[Array]:
        """All that the host must know."""
        return [self.levels.d_starts, *(measure for _, each in self.encoders for measure in each.measures)]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> dict[str, Encoded]:
        """Encode the columns, given the measures."""
        starts, *rest = measures
        self.levels.tell(starts)
        left, found = iter(rest), dict[str, Encoded]()
        for names, each in self.encoders:
            found.update(zip(names, each.encoded([next(left) for _ in each.measures]), strict=True))
        return found


def encoders_of(columns: Mapping[str, Column], machine: Machine) -> list[tuple[list[str], Encoder]]:
    """Return encoders of columns, those of one kind together, and the names of their columns."""
    kinds = defaultdict[tuple[type[Encoder], str], list[str]](list)
    for name, column in columns.items():
        kinds[kind_of(column)].append(name)
    return [(names, kind([columns[name] for name in names], machine)) for (kind, _), names in kinds.items()]


def column_of(vector: Vector, levels: Levels, few: bool, known: HostTexts | None, machine: Machine) -> Column:
    """Return a column as encoders take it; few distinct texts get numbers."""
    if vector.dtype != STRING:
        return Column(vector, None, levels)
    return Column(*coded(vector, few, known, machine), levels)


def kind_of(column: Column) -> tuple[type[Encoder], str]:
    """Return what encodes a column, and the type of those that are encoded together."""
    dtype = column.vector.dtype
    if dtype == STRING:
        return (Lengths if column.texts is None else Codes), ""
    return encoder_class(dtype), storage_type(dtype)


def encoder_class(dtype: DataType) -> type[Encoder]:
    """Return what encodes a type of fixed width."""
    if dtype == BOOL:
        return Bits
    if is_floating(dtype):
        return Numbers
    return LongDecimals if storage_type(dtype) == "V16" else Integers


# Rows of a frame encoded as the row groups of Parquet files; compressed_pages.py compresses their pages.
#
# Some row groups at a time, a batch, are measured, the host waits for the measures, and their encoding is begun.  To
# encode a batch costs the interpreter milliseconds, hardly more of one that is larger, so it may be of several files.


MOST_PAGE_BYTES, LIMIT = 1 << 27, (1 << 31) - (1 << 20)
"""Of texts: what is aimed at, and what a page's header has room for, with some for levels."""


@dataclass(frozen=True)
class Layout:
    """How rows are cut: page rows are a multiple of 32, a row group is whole pages, a file's batch whole row groups.

    `statistics` says whether column chunks have their least and greatest value, and their nulls.
    """

    page_rows: int = 1 << 20
    group_rows: int = 1 << 20
    batch_rows: int = 1 << 23
    statistics: bool = True
    compression: Compression = NO_COMPRESSION


DEFAULT = Layout()
"""A page a column chunk: each costs the interpreter some hundredths of a millisecond, for which all threads wait."""
COMPRESSED_PAGE_ROWS = 1 << 18
"""Of the pages of a layout with a codec: the device compresses a page by a few of its threads, and many at a time.

Pages of a half or a quarter cost the interpreter more than they save: 86 million rows of 12 columns, computed and
written by zstd, took 1.10 s, 1.36 and 1.53 (one H100, 16 cores).
"""
COMPRESSED_PAGE_BYTES, FEW_ROWS, CHUNK_BYTES = 1 << 21, 1 << 12, (1 << 22) - (1 << 14)
"""Of texts in such pages: what is aimed at, in pages of more than a few rows, and what the device takes, less levels.

All columns have pages of as many rows, so long texts in one column would cut all others into many small pages.
"""
ENCODING = RLock()
"""One batch at a time: the interpreter would let all of them encode in turns, so that none could soon be written."""
MEASURED = BoundedSemaphore(2)
"""Batches of which columns are measured or encoded: the measures of one take device memory while the host waits."""


@dataclass
class Groups:
    """Row groups of one file: where their column chunks lie in it, and their bytes, from `start` to `end`."""

    start: int
    end: int
    places: list[list[ChunkPlace]] = field(default_factory=list)
    data: Span | None = None


class Described(NamedTuple):
    """A column chunk that has no place yet, and how many pages it has."""

    chunk: ChunkPlace
    pages: int


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a frame, and how they are encoded.

    Of texts, `few` are columns of which few are thought to be distinct, and `known` the dictionaries that others have.
    """

    frame: Frame
    schema: pa.Schema
    few: frozenset[str]
    known: Mapping[str, HostTexts]
    layout: Layout
    machine: Machine

    @classmethod
    def of(cls, frame: Frame, schema: Schema, layout: Layout, machine: Machine, file_rows: int) -> Rows:
        """Look at the columns of a frame of which up to so many rows go into a file.

        Raises
        ------
        pyarrow.ArrowInvalid
            Where so few texts as a page must have are larger than one can be.
        """
        frame = frame.select(tuple(schema))
        frame = frame.updated({n: decoded(v, machine) for n, v in frame.columns.items() if is_rare(v, file_rows)})
        layout = with_short_pages(frame, layout, machine)
        few = frozenset(name for name, vector in frame.columns.items() if is_few(vector, machine))
        known = {n: HostTexts(v.dictionary, machine) for n, v in frame.columns.items() if v.dictionary}
        return cls(frame, schema.to_arrow(), few, known, layout, machine)

    def encoded(self, start: int, rows: int, file_rows: int, offset: int = len(MAGIC)) -> list[Groups]:
        """Encode a batch: up to so many rows from one on, of files of so many rows each, or of one file.

        In each file they begin at an offset.  While the host waits for the measures, another batch may be encoded, but
        not beside one of several files, whose measures take as much memory as a part of the frame.
        Device memory is needed for what the rows are encoded to, twice for a moment, or as `CompressedPages` says,
        for some bytes a row of texts,
        and, until the batch is encoded, for the valid values of columns that may have nulls, for 32 bits a value of
        floats with dictionaries, and for tables of up to 4 MiB for each column of floats in a row group.
        """
        batch = between(self.frame, start, rows).columns
        with MEASURED, ENCODING if rows > file_rows else nullcontext():
            with ENCODING:
                measured = self.measured(batch)
            measures = host_numbers(measured.measures, self.machine)
            with ENCODING:
                groups, pages = self.chunks(measured, measures)
                storing = pages_to_store(pages, self.layout.compression, self.machine)
            del measured, pages
            stored = storing.stored()
            del storing
            with ENCODING:
                return self.in_files(groups, stored, -(-file_rows // self.layout.group_rows), offset)

    def measured(self, batch: Mapping[str, Vector]) -> MeasuredBatch:
        """Begin to measure the columns of some groups."""
        layout, machine = self.layout, self.machine
        levels = levels_of(batch, layout.page_rows, layout.group_rows // layout.page_rows, machine)
        columns = {n: column_of(v, levels.of[n], n in self.few, self.known.get(n), machine) for n, v in batch.items()}
        return MeasuredBatch(levels, encoders_of(columns, machine))

    def chunks(
        self, measured: MeasuredBatch, measures: Sequence[np.ndarray[Any, Any]]
    ) -> tuple[list[list[Described]], list[Page]]:
        """Encode the columns; return the column chunks of each row group, and the pages of all of them in order."""
        encoded, levels = measured.encoded(measures), measured.levels
        groups, pages = list[list[Described]](), list[Page]()
        for group in range(levels.distinct[0].groups):
            groups.append([])
            for column in self.schema:
                own, of = encoded[column.name], levels.of[column.name]
                found = chunk_pages(own, of, group)
                pages += found
                groups[-1].append(
                    Described(described_chunk(column, own, of, group, self.layout.statistics), len(found))
                )
        return groups, pages

    def in_files(
        self, groups: Sequence[Sequence[Described]], stored: Sequence[StoredPage], file_groups: int, offset: int
    ) -> list[Groups]:
        """Put the bytes of each file's row groups side by side; a file has `file_groups` of them."""
        _, codec = CODECS[self.layout.compression.codec]
        files, left = list[Groups](), iter(stored)
        for first in range(0, len(groups), file_groups):
            file = Groups(offset, offset)
            for group in groups[first : first + file_groups]:
                file.places.append([])
                for chunk, pages in group:
                    place = placed_chunk(chunk, list(islice(left, pages)), file.end, codec)
                    file.places[-1].append(place)
                    file.end += place.size
            files.append(file)
        whole, begin = assembled([piece for page in stored for piece in page.pieces], self.machine), 0
        for file in files:
            file.data = Span(whole.array, begin, file.end - file.start)
            begin += file.data.size
        return files


def is_rare(vector: Vector, file_rows: int) -> bool:
    """Tell whether a column's dictionary is not worth a page: it may have texts of which the column has but a part."""
    dictionary, rows = vector.dictionary, min(vector.rows, file_rows)
    return dictionary is not None and (dictionary.rows > rows or dictionary.data.nbytes > MOST_DISTINCT_BYTES)


def is_few(vector: Vector, machine: Machine) -> bool:
    """Tell whether a column is one of texts of which few are distinct, which have no dictionary yet."""
    return bool(vector.dtype == STRING and vector.rows and not vector.dictionary and few_distinct(vector, machine))


def with_short_pages(frame: Frame, layout: Layout, machine: Machine) -> Layout:
    """Return a layout of pages so short that none has many bytes of texts; the shortest may have 2^31.

    Raises
    ------
    pyarrow.ArrowInvalid
        Where one has more.
    """
    texts = [v for v in frame.columns.values() if v.dtype == STRING and v.rows and not v.dictionary]
    while layout.page_rows > 32 and texts:
        most = most_page_bytes(texts, layout.page_rows, machine)
        if most <= aimed_page_bytes(layout):
            return layout
        layout = replace(layout, page_rows=layout.page_rows // 2)
    if texts and (most := most_page_bytes(texts, layout.page_rows, machine)) >= LIMIT:
        raise pa.ArrowInvalid(f"{layout.page_rows} texts have {most:,} bytes, and a page of Parquet less than 2^31")
    return layout


def aimed_page_bytes(layout: Layout) -> int:
    """Return what pages of texts should have at most."""
    if layout.compression == NO_COMPRESSION:
        return MOST_PAGE_BYTES
    return COMPRESSED_PAGE_BYTES if layout.page_rows > FEW_ROWS else CHUNK_BYTES


def most_page_bytes(texts: Sequence[Vector], page_rows: int, machine: Machine) -> int:
    """Return the bytes of the page that has most, with a length of 4 bytes before each text."""
    ends = [page_offsets(vector, page_rows, machine) for vector in texts]
    return max(int(np.diff(each).max()) for each in host_numbers(ends, machine)) + 4 * page_rows


def between(frame: Frame, start: int, most: int) -> Frame:
    """Return up to so many rows from one on, a multiple of 32, on the frame's memory; nulls are not counted anew."""
    columns = {name: rows_between(vector, start, most) for name, vector in frame.columns.items()}
    return Frame(columns, min(most, frame.rows - start))


def rows_between(vector: Vector, start: int, most: int) -> Vector:
    """Return those rows of a column; whether any is null is known later."""
    rows = min(most, vector.rows - start)
    valid = vector.required_valid[start // 32 :] if vector.nulls else None
    if vector.offsets is not None:
        return replace(vector, rows=rows, valid=valid, offsets=vector.offsets[start : start + rows + 1])
    return replace(vector, rows=rows, valid=valid, data=vector.data[start : start + rows])

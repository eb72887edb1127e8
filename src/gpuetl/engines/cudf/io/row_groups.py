"""Rows of a frame encoded as the row groups of Parquet files: measured, encoded by kind, laid out as pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field, replace
from functools import lru_cache
from threading import BoundedSemaphore, RLock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import host_numbers
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
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
from gpuetl.engines.cudf.io.parquet_metadata import (
    MAGIC,
    PLAIN,
    RLE,
    RLE_DICTIONARY,
    ChunkPlace,
    boolean,
    fields,
    i32,
    struct,
)
from gpuetl.engines.cudf.io.threaded_file import Piece, Span, assembled, piece_bytes, total_bytes
from gpuetl.engines.cudf.io.value_encoders import Bits, Integers, LongDecimals
from gpuetl.engines.cudf.machine import Array, Machine
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


# Column chunks laid out: page headers, levels, values.


DATA_PAGE, DICTIONARY_PAGE = 0, 2


class Page(NamedTuple):
    """A page of a column chunk: its values, their encoding, and the sizes of its header and of what follows it.

    The encoding of a dictionary's page is None.
    """

    values: int
    encoding: int | None
    header_size: int
    size: int

    def header(self, stored_size: int) -> bytes:
        """Return its header, given the size of what follows as it is stored."""
        if self.encoding is None:
            return dictionary_header(self.values, self.size, stored_size)
        return data_header(self.values, self.size, stored_size, self.encoding)


def data_header(rows: int, size: int, stored_size: int, encoding: int) -> bytes:
    """Return the header of a data page, of a size without compression and as it is stored."""
    return fields({1: i32(DATA_PAGE), 2: i32(size), 3: i32(stored_size)}) + page_of(rows, encoding)


@lru_cache(1 << 10)
def page_of(rows: int, encoding: int) -> bytes:
    """Return the end of a header, with the struct DataPageHeader: those of most pages are equal."""
    header = struct({1: i32(rows), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)})
    return fields({5: header}, after=3) + b"\0"


def dictionary_header(entries: int, size: int, stored_size: int) -> bytes:
    """Return the header of a dictionary page."""
    page = struct({1: i32(entries), 2: i32(PLAIN), 3: boolean(True)})
    return struct({1: i32(DICTIONARY_PAGE), 2: i32(size), 3: i32(stored_size), 7: page}).data


class LaidOut(NamedTuple):
    """A column chunk: its pieces, without compression, the pages that they are, and its place in the file."""

    pieces: list[Piece]
    pages: list[Page]
    place: ChunkPlace


def chunk(field: pa.Field, encoded: Encoded, levels: Levels, group: int, offset: int, layout: Layout) -> LaidOut:
    """Return the column chunk of a row group, which is to lie at an offset of the file."""
    found, pages = encoded.dictionary(group), levels.pages_of(group)
    pieces, laid, dictionary_size = list[Piece](), list[Page](), 0
    if found:
        size = piece_bytes(found.data)
        header = dictionary_header(found.entries, size, size)
        pieces += (header, found.data)
        laid.append(Page(found.entries, None, len(header), size))
        dictionary_size = len(header) + size
    encoding = RLE_DICTIONARY if found else encoded.encoding
    for page in pages:
        content = levels.pieces(page) + encoded.pages[page]
        size, rows = total_bytes(content), levels.rows_of(page)
        header = data_header(rows, size, size, encoding)
        pieces += (header, *content)
        laid.append(Page(rows, encoding, len(header), size))
    rows = levels.rows_before(pages.stop) - levels.rows_before(pages.start)
    nulls = rows - levels.starts[pages.stop] + levels.starts[pages.start] if layout.statistics else -1
    limits = encoded.limits_between(pages) if layout.statistics else None
    size = sum(page.header_size + page.size for page in laid)
    return LaidOut(
        pieces, laid, ChunkPlace(field.type, field.name, rows, nulls, encoding, limits, offset, size, dictionary_size)
    )


# Rows of a frame encoded as the row groups of Parquet files, without compression: see compressed_pages.py.
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


DEFAULT = Layout()
"""A page a column chunk: each costs the interpreter some hundredths of a millisecond, for which all threads wait."""
ENCODING = RLock()
"""One batch at a time: the interpreter would let all of them encode in turns, so that none could soon be written."""
MEASURED = BoundedSemaphore(2)
"""Batches of which columns are measured or encoded: the measures of one take device memory while the host waits."""


@dataclass
class Groups:
    """Row groups of one file: where their column chunks lie in it, their pages and bytes, from `start` to `end`."""

    start: int
    end: int
    places: list[list[ChunkPlace]] = field(default_factory=list)
    pages: list[list[list[Page]]] = field(default_factory=list)
    data: Span | None = None


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
        Device memory is needed for what the rows are encoded to, twice for a moment, for some bytes a row of texts,
        and, until the batch is encoded, for the valid values of columns that may have nulls, for 32 bits a value of
        floats with dictionaries, and for tables of up to 4 MiB for each column of floats in a row group.
        """
        batch = between(self.frame, start, rows).columns
        with MEASURED, ENCODING if rows > file_rows else nullcontext():
            with ENCODING:
                measured = self.measured(batch)
            measures = host_numbers(measured.measures, self.machine)
            with ENCODING:
                return self.in_files(measured, measures, -(-file_rows // self.layout.group_rows), offset)

    def measured(self, batch: Mapping[str, Vector]) -> MeasuredBatch:
        """Begin to measure the columns of some groups."""
        layout, machine = self.layout, self.machine
        levels = levels_of(batch, layout.page_rows, layout.group_rows // layout.page_rows, machine)
        columns = {n: column_of(v, levels.of[n], n in self.few, self.known.get(n), machine) for n, v in batch.items()}
        return MeasuredBatch(levels, encoders_of(columns, machine))

    def in_files(
        self, measured: MeasuredBatch, measures: Sequence[np.ndarray[Any, Any]], file_groups: int, offset: int
    ) -> list[Groups]:
        """Encode the columns; put the bytes of a file's groups side by side, so many groups a file."""
        encoded, levels = measured.encoded(measures), measured.levels
        count = levels.distinct[0].groups
        files, pieces = list[Groups](), list[Piece]()
        for first in range(0, count, file_groups):
            files.append(Groups(offset, offset))
            for group in range(first, min(first + file_groups, count)):
                pieces += self.group(encoded, levels.of, group, files[-1])
        whole, begin = assembled(pieces, self.machine), 0
        for file in files:
            file.data = Span(whole.array, begin, file.end - file.start)
            begin += file.data.size
        return files

    def group(
        self, encoded: Mapping[str, Encoded], levels: Mapping[str, Levels], group: int, file: Groups
    ) -> Iterator[Piece]:
        """Yield the pieces of a row group, which goes to the end of its file."""
        file.places.append([])
        file.pages.append([])
        for column in self.schema:
            name = column.name
            own, pages, place = chunk(column, encoded[name], levels[name], group, file.end, self.layout)
            file.end += place.size
            file.places[-1].append(place)
            file.pages[-1].append(pages)
            yield from own


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
        if most <= MOST_PAGE_BYTES:
            return layout
        layout = replace(layout, page_rows=layout.page_rows // 2)
    if texts and (most := most_page_bytes(texts, layout.page_rows, machine)) >= LIMIT:
        raise pa.ArrowInvalid(f"{layout.page_rows} texts have {most:,} bytes, and a page of Parquet less than 2^31")
    return layout


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

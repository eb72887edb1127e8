"""A frame written as a Parquet file, uncompressed: what makes it small is the encoding, which costs the GPU little.

A few row groups at a time are measured, the host waits for the measures, and their encoding is begun; while threads
copy and write one such batch, the next is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.backends.cudf.columns.dictionaries import decoded
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine, WrittenFile
from gpuetl.backends.cudf.sinks.assembly import assembled
from gpuetl.backends.cudf.sinks.batch import MeasuredBatch, column_of, encoders_of
from gpuetl.backends.cudf.sinks.encoded import Encoded
from gpuetl.backends.cudf.sinks.footer import MAGIC, ChunkPlace, footer
from gpuetl.backends.cudf.sinks.host_texts import HostTexts
from gpuetl.backends.cudf.sinks.levels import Levels, levels_of
from gpuetl.backends.cudf.sinks.pages import chunk
from gpuetl.backends.cudf.sinks.pieces import Piece, fetched
from gpuetl.backends.cudf.sinks.texts import MOST_DISTINCT_BYTES, few_distinct, page_offsets
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import NULL, STRING, is_list
from gpuetl.io.staging import MOST_PARTS
from gpuetl.plan.schema import Schema

MOST_PAGE_BYTES, LIMIT = 1 << 27, (1 << 31) - (1 << 20)
"""Of texts: what is aimed at, and what a page's header has room for, with some for levels."""


@dataclass(frozen=True)
class Layout:
    """How rows are cut: page rows are a multiple of 32, a row group is whole pages, a batch whole row groups."""

    page_rows: int = 1 << 20
    group_rows: int = 1 << 20
    batch_rows: int = 1 << 23


DEFAULT = Layout()
"""A page a column chunk: each costs the interpreter some hundredths of a millisecond, for which all threads wait."""
ENCODING = Lock()
"""One file at a time: the interpreter would let all of them encode in turns, so that none could begin to be written."""
MEASURED = BoundedSemaphore(2)
"""Files of which columns are measured or encoded: the measures of one take device memory while the host waits."""
LEAST_PART_ROWS = 1 << 22
"""The rows that make a file of a folder worth it."""


def writes(schema: Schema) -> bool:
    """Tell whether `write_parquet` has an encoding for each column; there must be one."""
    return bool(schema) and not any(is_list(dtype) or dtype == NULL for dtype in schema.values())


def parts_of(frame: Frame) -> list[Frame]:
    """Return frames on the same memory, for files that are written at the same time; nulls are not counted anew."""
    rows = max(LEAST_PART_ROWS, -(-frame.rows // (MOST_PARTS * DEFAULT.group_rows)) * DEFAULT.group_rows)
    if frame.rows <= rows:
        return [frame]
    return [
        Frame({n: rows_between(v, start, rows) for n, v in frame.columns.items()}, min(rows, frame.rows - start))
        for start in range(0, frame.rows, rows)
    ]


def write_parquet(
    frame: Frame, schema: Schema, path: Path, machine: Machine, *, alone: bool = True, layout: Layout = DEFAULT
) -> None:
    """Write a frame of columns that `writes` is true for as a file, whole when this returns.

    Device memory is needed for what four batches are encoded to, for some bytes a row of texts of a batch, and of two
    batches for the valid values of columns that may have nulls, for 32 bits a value of floats with dictionaries, and
    for tables of up to 4 MiB for each column of floats in a row group.
    `alone` says that no other file is written meanwhile; with several, it should be false.

    Raises
    ------
    OSError
        Where the file cannot be written; a part of it may stay.
    pyarrow.ArrowInvalid
        Where so few texts as a page must have are larger than one can be.
    """
    frame = frame.updated({n: decoded(v, machine) for n, v in frame.columns.items() if is_rare(v)})
    layout = with_short_pages(frame, layout, machine)
    few = {name for name, vector in frame.columns.items() if is_few(vector, machine)}
    known = {n: HostTexts(v.dictionary, machine) for n, v in frame.columns.items() if v.dictionary}
    with machine.written_file(path, alone) as file:
        writer = RowGroups(schema.to_arrow(), few, known, layout, machine, file)
        file.write(0, MAGIC)
        for start in range(0, frame.rows, layout.batch_rows):
            writer.write({name: rows_between(frame.columns[name], start, layout.batch_rows) for name in schema})
        file.write(writer.offset, footer(writer.schema, frame.rows, writer.done))


@dataclass
class RowGroups:
    """The row groups of a file, of which those that are `done` end at `offset`.

    Of texts, `few` are columns of which few are thought to be distinct, and `known` the dictionaries that others have.
    """

    schema: pa.Schema
    few: set[str]
    known: Mapping[str, HostTexts]
    layout: Layout
    machine: Machine
    file: WrittenFile
    offset: int = len(MAGIC)
    done: list[list[ChunkPlace]] = field(default_factory=list)

    def write(self, batch: Mapping[str, Vector]) -> None:
        """Encode the rows of some groups, and hand their bytes to the file's threads.

        While the host waits for the measures, another file's columns may be encoded.
        """
        begin = self.offset
        with MEASURED:
            with ENCODING:
                measured = self.measured(batch)
            measures = fetched(measured.measures, self.machine)
            with ENCODING:
                whole = assembled(self.encoded(measured, measures), self.machine)
        del measured  # its memory is another file's while this one waits for its threads
        self.file.write(begin, whole)

    def measured(self, batch: Mapping[str, Vector]) -> MeasuredBatch:
        """Begin to measure the columns of some groups."""
        layout, machine = self.layout, self.machine
        levels = levels_of(batch, layout.page_rows, layout.group_rows // layout.page_rows, machine)
        columns = {n: column_of(v, levels.of[n], n in self.few, self.known.get(n), machine) for n, v in batch.items()}
        return MeasuredBatch(levels, encoders_of(columns, machine))

    def encoded(self, measured: MeasuredBatch, measures: Sequence[np.ndarray[Any, Any]]) -> list[Piece]:
        """Return the bytes of the rows of some groups, and take note of them."""
        encoded, levels = measured.encoded(measures), measured.levels
        groups = levels.distinct[0].groups
        return [piece for group in range(groups) for piece in self.group(encoded, levels.of, group)]

    def group(self, encoded: Mapping[str, Encoded], levels: Mapping[str, Levels], group: int) -> list[Piece]:
        """Return a row group, and take note of it."""
        pieces, chunks = list[Piece](), []
        for column in self.schema:
            own, place = chunk(column, encoded[column.name], levels[column.name], group, self.offset)
            self.offset += place.size
            pieces += own
            chunks.append(place)
        self.done.append(chunks)
        return pieces


def is_rare(vector: Vector) -> bool:
    """Tell whether a column's dictionary is not worth a page: it may have texts of which the column has but a part."""
    dictionary = vector.dictionary
    return dictionary is not None and (dictionary.rows > vector.rows or dictionary.data.nbytes > MOST_DISTINCT_BYTES)


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
    return max(int(np.diff(each).max()) for each in fetched(ends, machine)) + 4 * page_rows


def rows_between(vector: Vector, start: int, most: int) -> Vector:
    """Return up to so many rows from one on, a multiple of 32; whether any is null is known later."""
    rows = min(most, vector.rows - start)
    valid = vector.valid[start // 32 :] if vector.nulls else None
    if vector.offsets is not None:
        return replace(vector, rows=rows, valid=valid, offsets=vector.offsets[start : start + rows + 1])
    return replace(vector, rows=rows, valid=valid, data=vector.data[start : start + rows])

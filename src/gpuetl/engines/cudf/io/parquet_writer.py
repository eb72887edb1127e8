"""Parquet files of a sink: large ones are encoded on the device and copied by threads, small ones by Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import iota, pick
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take, take_rows
from gpuetl.engines.cudf.columns.interchange import to_arrow, to_table
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.string_dictionaries import decoded, decoded_bytes, most_decoded_bytes
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.compressed_pages import reason_for_host
from gpuetl.engines.cudf.io.parquet_metadata import MAGIC, ChunkPlace, footer
from gpuetl.engines.cudf.io.row_groups import COMPRESSED_PAGE_ROWS, DEFAULT, Groups, Layout, Rows, between
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.formats import parquet_rows
from gpuetl.formats.compression import NO_COMPRESSION
from gpuetl.formats.format import Format
from gpuetl.formats.parquet import ParquetFormat
from gpuetl.formats.parquet_options import PARQUET_DEFAULTS, ParquetWriteOptions
from gpuetl.io.partition_folders import folder_names
from gpuetl.io.staging import MOST_PARTS, FileWriter
from gpuetl.places.target import Target
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import NULL, TIME, TIMESTAMP_NS, DataType, can_be_key, is_binary, is_floating
from gpuetl.types.schema import Schema

# Parquet files written from device memory: encoded there, some row groups at a time, and copied by threads.


def writes(schema: Schema) -> bool:
    """Tell whether there is an encoding for each column; there must be one."""
    return bool(schema) and all(map(has_encoding, schema.values()))


def has_encoding(dtype: DataType) -> bool:
    """Tell whether columns of a type are encoded on the device; Arrow writes others, and all that are beside them."""
    return can_be_key(dtype) and not is_binary(dtype) and dtype not in (NULL, TIME, TIMESTAMP_NS)


def write_parquet(
    frame: Frame,
    schema: Schema,
    path: Path,
    machine: Machine,
    *,
    alone: bool = True,
    layout: Layout = DEFAULT,
) -> None:
    """Write a frame of columns that `writes` is true for as a file, whole when this returns.

    While threads copy and write one batch of row groups, the next is encoded: the device memory that `Rows.encoded`
    needs is that of two batches, and two more may wait for their threads.
    `alone` says that no other file is written meanwhile; with several, it should be false.

    Raises
    ------
    OSError
        Where the file cannot be written; a part of it may stay.
    pyarrow.ArrowInvalid
        Where so few texts as a page must have are larger than one can be.
    """
    rows = Rows.of(frame, schema, layout, machine, frame.rows)
    with machine.written_file(path, alone) as file:
        file.write(0, MAGIC)
        end, places = len(MAGIC), list[list[ChunkPlace]]()
        for start in range(0, frame.rows, layout.batch_rows):
            (groups,) = rows.encoded(start, layout.batch_rows, layout.batch_rows, end)
            assert groups.data is not None
            file.write(end, groups.data)
            end, places = groups.end, places + groups.places
            del groups  # its memory is another batch's when its threads are done
        file.write(end, footer(rows.schema, frame.rows, places))


# A frame as the Parquet files of a folder, which are written at the same time, and encoded a few together.


LEAST_PART_ROWS = 1 << 22
"""The rows that make a file of a folder worth it."""
ENCODED_TOGETHER = 4
"""Files of no more than a batch's rows: of more, the first would be begun later, and measures take more memory."""


class Whole:
    """The frame that some files are parts of: it is looked at once, and its rows are encoded as files ask for them.

    What is encoded is held until all of its files are written: one may be tried again.  Threads may ask for all files
    at the same time, so that as much device memory is needed as all rows are encoded to, and what `Rows.encoded` needs.
    """

    def __init__(self, frame: Frame, schema: Schema, machine: Machine, layout: Layout, file_rows: int) -> None:
        self.frame, self.schema, self.machine, self.layout, self.file_rows = frame, schema, machine, layout, file_rows
        self.files = -(-frame.rows // file_rows)
        self.looking = Lock()
        self.encoding = [Lock() for _ in range(self.files)]
        self.encoded: dict[int, list[Groups]] = {}
        self.done = Counter[int]()

    @cached_property
    def rows(self) -> Rows:
        """How the rows are encoded."""
        return Rows.of(self.frame, self.schema, self.layout, self.machine, self.file_rows)

    @property
    def together(self) -> int:
        """How many files are encoded together: a dictionary that is found is of all of them, and in each row group."""
        return 1 if self.rows.few else ENCODED_TOGETHER

    def groups(self, number: int) -> Groups:
        """Return the row groups of a file; the first of those that are encoded together has all of them encoded."""
        with self.looking:
            rows = self.rows
        batch, place = divmod(number, self.together)
        with self.encoding[batch]:
            if batch not in self.encoded:
                size = self.together * self.file_rows
                self.encoded[batch] = rows.encoded(batch * size, size, self.file_rows)
            return self.encoded[batch][place]

    def let_go(self, number: int) -> None:
        """Take note that a file is written."""
        batch = number // self.together
        with self.encoding[batch]:
            self.done[batch] += 1
            if self.done[batch] == min(self.together, self.files - batch * self.together):
                del self.encoded[batch]


@dataclass(frozen=True, eq=False)
class Part:
    """One of the files."""

    whole: Whole
    number: int

    @property
    def rows(self) -> int:
        """How many rows go into it."""
        return min(self.whole.file_rows, self.whole.frame.rows - self.number * self.whole.file_rows)


def parts_of(frame: Frame, schema: Schema, machine: Machine, layout: Layout = DEFAULT) -> Sequence[Part | Frame]:
    """Return what goes into each file of a folder, all of it on the memory of the frame."""
    rows = max(
        LEAST_PART_ROWS, layout.group_rows, -(-frame.rows // (MOST_PARTS * layout.group_rows)) * layout.group_rows
    )
    if frame.rows <= rows:
        return [frame]
    if rows > layout.batch_rows:
        return [between(frame, start, rows) for start in range(0, frame.rows, rows)]
    whole = Whole(frame, schema, machine, layout, rows)
    return [Part(whole, number) for number in range(whole.files)]


def write_part(part: Part, path: Path) -> None:
    """Write one of the files, whole when this returns.

    Raises
    ------
    OSError
        Where it cannot be written; a part of it may stay.
    pyarrow.ArrowInvalid
        Where so few texts as a page must have are larger than one can be.
    """
    groups, whole = part.whole.groups(part.number), part.whole
    with whole.machine.written_file(path, alone=False) as file:
        assert groups.data is not None
        file.write(0, MAGIC)
        file.write(groups.start, groups.data)
        file.write(groups.end, footer(whole.rows.schema, part.rows, groups.places))
    whole.let_go(part.number)


# Hive partitions: rows split on the device by the values of columns, which become the names of folders.


class Folders(NamedTuple):
    """Rows by the values of keys: `rows` has their numbers, folder by folder.

    `folders` are names with the places in `rows` where each one's begin and end, in the order of first appearance.
    """

    rows: Array
    folders: list[tuple[str, int, int]]


def rows_by_value(keys: Frame, machine: Machine) -> Folders:
    """Return the rows of each distinct value, in their order, under the name of the value's hive folder."""
    compared = Frame({name: as_compared(vector) for name, vector in keys.columns.items()}, keys.rows)
    order = sort_rows(compared, [SortKey(name) for name in keys.columns], len(keys.columns), False, machine)
    rows = iota(keys.rows, machine) if order.rows is None else order.rows
    starts = order.group_starts(machine)
    first, start = machine.host(pick(rows, starts, machine)), machine.host(starts)
    appearance = np.argsort(first)
    values = take(keys.columns, machine.arrays.asarray(first[appearance]), machine)
    names = folder_names(tuple(values), [to_arrow(vector, machine) for vector in values.values()])
    end = np.append(start[1:], keys.rows)
    return Folders(rows, list(zip(names, start[appearance].tolist(), end[appearance].tolist(), strict=True)))


def as_compared(vector: Vector) -> Vector:
    """Return a key whose values differ where their folders do: zeros have signs there, so floats are their bits."""
    if not is_floating(vector.dtype):
        return vector
    bits = vector.data.dtype.itemsize * 8
    return replace(vector, dtype=pa.int64() if bits == 64 else pa.int32(), data=vector.data.view(f"int{bits}"))


# Parquet files of a sink: large ones are encoded on the device, small ones by Arrow on the host.
#
# To encode a file costs the interpreter milliseconds of launches, one file after another.  Arrow takes less for a
# small
# one and writes several at a time, without the interpreter, so the rows of many small files are copied to the host at
# once.


LEAST_BYTES = 1 << 20
"""Of a file's rows in device memory, that it is encoded there, if it is the only one."""
MOST_AT_ONCE = 8
"""Files that Arrow writes at a time: of as many, each must be as many times as large."""
LEAST_GROUP_ROWS = 1 << 10
"""Of a row group that is encoded on the device."""
MOST_HOST_BYTES = (1 << 31) - 1
"""Of the rows of small files that are copied to the host at once: one column of Arrow's has no more bytes of texts."""
FileRows: TypeAlias = Frame | pa.Table


def are_small(frame: Frame, files: int, machine: Machine) -> bool:
    """Tell whether files, which have the rows of a frame, are better written by Arrow."""
    most = LEAST_BYTES * files * min(files, MOST_AT_ONCE)
    return frame.nbytes < most and fits_host(frame, machine)


def fits_host(frame: Frame, machine: Machine) -> bool:
    """Tell whether rows may be copied to the host at once, where each has its own text of a dictionary."""
    columns = frame.columns.values()
    return sum(map(most_decoded_bytes, columns)) <= MOST_HOST_BYTES or (
        frame.nbytes <= MOST_HOST_BYTES and sum(decoded_bytes(vector, machine) for vector in columns) <= MOST_HOST_BYTES
    )


def write_file(
    rows: FileRows | Part,
    schema: Schema,
    path: Path,
    machine: Machine,
    alone: bool,
    options: ParquetWriteOptions = PARQUET_DEFAULTS,
) -> None:
    """Write a file; `alone` and errors are those of `write_parquet`."""
    if isinstance(rows, Frame) and are_small(rows, 1, machine):
        rows = on_host(rows, machine)
    if isinstance(rows, Part):
        write_part(rows, path)
    elif isinstance(rows, Frame):
        write_parquet(rows, schema, path, machine, alone=alone, layout=layout_of(options))
    else:
        parquet_rows.write_parquet(rows.select(list(schema)), path, options)


def layout_of(options: ParquetWriteOptions) -> Layout:
    """Return how rows are cut for options that `left_to_arrow` finds nothing in."""
    rows, codec = options.row_group_rows, options.codec
    page_rows = DEFAULT.page_rows if codec == NO_COMPRESSION else COMPRESSED_PAGE_ROWS
    return Layout(min(rows, page_rows), rows, max(rows, DEFAULT.batch_rows), options.statistics, codec)


def left_to_arrow(options: ParquetWriteOptions) -> str:
    """Return the first option that only Arrow's writer has; nothing where there is none.

    Pages are cut in halves where strings are long, so that row groups have a power of two of rows.
    """
    rows = options.row_group_rows
    reasons = {
        "page_index: true": options.page_index,
        "bloom_filters": bool(options.bloom_filters),
        "dictionary: false": not options.dictionary,
        f"row_group_rows: {rows}, which is not a power of two from {LEAST_GROUP_ROWS}": (
            rows < LEAST_GROUP_ROWS or rows & (rows - 1) != 0
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def split_by_value(frame: Frame, keys: tuple[str, ...], machine: Machine) -> Sequence[tuple[str, FileRows]]:
    """Return hive folder names and their rows, in the order of first appearance; rows keep their order.

    Both are what `io.hive.split_by_value` gives for Arrow tables; keys have a fixed width, or are texts.  The rows
    take as much memory as the columns that are not keys, of the host where files are small; nulls of frames are not
    counted anew.
    """
    if not frame.rows:
        return []
    rest = frame.select(tuple(name for name in frame.columns if name not in keys))
    groups = rows_by_value(frame.select(keys), machine)
    if are_small(rest, len(groups.folders), machine):
        table = to_table(take_rows(rest, groups.rows, machine, permuted=True), machine)
        return [(name, table[start:end]) for name, start, end in groups.folders]
    return [
        (name, take_rows(rest, groups.rows[start:end], machine, permuted=True)) for name, start, end in groups.folders
    ]


def on_host(frame: Frame, machine: Machine) -> pa.Table:
    """Copy a frame, whose nulls may not have been counted; Arrow does that."""
    columns = {name: decoded(vector, machine) for name, vector in frame.columns.items()}
    counted = {name: replace(vector, nulls=-1 if vector.nulls else 0) for name, vector in columns.items()}
    return to_table(Frame(counted, frame.rows), machine)


# What sinks are written by.


def parquet_file_writer(target: Target, schema: Schema, machine: Machine) -> FileWriter | None:
    """Return what writes a sink's files; None where a column has a type that is not encoded here."""
    written, alone = schema.select(name for name in schema if name not in target.partition_by), target.is_file
    options = ParquetWriteOptions.of(target.options)
    if not writes(written):
        return None
    if reason := left_to_arrow(options):
        note(f"sink '{target.name}': Arrow writes it on the CPU: {reason}")
        return None
    layout = layout_of(options)
    if reason := reason_for_host(layout.compression, machine):
        note(f"sink '{target.name}': the CPU compresses its pages: {reason}")

    def write(rows: FileRows | Part, path: Path) -> None:
        with machine.stage(f"sink '{target.name}': write", "writing"):
            write_file(rows, written, path, machine, alone, options)

    def split(frame: Frame, keys: tuple[str, ...]) -> Sequence[tuple[str, FileRows]]:
        with machine.stage(f"sink '{target.name}': split"):
            return split_by_value(frame, keys, machine)

    return FileWriter(write, lambda frame: parts_of(frame, written, machine, layout), split)


WRITERS: dict[type[Format], Callable[[Target, Schema, Machine], FileWriter | None]] = {
    ParquetFormat: parquet_file_writer,
}
"""The formats that are encoded on the GPU."""

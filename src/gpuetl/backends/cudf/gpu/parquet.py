"""Parquet files read by libcudf, as columns of the language's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from threading import local
from typing import Any

import cupy
import pyarrow as pa
import pylibcudf as plc
from rmm.pylibrmm.stream import Stream

from gpuetl.backends.cudf.columns.validity import words_of
from gpuetl.backends.cudf.gpu.libcudf import Id, from_libcudf, libcudf_type, span_array
from gpuetl.backends.cudf.machine import FileGroups, Machine
from gpuetl.backends.cudf.sources.parts import MOST_PARTS
from gpuetl.backends.cudf.sources.units import counts_units
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import DURATION, NULL, STRING, DataType, is_list, language_type

UNITS = {
    Id.TIMESTAMP_SECONDS: "s", Id.TIMESTAMP_MILLISECONDS: "ms",
    Id.TIMESTAMP_MICROSECONDS: "us", Id.TIMESTAMP_NANOSECONDS: "ns",
    Id.DURATION_SECONDS: "s", Id.DURATION_MILLISECONDS: "ms",
    Id.DURATION_MICROSECONDS: "us", Id.DURATION_NANOSECONDS: "ns",
}  # fmt: skip
"""What times count: libcudf's casts between units wrap around."""
_READER = local()


def read_parquet(parts: Sequence[FileGroups], types: Mapping[str, DataType], machine: Machine) -> dict[str, Vector]:
    """Read columns of row groups: see `Machine.read_parquet`.

    libcudf fetches all bytes of a call before it decodes any, so several calls at a time keep link and device busy.
    Fetching by threads of our own, each part decoded by libcudf meanwhile, was slower than one call.
    """
    if not types:
        return {}
    if len(parts) == 1:
        columns: Sequence[Any] = read_part(parts[0], list(types))
    else:
        columns = put_together(read_side_by_side(parts, list(types)))
    return {name: as_language(column, types[name], machine) for name, column in zip(types, columns, strict=True)}


def read_part(files: FileGroups, names: list[str], stream: Any = None) -> list[Any]:
    """Return libcudf's columns of row groups, in one call."""
    builder = plc.io.parquet.ParquetReaderOptions.builder(plc.io.SourceInfo([str(path) for path in files]))
    options = builder.use_arrow_schema(True).build()
    options.set_column_names(names)
    options.set_row_groups([list(groups) for groups in files.values()])
    read = plc.io.parquet.read_parquet(options, stream)
    found = dict(zip(read.column_names(), read.columns, strict=True))
    return [found[name] for name in names]


def read_side_by_side(parts: Sequence[FileGroups], names: list[str]) -> list[list[Any]]:
    """Return libcudf's columns of each part, complete, in memory of streams of their own."""

    def read(part: FileGroups) -> list[Any]:
        columns = read_part(part, names, _READER.stream)
        _READER.stream.synchronize()
        return columns

    futures = [readers(cupy.cuda.Device().id).submit(read, part) for part in parts]
    wait(futures)  # also where one fails: the others take memory
    return [future.result() for future in futures]


def put_together(parts: Sequence[list[Any]]) -> list[Any]:
    """Return the columns of parts below each other; the parts are let go column by column.

    Their memory is that of streams which do not wait for ours.
    """
    columns = []
    for _ in range(len(parts[0])):
        pieces = [part.pop(0) for part in parts]
        columns.append(plc.concatenate.concatenate(pieces))
        cupy.cuda.get_current_stream().synchronize()
        del pieces
    return columns


@cache
def readers(device: int) -> ThreadPoolExecutor:
    """Return the process's threads that read to a device, each with a stream of its own."""

    def begin() -> None:
        cupy.cuda.Device(device).use()
        _READER.stream = Stream()

    return ThreadPoolExecutor(MOST_PARTS, "gpuetl-read", begin)


def as_language(column: Any, stored: DataType, machine: Machine) -> Vector:
    """Return a column as the language's type that is nearest to the stored one; times keep their unit."""
    dtype = language_type(stored) or stored
    if dtype == NULL:
        return null_column(column.size(), machine)
    if is_list(dtype):
        return list_column(column, stored, machine)
    if dtype == STRING:
        return from_libcudf(column, STRING)
    if counts_units(dtype) and (unit := UNITS.get(column.type().id())):
        return from_libcudf(column, pa.duration(unit) if dtype == DURATION else pa.timestamp(unit, dtype.tz))
    wanted = libcudf_type(dtype)
    if column.type() != wanted:
        column = plc.unary.cast(column, wanted)
    return from_libcudf(column, dtype)


def null_column(rows: int, machine: Machine) -> Vector:
    """Return a column without a type, all of it null."""
    nothing = machine.arrays.zeros(rows, "uint8")
    return Vector(NULL, rows, nothing, words_of(nothing, machine), rows)


def list_column(column: Any, stored: DataType, machine: Machine) -> Vector:
    """Return a column of lists, its elements converted."""
    column = column.copy() if column.offset() else column
    offsets, elements = column.children()
    valid = span_array(column.null_mask(), column).view("uint32") if column.null_count() else None
    places = span_array(offsets.data(), offsets).view("int32")[: offsets.size()]
    inner = as_language(elements, stored.value_type, machine)
    return Vector(pa.list_(inner.dtype), column.size(), None, valid, column.null_count(), places, inner)

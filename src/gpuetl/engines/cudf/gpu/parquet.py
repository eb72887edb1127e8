"""Parquet files read by libcudf, as columns of the language's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cupy
import pyarrow as pa
import pylibcudf as plc

from gpuetl.engines.cudf.columns.validity import words_of
from gpuetl.engines.cudf.gpu.libcudf import Id, from_libcudf, libcudf_type, span_array, stream
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.sources.units import counts_units
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import DURATION, NULL, STRING, DataType, is_list, language_type

UNITS = {
    Id.TIMESTAMP_SECONDS: "s", Id.TIMESTAMP_MILLISECONDS: "ms",
    Id.TIMESTAMP_MICROSECONDS: "us", Id.TIMESTAMP_NANOSECONDS: "ns",
    Id.DURATION_SECONDS: "s", Id.DURATION_MILLISECONDS: "ms",
    Id.DURATION_MICROSECONDS: "us", Id.DURATION_NANOSECONDS: "ns",
}  # fmt: skip
"""What times count: libcudf's casts between units wrap around."""


def read_parquet(
    files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType], machine: Machine
) -> dict[str, Vector]:
    """Read columns of row groups of all files in one call: see `Machine.read_parquet`.

    Fetching in parts by threads of our own, each part decoded meanwhile, took 110 ms for 2.5 GB that take 94 here,
    of which fetching alone takes 77.  Four calls at a time, on streams of their own, took 85, but no pipeline gained,
    and those that read several tables at a time lost by it.
    """
    if not types:
        return {}
    builder = plc.io.parquet.ParquetReaderOptions.builder(plc.io.SourceInfo([str(path) for path in files]))
    options = builder.use_arrow_schema(True).build()
    options.set_column_names(list(types))
    options.set_row_groups([list(groups) for groups in files.values()])
    read = plc.io.parquet.read_parquet(options, stream())
    found = dict(zip(read.column_names(), read.columns, strict=True))
    columns = {name: as_language(found[name], stored, machine) for name, stored in types.items()}
    cupy.cuda.get_current_stream().synchronize()  # a fault of the device while it decodes is an error of this read
    return columns


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
        column = plc.unary.cast(column, wanted, stream())
    return from_libcudf(column, dtype)


def null_column(rows: int, machine: Machine) -> Vector:
    """Return a column without a type, all of it null."""
    nothing = machine.arrays.zeros(rows, "uint8")
    return Vector(NULL, rows, nothing, words_of(nothing, machine), rows)


def list_column(column: Any, stored: DataType, machine: Machine) -> Vector:
    """Return a column of lists, its elements converted."""
    column = column.copy(stream()) if column.offset() else column
    offsets, elements = column.children()
    valid = span_array(column.null_mask(), column).view("uint32") if column.null_count() else None
    places = span_array(offsets.data(), offsets).view("int32")[: offsets.size()]
    inner = as_language(elements, stored.value_type, machine)
    return Vector(pa.list_(inner.dtype), column.size(), None, valid, column.null_count(), places, inner)

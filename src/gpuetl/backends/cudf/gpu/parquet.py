"""Parquet files read by libcudf, as columns of the language's types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cupy
import pyarrow.parquet as pq
import pylibcudf as plc

from gpuetl.backends.cudf.columns.validity import valid_rows, words_of
from gpuetl.backends.cudf.gpu.libcudf import Id, from_libcudf, libcudf_type, span_array
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import NULL, STRING, DataType, is_list, language_type

_CUPY: Any = SimpleNamespace(arrays=cupy)
"""What the functions of validity need of a machine."""


def read_parquet(path: Path, row_groups: Sequence[int], columns: Sequence[str]) -> tuple[dict[str, Vector], int]:
    """Read columns of row groups in the language's types nearest to the stored ones, and the number of rows."""
    with pq.ParquetFile(path) as parquet:
        schema, metadata = parquet.schema_arrow, parquet.metadata
        rows = sum(metadata.row_group(index).num_rows for index in row_groups)
    if not columns:
        return {}, rows
    builder = plc.io.parquet.ParquetReaderOptions.builder(plc.io.SourceInfo([str(path)]))
    options = builder.use_arrow_schema(True).build()
    options.set_column_names(list(columns))
    options.set_row_groups([list(row_groups)])
    read = plc.io.parquet.read_parquet(options)
    found = dict(zip(read.column_names(), read.columns, strict=True))
    return {name: as_language(found[name], schema.field(name).type, rows) for name in columns}, rows


def as_language(column: Any, stored: DataType, rows: int) -> Vector:
    """Return a column as the language's type that is nearest to the stored one."""
    dtype = language_type(stored) or stored
    if dtype == NULL:
        return null_column(rows)
    if is_list(dtype):
        return list_column(column, stored, dtype)
    if dtype == STRING:
        return from_libcudf(column, STRING)
    if column.type().id() in (Id.TIMESTAMP_NANOSECONDS, Id.DURATION_NANOSECONDS):
        return microseconds(column, dtype)
    wanted = libcudf_type(dtype)
    if column.type() != wanted:
        column = plc.unary.cast(column, wanted)
    return from_libcudf(column, dtype)


def null_column(rows: int) -> Vector:
    """Return a column without a type, all of it null."""
    return Vector(NULL, rows, cupy.zeros(rows, "uint8"), words_of(cupy.zeros(rows, "uint8"), _CUPY), rows)


def list_column(column: Any, stored: DataType, dtype: DataType) -> Vector:
    """Return a column of lists, its elements converted."""
    column = column.copy() if column.offset() else column
    offsets, elements = column.children()
    valid = span_array(column.null_mask(), column).view("uint32") if column.null_count() else None
    places = span_array(offsets.data(), offsets).view("int32")[: offsets.size()]
    inner = as_language(elements, stored.value_type, elements.size())
    return Vector(dtype, column.size(), None, valid, column.null_count(), places, inner)


def microseconds(column: Any, dtype: DataType) -> Vector:
    """Return times of nanoseconds in microseconds; raise `ValueError` where that loses."""
    column = column.copy() if column.offset() else column
    values = span_array(column.data(), column).view("int64")[: column.size()]
    valid = span_array(column.null_mask(), column).view("uint32") if column.null_count() else None
    whole = Vector(dtype, column.size(), values // 1000, valid, column.null_count())
    lost = (values % 1000 != 0) & valid_rows(whole, _CUPY).astype(bool)
    if bool(lost.any()):
        raise ValueError(f"{dtype} does not hold nanoseconds: row {int(lost.argmax())}")
    return whole

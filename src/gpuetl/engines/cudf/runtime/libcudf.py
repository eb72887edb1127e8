"""Between the engine's columns and libcudf's, which share their memory, and Parquet files read by libcudf."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import cupy
import pyarrow as pa
import pylibcudf as plc

from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.validity import words_of
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector, storage_type
from gpuetl.engines.cudf.io.parquet_reader import column_paths, counts_units
from gpuetl.engines.cudf.machine import Machine
from gpuetl.types.data_types import BOOL, DURATION, NULL, STRING, DataType, language_type
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import children_of, field_names, is_list, is_map, is_nested, is_struct

Id = plc.types.TypeId
NUMBERS = {
    "int8": Id.INT8, "int16": Id.INT16, "int32": Id.INT32, "int64": Id.INT64,
    "uint8": Id.UINT8, "uint16": Id.UINT16, "uint32": Id.UINT32, "uint64": Id.UINT64,
    "float32": Id.FLOAT32, "float64": Id.FLOAT64,
}  # fmt: skip


def libcudf_type(dtype: DataType) -> Any:
    """Return libcudf's type of a language type that is no list."""
    if is_decimal(dtype):
        wide = storage_type(dtype) == "V16"
        return plc.DataType(Id.DECIMAL128 if wide else Id.DECIMAL64, -dtype.scale)
    if dtype in (BOOL, NULL):
        return plc.DataType(Id.BOOL8)
    if dtype == STRING:
        return plc.DataType(Id.STRING)
    if pa.types.is_date(dtype):
        return plc.DataType(Id.TIMESTAMP_DAYS)
    if pa.types.is_timestamp(dtype):
        return plc.DataType(Id.TIMESTAMP_MICROSECONDS)
    if pa.types.is_duration(dtype):
        return plc.DataType(Id.DURATION_MICROSECONDS)
    return plc.DataType(NUMBERS[storage_type(dtype)])


def to_libcudf(vector: Vector, machine: Machine) -> Any:
    """Return the column as libcudf's; no byte is copied, but for strings of a dictionary."""
    if vector.dictionary is not None:
        vector = decoded(vector, machine)
    mask = view(vector.valid) if vector.valid is not None else None
    if is_list(vector.dtype):
        assert vector.elements is not None
        children = [number_column(vector.offsets), to_libcudf(vector.elements, machine)]
        return plc.Column(plc.DataType(Id.LIST), vector.rows, None, mask, vector.nulls, 0, children)
    children = [number_column(vector.offsets)] if vector.dtype == STRING else []
    return plc.Column(libcudf_type(vector.dtype), vector.rows, view(vector.data), mask, vector.nulls, 0, children)


def number_column(array: Any) -> Any:
    """Return an array of numbers as a column without nulls."""
    return plc.Column(plc.DataType(NUMBERS[str(array.dtype)]), len(array), view(array), None, 0, 0, [])


def view(array: Any) -> Any:
    """Return an array's memory as libcudf takes it."""
    return plc.gpumemoryview(array.reshape(-1).view("uint8"))


def stream() -> Any:
    """Return CuPy's current stream, for libcudf to go on with what was asked for there."""
    return cupy.cuda.get_current_stream()


def radix_order(word: Any) -> Any:
    """Return the stable order (int32) of unsigned numbers; the narrower they are, the fewer passes it takes."""
    table = plc.Table([number_column(word)])
    order = plc.sorting.stable_sorted_order(table, [plc.types.Order.ASCENDING], [plc.types.NullOrder.AFTER], stream())
    return column_array(order, "int32")


def span_array(span: Any, owner: Any) -> Any:
    """Return memory of libcudf's as bytes, which keep their owner alive."""
    if span is None or not span.size:
        return cupy.empty(0, "uint8")
    memory = cupy.cuda.UnownedMemory(span.ptr, span.size, owner)
    return cupy.ndarray((span.size,), "uint8", cupy.cuda.MemoryPointer(memory, 0))


def column_array(column: Any, dtype: str) -> Any:
    """Return a column of numbers without nulls as an array."""
    return span_array(column.data(), column).view(dtype)[: column.size()]


def from_libcudf(column: Any, dtype: DataType) -> Vector:
    """Return a column of libcudf's, which is stored as `storage_type` says, as the engine's."""
    column = column.copy(stream()) if column.offset() else column
    rows, nulls = column.size(), column.null_count()
    valid = span_array(column.null_mask(), column).view("uint32") if nulls else None
    if is_list(dtype):
        offsets, elements = column.children()
        places = offsets_array(offsets)
        return Vector(dtype, rows, NO_DATA, valid, nulls, places, from_libcudf(elements, dtype.value_type))
    if dtype == STRING:
        places = offsets_array(column.child(0)) if rows else cupy.zeros(1, "int32")
        return Vector(dtype, rows, span_array(column.data(), column), valid, nulls, places)
    storage = storage_type(dtype)
    data = span_array(column.data(), column)
    data = data.view("int64").reshape(-1, 2) if storage == "V16" else data.view(storage)
    return Vector(dtype, rows, data[:rows], valid, nulls)


def offsets_array(column: Any) -> Any:
    """Return the offsets of strings or lists."""
    wide = column.type().id() == Id.INT64
    return span_array(column.data(), column).view("int64" if wide else "int32")[: column.size()]


# Parquet files read by libcudf, as columns of the language's types.


UNITS = {
    Id.TIMESTAMP_SECONDS: "s", Id.TIMESTAMP_MILLISECONDS: "ms",
    Id.TIMESTAMP_MICROSECONDS: "us", Id.TIMESTAMP_NANOSECONDS: "ns",
    Id.DURATION_SECONDS: "s", Id.DURATION_MILLISECONDS: "ms",
    Id.DURATION_MICROSECONDS: "us", Id.DURATION_NANOSECONDS: "ns",
}  # fmt: skip
"""What times count: libcudf's casts between units wrap around."""


def read_parquet(
    files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType], fields: Container[str], machine: Machine
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
    options.set_column_names(column_paths(types, fields))
    options.set_row_groups([list(groups) for groups in files.values()])
    read = plc.io.parquet.read_parquet(options, stream())
    found = dict(zip(read.column_names(), read.columns, strict=True))
    columns = {name: as_language(found[name], stored, machine) for name, stored in types.items()}
    cupy.cuda.get_current_stream().synchronize()  # a fault of the device while it decodes is an error of this read
    return columns


def read_orc(path: Path, stripes: Sequence[int], types: Mapping[str, DataType], machine: Machine) -> dict[str, Vector]:
    """Read columns of stripes of a file: see `Machine.read_orc`."""
    options = plc.io.orc.OrcReaderOptions.builder(plc.io.SourceInfo([str(path)])).use_index(True).build()
    options.set_columns(list(types))
    options.set_stripes([list(stripes)])
    read = plc.io.orc.read_orc(options, stream())
    found = dict(zip(read.column_names(), read.columns, strict=True))
    columns = {name: as_language(found[name], stored, machine) for name, stored in types.items()}
    cupy.cuda.get_current_stream().synchronize()  # a fault of the device while it decodes is an error of this read
    return columns


def as_language(column: Any, stored: DataType, machine: Machine) -> Vector:
    """Return a column as the language's type that is nearest to the stored one; times keep their unit.

    Raises
    ------
    ValueError
        For a nested column whose parts are not those of its type.
    """
    if is_nested(stored):
        return nested_column(column, stored, machine)
    dtype = language_type(stored) or stored
    if dtype == NULL:
        return null_column(column.size(), machine)
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


def nested_column(column: Any, stored: DataType, machine: Machine) -> Vector:
    """Return a column of lists, maps or structs on libcudf's memory, its parts converted: see `as_language`."""
    column = column.copy(stream()) if column.offset() else column
    rows, nulls = column.size(), column.null_count()
    valid = span_array(column.null_mask(), column).view("uint32") if nulls else None
    if is_struct(stored):
        parts = parts_of(column, Id.STRUCT, len(field_names(stored)))
        fields = tuple([as_language(part, field.type, machine) for part, field in zip(parts, stored, strict=True)])
        types = [(field.name, part.dtype) for field, part in zip(stored, fields, strict=True)]
        return Vector(pa.struct(types), rows, NO_DATA, valid, nulls, fields=fields)
    offsets, elements = parts_of(column, Id.LIST, 2)
    places = span_array(offsets.data(), offsets).view("int32")[: offsets.size()]
    places = places if len(places) else machine.arrays.zeros(1, "int32")
    if is_map(stored):
        entry = pa.struct([("key", stored.key_type), ("value", stored.item_type)])
        inner = nested_column(elements, entry, machine)
        return Vector(pa.map_(*children_of(inner.dtype)), rows, NO_DATA, valid, nulls, places, inner)
    inner = as_language(elements, stored.value_type, machine)
    return Vector(pa.list_(inner.dtype), rows, NO_DATA, valid, nulls, places, inner)


def parts_of(column: Any, kind: Any, count: int) -> Sequence[Any]:
    """Return the children of a nested column; raise `ValueError` where it is of another kind or has others."""
    children: Sequence[Any] = column.children()
    if column.type().id() != kind or len(children) != count:
        raise ValueError(f"libcudf reads a nested column as {column.type().id()} of {len(children)}")
    return children

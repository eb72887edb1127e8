"""The names of types as DuckDB writes them: `BIGINT`, `VARCHAR[]`, `STRUCT(a INTEGER)`."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.types.calendar_intervals import CALENDAR
from gpuetl.types.data_types import NAMED, NULL, DataType, is_binary, type_name
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list, is_map, is_struct

_FLAT = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT",
    "float32": "FLOAT", "float64": "DOUBLE", "string": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP",
    "timestamp_ns": "TIMESTAMP_NS", "duration": "INTERVAL", "time": "TIME", "binary": "BLOB", "uuid": "UUID",
}  # fmt: skip
_NAMES = {NAMED[name]: sql for name, sql in _FLAT.items()} | {NULL: '"NULL"', CALENDAR: "INTERVAL"}


def sql_type_name(dtype: DataType) -> str:
    """Return the name of a type in DuckDB, which CAST takes as well."""
    if is_list(dtype):
        return f"{sql_type_name(dtype.value_type)}[]"
    if is_map(dtype):
        return f"MAP({sql_type_name(dtype.key_type)}, {sql_type_name(dtype.item_type)})"
    if is_struct(dtype):
        return f"STRUCT({', '.join(f'{quoted(field.name)} {sql_type_name(field.type)}' for field in dtype)})"
    if is_decimal(dtype):
        return f"DECIMAL({dtype.precision},{dtype.scale})"
    if pa.types.is_timestamp(dtype) and dtype.tz:
        return "TIMESTAMP WITH TIME ZONE"
    return _NAMES.get(dtype) or ("BLOB" if is_binary(dtype) else type_name(dtype))


def quoted(name: str) -> str:
    """Return the name of a field, in quotes where it is no plain word in lower case."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit() and name == name.lower()
    return name if plain else '"' + name.replace('"', '""') + '"'

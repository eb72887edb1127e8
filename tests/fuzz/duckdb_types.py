"""The types that hold the language's values in DuckDB: times with a clock and durations are BIGINT microseconds."""

import pyarrow as pa

from gpuetl.types.data_types import DURATION, INT64, NULL, TIME, DataType, type_name
from gpuetl.types.nested_types import is_list, is_map, is_struct

SQL_TYPES = {
    "null": "INTEGER", "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT", "float32": "FLOAT",
    "float64": "DOUBLE", "string": "VARCHAR", "date": "DATE", "duration": "BIGINT", "time": "BIGINT", "binary": "BLOB",
}  # fmt: skip


def sql_type(dtype: DataType) -> str:
    """Return the type that holds the values of `dtype` in DuckDB."""
    if pa.types.is_timestamp(dtype):
        return "BIGINT"
    if is_list(dtype):
        return f"{sql_type(dtype.value_type)}[]"
    if is_map(dtype):
        return f"MAP({sql_type(dtype.key_type)}, {sql_type(dtype.item_type)})"
    if is_struct(dtype):
        return f"STRUCT({', '.join(f'{chr(34)}{field.name}{chr(34)} {sql_type(field.type)}' for field in dtype)})"
    return f"DECIMAL({dtype.precision},{dtype.scale})" if pa.types.is_decimal(dtype) else SQL_TYPES[type_name(dtype)]


def storage_type(dtype: DataType) -> DataType:
    """Return the Arrow type of `sql_type`."""
    if is_struct(dtype):
        return pa.struct([(field.name, storage_type(field.type)) for field in dtype])
    if is_map(dtype):
        return pa.map_(*map(storage_type, (dtype.key_type, dtype.item_type)))
    if is_list(dtype):
        return pa.list_(storage_type(dtype.value_type))
    if pa.types.is_timestamp(dtype) or dtype in (DURATION, TIME):
        return INT64
    return pa.int32() if dtype == NULL else dtype

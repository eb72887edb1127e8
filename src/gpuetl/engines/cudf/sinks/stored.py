"""How types are stored in Parquet: as pyarrow stores them, but for decimals of up to 18 digits (INT64)."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from gpuetl.engines.cudf.sinks.thrift import Value, boolean, byte, i32, struct
from gpuetl.engines.cudf.vector import storage_type
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, STRING, DataType, is_integer
from gpuetl.types.decimal_types import is_decimal

BOOLEAN, INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = 0, 1, 2, 4, 5, 6, 7
"""The format's physical types."""
NUMBERS: Final = {"float32": FLOAT, "float64": DOUBLE, "V16": FIXED, "int64": INT64, "uint64": INT64}
CONVERTED: Final = {
    pa.string(): 0, pa.date32(): 6, pa.uint8(): 11, pa.uint16(): 12, pa.uint32(): 13, pa.uint64(): 14,
    pa.int8(): 15, pa.int16(): 16,
}  # fmt: skip
"""What older readers know a type by."""
CONVERTED_DECIMAL, CONVERTED_TIMESTAMP = 5, 10


@dataclass(frozen=True)
class Stored:
    """A type in a file: the physical type, and what its values stand for, in the words of old and of new readers."""

    physical: int
    converted: int | None = None
    logical: Value | None = None


def stored_as(dtype: DataType) -> Stored:
    """Return how values of a type that `writes` is true for are stored."""
    if dtype == STRING:
        return Stored(BYTE_ARRAY, CONVERTED[dtype], struct({1: struct({})}))
    if dtype == BOOL:
        return Stored(BOOLEAN)
    physical = NUMBERS.get(storage_type(dtype), INT32)
    if is_decimal(dtype):
        return Stored(physical, CONVERTED_DECIMAL, struct({5: struct({1: i32(dtype.scale), 2: i32(dtype.precision)})}))
    if pa.types.is_date(dtype):
        return Stored(physical, CONVERTED[dtype], struct({6: struct({})}))
    if pa.types.is_timestamp(dtype):
        instant = dtype.tz is not None
        logical = struct({8: struct({1: boolean(instant), 2: struct({2: struct({})})})})
        return Stored(physical, CONVERTED_TIMESTAMP if instant else None, logical)
    if is_integer(dtype) and dtype in CONVERTED:
        signed = boolean(pa.types.is_signed_integer(dtype))
        return Stored(physical, CONVERTED[dtype], struct({10: struct({1: byte(dtype.bit_width), 2: signed})}))
    return Stored(physical)

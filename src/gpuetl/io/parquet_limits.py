"""Least and greatest values of column chunks, from the bytes in which their statistics have them.

The order of bounds is that of the types in Arrow and in gpuetl for integers, floats, dates, times and strings in UTF-8.
Statistics that cannot be, such as more nulls than values, are as none.
"""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

from gpuetl.io.parquet_chunks import Chunk, Leaf
from gpuetl.io.parquet_footer import BOOLEAN, BYTE_ARRAY, DOUBLE, FLOAT, INT32, INT64

EPOCH = datetime(1970, 1, 1)
EPOCH_DAY = date(1970, 1, 1)
MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}
Limits = tuple[Any, Any, int]
FORMATS = {BOOLEAN: "<?", INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE: "<d"}


def limits_of(chunk: Chunk, leaf: Leaf, stored: Any) -> Limits | None:
    """Return (least, greatest, nulls) of a chunk whose column has an Arrow type; None where they are not known.

    NaN is left out of a float's bounds; a long string's bounds may be cut short, outwards.
    """
    nulls, stored = chunk.nulls, stored.value_type if pa.types.is_dictionary(stored) else stored
    if nulls is None or not 0 <= nulls <= chunk.values or pa.types.is_nested(stored):
        return None
    if nulls == chunk.values:
        return None, None, nulls
    bounds = bounds_of(chunk, leaf, stored)
    if bounds is None:
        return None
    try:
        least, greatest = (value_of(bound, leaf.physical, stored) for bound in bounds)
    except (OverflowError, ValueError, struct.error):  # other bytes than the type has, or a time that Python has not
        return None
    return None if least is None or greatest is None or not least <= greatest else (least, greatest, nulls)


def bounds_of(chunk: Chunk, leaf: Leaf, stored: Any) -> tuple[bytes, bytes] | None:
    """Return the bounds whose order is known; old ones are right where values are compared as signed numbers."""
    if leaf.ordered and chunk.bounds is not None:
        return chunk.bounds
    signed = leaf.physical in FORMATS and not pa.types.is_unsigned_integer(stored)
    return chunk.old_bounds if signed else None


def value_of(data: bytes, physical: int, stored: Any) -> Any:
    """Return a stored value as Python's; None for a type whose bounds are not used.

    Raises
    ------
    struct.error, ValueError, OverflowError
        For bytes that are not a value of the type, or that Python has no value for.
    """
    if physical == BYTE_ARRAY:
        text = pa.types.is_string(stored) or pa.types.is_large_string(stored) or pa.types.is_string_view(stored)
        return data.decode() if text else None
    if physical not in FORMATS or pa.types.is_decimal(stored):
        return None
    unsigned = pa.types.is_unsigned_integer(stored)
    (number,) = struct.unpack(FORMATS[physical].upper() if unsigned else FORMATS[physical], data)
    return number if plain(stored) else time_of(number, stored)


def plain(stored: Any) -> bool:
    """Tell whether a type's values are as they are stored."""
    types = pa.types
    return bool(types.is_integer(stored) or types.is_floating(stored) or types.is_boolean(stored))


def time_of(number: int, stored: Any) -> date | datetime | timedelta | None:
    """Return a date or time, microseconds or coarser; None for other types."""
    if pa.types.is_date(stored):
        return EPOCH_DAY + timedelta(days=number)
    timestamp = pa.types.is_timestamp(stored)
    if not (timestamp or pa.types.is_duration(stored)) or stored.unit == "ns":
        return None
    length = timedelta(microseconds=number * MICROSECONDS[stored.unit])
    if not timestamp:
        return length
    return (EPOCH if stored.tz is None else EPOCH.replace(tzinfo=UTC)) + length

"""The types of the language: Arrow types, the names that users write for them, and how two types meet."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa

from gpuetl.messages import coded
from gpuetl.types.decimal_types import (
    MAX_DIGITS,
    Number,
    common_decimal,
    constant_decimal,
    integer_decimal,
    is_decimal,
)
from gpuetl.types.time_zones import UnknownZone, is_zone

DataType: TypeAlias = pa.DataType

NULL, BOOL, INT64, FLOAT64 = pa.null(), pa.bool_(), pa.int64(), pa.float64()
INT32, STRING, DATE = pa.int32(), pa.string(), pa.date32()
TIMESTAMP, DURATION = pa.timestamp("us"), pa.duration("us")
UNKNOWN = pa.opaque(pa.null(), "unknown", "gpuetl")
"""The type of an expression that is wrong: what is built on it has it too, so that one mistake is told once."""

NAMED: dict[str, DataType] = {
    "bool": BOOL, "boolean": BOOL,
    "int8": pa.int8(), "int16": pa.int16(), "int32": INT32, "int64": INT64,
    "uint8": pa.uint8(), "uint16": pa.uint16(), "uint32": pa.uint32(), "uint64": pa.uint64(),
    "float32": pa.float32(), "float64": FLOAT64,
    "string": STRING, "date": DATE, "timestamp": TIMESTAMP, "duration": DURATION,
}  # fmt: skip
SQL_NAMES: dict[str, str] = {
    "tinyint": "int8", "int1": "int8", "byte": "int8", "smallint": "int16", "int2": "int16", "short": "int16",
    "int": "int32", "integer": "int32", "int4": "int32", "bigint": "int64", "long": "int64", "uint": "uint32",
    "real": "float32", "float": "float32", "float4": "float32",
    "double": "float64", "double precision": "float64", "float8": "float64",
    "text": "string", "str": "string", "varchar": "string", "char varying": "string", "character varying": "string",
    "varchar2": "string", "longvarchar": "string", "clob": "string",
    "timestampntz": "timestamp", "timestamp_ntz": "timestamp", "timestamp without time zone": "timestamp",
    "timestamptz": "timestamp[UTC]", "timestamp with time zone": "timestamp[UTC]", "interval": "duration",
}  # fmt: skip
"""SQL's names of the types, in lower case; those of decimals are in the pattern below."""
_DECIMAL = re.compile(r"(?:decimal|numeric|dec|number|fixed) ?(?:\( ?([0-9]+) ?(?:, ?([0-9]+) ?)?\))?")
_SQL_DECIMAL = 18, 3
_LIST = re.compile(r"list<(.+)>", re.IGNORECASE)
_ZONED = re.compile(r"timestamp\[([A-Za-z0-9_+\-/:]+)\]", re.IGNORECASE)


def parse_type(text: str) -> DataType:
    """Return the Arrow type that `text` names, in files, in Python and in CAST; raise `ValueError` where it is none.

    Upper case is lower case, but for a zone.  `decimal` alone is decimal(18,3), and decimal(p) is decimal(p,0).
    """
    name = text.strip()
    plain = " ".join(name.lower().split())
    if plain in NAMED:
        return NAMED[plain]
    if plain in SQL_NAMES:
        return parse_type(SQL_NAMES[plain])
    if hit := _DECIMAL.fullmatch(plain):
        digits, scale = (int(hit[1]), int(hit[2] or 0)) if hit[1] else _SQL_DECIMAL
        if 1 <= digits <= MAX_DIGITS and scale <= digits:
            return pa.decimal128(digits, scale)
    if hit := _ZONED.fullmatch(name):
        if not is_zone(hit[1]):
            raise UnknownZone(hit[1])
        return pa.timestamp("us", tz=hit[1])
    if (hit := _LIST.fullmatch(name)) and not is_list(element := parse_type(hit[1])):
        return pa.list_(element)
    raise ValueError(coded("GE1025", f"unknown type '{text}'"))


def type_name(dtype: DataType) -> str:
    """Return the name under which users write `dtype`; the inverse of `parse_type` for the language's types."""
    if is_decimal(dtype):
        return f"decimal({dtype.precision},{dtype.scale})"
    if dtype == UNKNOWN:
        return "unknown"
    if pa.types.is_timestamp(dtype):
        return f"timestamp[{dtype.tz}]" if dtype.tz else "timestamp"
    if is_list(dtype):
        return f"list<{type_name(dtype.value_type)}>"
    names = {NAMED[name]: name for name in reversed(NAMED)}
    return names.get(dtype, str(dtype))


@cache
def language_type(stored: DataType) -> DataType | None:
    """Return the type in which a stored column is read, or None where the language has none for it.

    Dictionaries are an encoding of their values, timestamps and durations become microseconds (a read fails
    where that loses), large and view strings are strings.  Lists hold values of one type, which is no list.
    """
    if is_list(stored):
        element = language_type(stored.value_type)
        return None if element is None or is_list(element) else pa.list_(element)
    if pa.types.is_dictionary(stored):
        return language_type(stored.value_type)
    if pa.types.is_timestamp(stored):
        return pa.timestamp("us", tz=stored.tz)
    if pa.types.is_duration(stored):
        return DURATION
    if pa.types.is_date(stored):
        return DATE
    if pa.types.is_large_string(stored) or pa.types.is_string_view(stored):
        return STRING
    known = stored in NAMED.values() or pa.types.is_decimal128(stored) or stored == NULL
    return stored if known else None


def literal_type(value: Any) -> DataType:
    """Return the type of a Python constant; raise `ValueError` where the language has none for it.

    An integer beyond int64 is a decimal of its digits.
    """
    if isinstance(value, Number):
        return FLOAT64
    if isinstance(value, int) and not integer_fits(value, INT64):
        value = Decimal(value)
    if isinstance(value, Decimal):
        return constant_decimal(value)
    for kind, dtype in _CONSTANTS:
        if isinstance(value, kind):
            return pa.timestamp("us", tz="UTC") if isinstance(value, datetime) and value.tzinfo else dtype
    raise ValueError(coded("GE1112", f"a {type(value).__name__} cannot stand in an expression"))


# bool before int and datetime before date: each is a subclass of the other
_CONSTANTS: tuple[tuple[type, DataType], ...] = (
    (type(None), NULL), (bool, BOOL), (int, INT64), (float, FLOAT64), (str, STRING),
    (datetime, TIMESTAMP), (date, DATE), (timedelta, DURATION),
)  # fmt: skip


@cache
def can_cast(source: DataType, target: DataType) -> bool:
    """Return whether values of `source` can be cast to `target` at all.

    Numbers, booleans and strings convert into each other, and strings from and to times.  int64 is microseconds
    of a timestamp or duration.  A naive timestamp is UTC where it becomes a zoned one, so only UTC is offered:
    any other zone's clock would need to know which hour is meant when clocks go back.
    """
    if source in (target, NULL, UNKNOWN):
        return True
    if pa.types.is_timestamp(source) and pa.types.is_timestamp(target):
        return bool(source.tz) == bool(target.tz) or {source.tz, target.tz} == {None, "UTC"}
    families = {_family(source), _family(target)}
    if families in ({"number"}, {"number", "string"}, {"decimal", "number"}, {"decimal", "string"}, {"decimal"}):
        return BOOL not in (source, target) or "decimal" not in families
    if families == {"time", "string"}:
        return DURATION not in (source, target)
    if families == {"time"}:
        return {source, target} == {DATE, TIMESTAMP}
    return families == {"time", "number"} and INT64 in (source, target) and DATE not in (source, target)


def _family(dtype: DataType) -> str:
    if is_decimal(dtype):
        return "decimal"
    if is_list(dtype):
        return "list"
    if is_number(dtype) or dtype == BOOL:
        return "number"
    return "string" if dtype == STRING else "time"


_LISTS = {made.id for made in (pa.list_(NULL), pa.large_list(NULL), pa.list_(NULL, 1))}


def is_list(dtype: DataType) -> bool:
    """Return whether `dtype` is a list, of any length or of a fixed one."""
    return dtype.id in _LISTS


def is_integer(dtype: DataType) -> bool:
    """Return whether `dtype` is an integer of any width."""
    return bool(pa.types.is_integer(dtype))


def is_floating(dtype: DataType) -> bool:
    """Return whether `dtype` is float32 or float64."""
    return bool(pa.types.is_floating(dtype))


def is_exact(dtype: DataType) -> bool:
    """Return whether `dtype` is an integer or a decimal."""
    return is_integer(dtype) or is_decimal(dtype)


def is_number(dtype: DataType) -> bool:
    """Return whether `dtype` is an integer, a float or a decimal."""
    return is_integer(dtype) or is_floating(dtype) or is_decimal(dtype)


def is_temporal(dtype: DataType) -> bool:
    """Return whether `dtype` is a date or a timestamp."""
    return bool(pa.types.is_date(dtype) or pa.types.is_timestamp(dtype))


def common_type(left: DataType, right: DataType) -> DataType | None:
    """Return the type in which values of both types can be compared or mixed without loss, or None.

    Null meets everything; integers meet in the narrowest integer that holds both, uint64 and a signed integer in
    decimal(20,0); decimals and integers in the narrowest decimal that holds both, if 38 digits do; a float and any
    other number in float64; a date and a naive timestamp in timestamp.  Naive and zoned timestamps do not meet.
    """
    if UNKNOWN in (left, right):
        return UNKNOWN
    if right in (left, NULL):
        return left
    if left == NULL:
        return right
    if is_integer(left) and is_integer(right):
        return _common_integer(left, right)
    if is_exact(left) and is_exact(right):
        return common_decimal(integer_decimal(left), integer_decimal(right))
    if is_number(left) and is_number(right):
        return FLOAT64
    if {left, right} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    both_zoned = pa.types.is_timestamp(left) and pa.types.is_timestamp(right) and left.tz and right.tz
    return pa.timestamp("us", tz="UTC") if both_zoned else None


def _common_integer(left: DataType, right: DataType) -> DataType:
    signed = pa.types.is_signed_integer(left), pa.types.is_signed_integer(right)
    if signed[0] == signed[1]:
        return left if left.bit_width >= right.bit_width else right
    unsigned = right if signed[0] else left
    width = max(left.bit_width, right.bit_width, 2 * unsigned.bit_width)
    return NAMED.get(f"int{width}", integer_decimal(unsigned))


def integer_fits(value: int, dtype: DataType) -> bool:
    """Return whether `value` is representable in the integer type `dtype`."""
    least, greatest = integer_limits(dtype)
    return least <= value <= greatest


def integer_limits(dtype: DataType) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type."""
    bits, signed = int(dtype.bit_width), pa.types.is_signed_integer(dtype)
    return -(1 << (bits - 1)) if signed else 0, (1 << (bits - signed)) - 1

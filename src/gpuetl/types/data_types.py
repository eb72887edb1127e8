"""The types of the language: Arrow types, the names that users write for them, and how two types meet."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa

from gpuetl.messages import coded
from gpuetl.types.calendar_intervals import CALENDAR, CalendarInterval
from gpuetl.types.decimal_types import (
    MAX_DIGITS,
    Number,
    common_decimal,
    constant_decimal,
    integer_decimal,
    is_decimal,
)
from gpuetl.types.nested_types import (
    children_of,
    is_list,
    is_map,
    is_nested,
    is_struct,
    quoted_field,
    split_arguments,
    split_field,
    struct_of,
)
from gpuetl.types.time_zones import UnknownZone, is_zone

DataType: TypeAlias = pa.DataType

NULL, BOOL, INT64, FLOAT64 = pa.null(), pa.bool_(), pa.int64(), pa.float64()
INT32, STRING, DATE = pa.int32(), pa.string(), pa.date32()
TIMESTAMP, DURATION = pa.timestamp("us"), pa.duration("us")
TIMESTAMP_NS, TIME = pa.timestamp("ns"), pa.time64("us")
BINARY, UUID = pa.binary(), pa.binary(16)
_UTC = pa.timestamp("us", tz="UTC")
UNKNOWN = pa.opaque(pa.null(), "unknown", "gpuetl")
"""The type of an expression that is wrong: what is built on it has it too, so that one mistake is told once."""

NAMED: dict[str, DataType] = {
    "bool": BOOL, "boolean": BOOL,
    "int8": pa.int8(), "int16": pa.int16(), "int32": INT32, "int64": INT64,
    "uint8": pa.uint8(), "uint16": pa.uint16(), "uint32": pa.uint32(), "uint64": pa.uint64(),
    "float32": pa.float32(), "float64": FLOAT64,
    "string": STRING, "date": DATE, "timestamp": TIMESTAMP, "duration": DURATION,
    "timestamp_ns": TIMESTAMP_NS, "time": TIME, "binary": BINARY, "uuid": UUID,
}  # fmt: skip
_NAMES = {NAMED[name]: name for name in reversed(NAMED)}
_INTEGERS = frozenset(NAMED[f"{sign}int{bits}"].id for sign in ("", "u") for bits in (8, 16, 32, 64))
_PLAIN = frozenset(dtype.id for dtype in NAMED.values())
_FLOATS = frozenset(made.id for made in (pa.float16(), pa.float32(), FLOAT64))
SQL_NAMES: dict[str, str] = {
    "tinyint": "int8", "int1": "int8", "byte": "int8", "smallint": "int16", "int2": "int16", "short": "int16",
    "int": "int32", "integer": "int32", "int4": "int32", "bigint": "int64", "long": "int64", "uint": "uint32",
    "signed": "int32", "utinyint": "uint8", "usmallint": "uint16", "uinteger": "uint32",
    "ubigint": "uint64", "logical": "bool", "hugeint": "decimal(38,0)", "int128": "decimal(38,0)",
    "real": "float32", "float": "float32", "float4": "float32",
    "double": "float64", "double precision": "float64", "float8": "float64",
    "text": "string", "str": "string", "varchar": "string", "char varying": "string", "character varying": "string",
    "varchar2": "string", "longvarchar": "string", "clob": "string", "char": "string", "bpchar": "string",
    "nvarchar": "string", "nvarchar2": "string", "character": "string", "nchar": "string", "oid": "int64",
    "datetime": "timestamp", "timestamp_us": "timestamp", "guid": "uuid",
    "timestampntz": "timestamp", "timestamp_ntz": "timestamp", "timestamp without time zone": "timestamp",
    "blob": "binary", "bytea": "binary", "varbinary": "binary", "bytes": "binary", "time without time zone": "time",
    "timestamptz": "timestamp[UTC]", "timestamp with time zone": "timestamp[UTC]", "interval": "duration",
}  # fmt: skip
"""SQL's names of the types, in lower case; those of decimals are in the pattern below."""
_DECIMAL = re.compile(r"(?:decimal|numeric|dec|number|fixed) ?(?:\( ?([0-9]+) ?(?:, ?([0-9]+) ?)?\))?")
_SQL_DECIMAL = 18, 3
_SIZED = re.compile(r"([a-z][a-z0-9_ ]*?) ?\( ?([0-9]{1,9}) ?\)( with(?:out)? time zone)?")
_MICRO_PLACES = range(4, 7)
_NANO_PLACES = range(7, 10)
_NESTED = re.compile(r"(list|struct|map) ?<(.+)>", re.IGNORECASE | re.DOTALL)
_FIXED_BINARY = re.compile(r"binary ?\( ?([0-9]+) ?\)")
MOST_FIXED_BYTES = 1 << 20
_ZONED = re.compile(r"timestamp\[([A-Za-z0-9_+\-/:]+)\]", re.IGNORECASE)


def parse_type(text: str) -> DataType:
    """Return the Arrow type that `text` names, in files, in Python and in CAST; raise `ValueError` where it is none.

    Upper case is lower case, but for a zone.  `decimal` alone is decimal(18,3), decimal(p) is decimal(p,0), and `int[]`
    is list<int>.  A number of characters counts nothing: `varchar(20)` is string.
    """
    name = text.strip()
    plain = " ".join(name.lower().split())
    if plain in NAMED:
        return NAMED[plain]
    if also := SQL_NAMES.get(plain) or _without_size(plain):
        return parse_type(also)
    if hit := _DECIMAL.fullmatch(plain):
        digits, scale = (int(hit[1]), int(hit[2] or 0)) if hit[1] else _SQL_DECIMAL
        if 1 <= digits <= MAX_DIGITS and scale <= digits:
            return pa.decimal128(digits, scale)
    if hit := _ZONED.fullmatch(name):
        if not is_zone(hit[1]):
            raise UnknownZone(hit[1])
        return pa.timestamp("us", tz=hit[1])
    if (hit := _FIXED_BINARY.fullmatch(plain)) and 1 <= int(hit[1]) <= MOST_FIXED_BYTES:
        return pa.binary(int(hit[1]))
    if name.endswith("[]"):
        return pa.list_(parse_type(name.removesuffix("[]")))
    if (hit := _NESTED.fullmatch(name)) and (nested := _nested_type(hit[1].lower(), hit[2])):
        return nested
    raise ValueError(coded("GE1025", f"unknown type '{text}'"))


def _without_size(name: str) -> str:
    """Return the name of a type of strings or timestamps with a size as that without it; "" for any other type.

    `timestamp(p)` has p digits of a second: 4 to 6 are microseconds, 7 to 9 nanoseconds.
    """
    hit = _SIZED.fullmatch(name)
    kind = hit and (hit[1] + (hit[3] or ""))
    if not hit or not kind:
        return ""
    if SQL_NAMES.get(kind, kind) == "string":
        return "" if hit[3] else "string"
    if SQL_NAMES.get(kind, kind) == "timestamp":
        places = int(hit[2])
        return "timestamp" if places in _MICRO_PLACES else "timestamp_ns" if places in _NANO_PLACES else ""
    return ""


def _nested_type(kind: str, inside: str) -> DataType | None:
    """Return the list, struct or map whose name has `inside` in its brackets, None where that is not one."""
    try:
        arguments = split_arguments(inside)
        fields = list(map(split_field, arguments)) if kind == "struct" else []
    except ValueError:
        return None
    if kind == "struct":
        names = [name for name, _ in fields]
        if len(set(names)) < len(names):
            return None
        return struct_of({name: parse_type(written) for name, written in fields})
    types = list(map(parse_type, arguments))
    if kind == "map":
        return pa.map_(*types) if len(types) == 2 and can_be_key(types[0]) else None
    return pa.list_(types[0]) if len(types) == 1 else None


def type_name(dtype: DataType) -> str:
    """Return the name under which users write `dtype`; the inverse of `parse_type` for the language's types."""
    if is_decimal(dtype):
        return f"decimal({dtype.precision},{dtype.scale})"
    if dtype == UNKNOWN:
        return "unknown"
    if pa.types.is_timestamp(dtype):
        unit = "" if dtype.unit == "us" else f"_{dtype.unit}"
        return f"timestamp{unit}[{dtype.tz}]" if dtype.tz else f"timestamp{unit}"
    if is_struct(dtype):
        return f"struct<{', '.join(f'{quoted_field(field.name)}: {type_name(field.type)}' for field in dtype)}>"
    if is_nested(dtype):
        return f"{'list' if is_list(dtype) else 'map'}<{', '.join(map(type_name, children_of(dtype)))}>"
    if pa.types.is_fixed_size_binary(dtype) and dtype != UUID:
        return f"binary({dtype.byte_width})"
    return _NAMES.get(dtype) or str(dtype)


@cache
def language_type(stored: DataType) -> DataType | None:
    """Return the type in which a stored column is read, or None where the language has none for it.

    Dictionaries and run ends are encodings of their values.  Timestamps, durations and times of day become
    microseconds (a read fails where that loses), large and view strings are strings, float16 is float32.  Fields,
    elements and values of nested types may be null.
    """
    if is_nested(stored):
        return _nested_in_language(stored)
    if pa.types.is_dictionary(stored) or pa.types.is_run_end_encoded(stored):
        return language_type(stored.value_type)
    if isinstance(stored, pa.OpaqueType):  # of a format, and Arrow has nothing for it
        return None
    if isinstance(stored, pa.BaseExtensionType):
        return language_type(stored.storage_type)
    if pa.types.is_timestamp(stored):
        return pa.timestamp("us", tz=stored.tz)
    if pa.types.is_decimal(stored):
        fits = stored.precision <= MAX_DIGITS and 0 <= stored.scale <= stored.precision
        return pa.decimal128(stored.precision, stored.scale) if fits else stored
    for holds, dtype in _READ_AS:
        if holds(stored):
            return dtype
    known = stored in NAMED.values() or stored == NULL or pa.types.is_fixed_size_binary(stored)
    return stored if known or stored in OPAQUE else None


def _nested_in_language(stored: DataType) -> DataType | None:
    children = [language_type(child) for child in children_of(stored)]
    if None in children:
        return None
    if is_struct(stored):
        return pa.struct([(field.name, child) for field, child in zip(stored, children, strict=True)])
    return pa.map_(*children) if is_map(stored) else pa.list_(children[0])


_READ_AS: tuple[tuple[Callable[[DataType], bool], DataType], ...] = (
    (pa.types.is_duration, DURATION), (pa.types.is_date, DATE), (pa.types.is_time, TIME),
    (lambda dtype: pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype), STRING),
    (lambda dtype: pa.types.is_large_binary(dtype) or pa.types.is_binary_view(dtype), BINARY),
    (pa.types.is_float16, pa.float32()),
)  # fmt: skip
OPAQUE = frozenset([CALENDAR])
"""Types that pass through, and with which nothing is computed; decimals of more than 38 digits are others."""
_OPAQUE_IDS = {dtype.id for dtype in OPAQUE}


def is_opaque(dtype: DataType) -> bool:
    """Return whether values of a flat type only pass: they are neither compared nor computed with."""
    return dtype.id in _OPAQUE_IDS or (is_decimal(dtype) and dtype.precision > MAX_DIGITS)


def is_binary(dtype: DataType) -> bool:
    """Return whether `dtype` holds bytes: `binary`, or `binary(n)`, of which `uuid` is one."""
    return dtype == BINARY or bool(pa.types.is_fixed_size_binary(dtype))


def can_be_key(dtype: DataType) -> bool:
    """Return whether engines compare values of `dtype`: flat ones, but those that only pass."""
    return dtype.id in _PLAIN or not (is_nested(dtype) or is_opaque(dtype))


def can_compare(dtype: DataType) -> bool:
    """Return whether values of `dtype` are compared, nested ones by their parts: they can group, join and sort."""
    return all(map(can_compare, children_of(dtype))) if is_nested(dtype) else can_be_key(dtype)


def value_kinds(dtype: DataType) -> str:
    """Return what messages call values of a type that is not compared: lists, structs, maps, or its name."""
    for holds, kinds in ((is_list, "lists"), (is_struct, "structs"), (is_map, "maps")):
        if holds(dtype):
            return kinds
    return f"values of {type_name(dtype)}"


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
    (datetime, TIMESTAMP), (date, DATE), (timedelta, DURATION), (time, TIME),
    (CalendarInterval, CALENDAR),
)  # fmt: skip


@cache
def can_cast(source: DataType, target: DataType) -> bool:
    """Return whether values of `source` can be cast to `target` at all.

    Numbers, booleans and strings convert into each other, and strings from and to times.  int64 is microseconds
    of a timestamp or duration.  A naive timestamp is UTC where it becomes a zoned one, so only UTC is offered:
    any other zone's clock would need to know which hour is meant when clocks go back.  Timestamps in nanoseconds
    convert from and to naive ones and those of UTC in microseconds, dates and strings.  Bytes convert from and to
    bytes of another length, and strings; a UUID has the text of its own.
    """
    if source in (target, NULL, UNKNOWN):
        return True
    if TIMESTAMP_NS in (source, target):
        return not {source, target}.isdisjoint((TIMESTAMP, DATE, STRING, _UTC))
    if pa.types.is_timestamp(source) and pa.types.is_timestamp(target):
        return bool(source.tz) == bool(target.tz) or {source.tz, target.tz} == {None, "UTC"}
    families = {_family(source), _family(target)}
    if families == {"clock", "string"}:
        return True
    if families == {"binary", "string"}:
        return not {source, target}.isdisjoint((UUID, BINARY))
    if families == {"binary"}:
        return BINARY in (source, target)
    if families in ({"number"}, {"number", "string"}, {"decimal", "number"}, {"decimal", "string"}, {"decimal"}):
        return True
    if families == {"time", "string"}:
        return True
    if families == {"time"}:
        return {source, target} == {DATE, TIMESTAMP}
    return families == {"time", "number"} and INT64 in (source, target) and DATE not in (source, target)


def _family(dtype: DataType) -> str:
    if is_decimal(dtype):
        return "decimal"
    if is_nested(dtype) or is_opaque(dtype):
        return "nested"
    if is_binary(dtype):
        return "binary"
    if dtype == TIME:
        return "clock"
    if is_number(dtype) or dtype == BOOL:
        return "number"
    return "string" if dtype == STRING else "time"


def is_integer(dtype: DataType) -> bool:
    """Return whether `dtype` is an integer of any width."""
    return dtype.id in _INTEGERS


def is_floating(dtype: DataType) -> bool:
    """Return whether `dtype` is float32 or float64."""
    return dtype.id in _FLOATS


def is_exact(dtype: DataType) -> bool:
    """Return whether `dtype` is an integer or a decimal."""
    return is_integer(dtype) or is_decimal(dtype)


def is_number(dtype: DataType) -> bool:
    """Return whether `dtype` is an integer, a float or a decimal."""
    return is_integer(dtype) or is_floating(dtype) or is_decimal(dtype)


def is_temporal(dtype: DataType) -> bool:
    """Return whether `dtype` is a date or a timestamp in microseconds; those in nanoseconds are cast first."""
    return bool(pa.types.is_date(dtype) or (pa.types.is_timestamp(dtype) and dtype.unit == "us"))


def common_type(left: DataType, right: DataType) -> DataType | None:
    """Return the type in which values of both types can be compared or mixed without loss, or None.

    Null meets everything; integers meet in the narrowest integer that holds both, uint64 and a signed integer in
    decimal(20,0); decimals and integers in the narrowest decimal that holds both, if 38 digits do; a float and any
    other number in float64; a date and a naive timestamp in timestamp.  Naive and zoned timestamps do not meet.
    """
    if left == right:
        return left
    if UNKNOWN in (left, right):
        return UNKNOWN
    if right == NULL:
        return left
    if left == NULL:
        return right
    if is_integer(left) and is_integer(right):
        return _common_integer(left, right)
    if is_exact(left) and is_exact(right):
        return common_decimal(integer_decimal(left), integer_decimal(right))
    if is_number(left) and is_number(right):
        return FLOAT64
    if (left, right) in ((DATE, TIMESTAMP), (TIMESTAMP, DATE)):
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

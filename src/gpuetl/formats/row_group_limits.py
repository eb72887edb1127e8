"""Least and greatest values of row groups, and whether a row group may hold a row for which a predicate is true."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal
from gpuetl.formats.parquet_chunks import Chunk, Leaf
from gpuetl.formats.parquet_footer import BOOLEAN, BYTE_ARRAY, DOUBLE, FLOAT, INT32, INT64
from gpuetl.types.data_types import is_floating

# Least and greatest values of column chunks, from the bytes in which their statistics have them.
#
# The order of bounds is that of the types in Arrow and in gpuetl for integers, floats, dates, times and strings in
# UTF-8.
# Statistics that cannot be, such as more nulls than values, are as none.


EPOCH = datetime(1970, 1, 1)
EPOCH_DAY = date(1970, 1, 1)
MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}
Limits = tuple[Any, Any, int]
FORMATS = {BOOLEAN: "<?", INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE: "<d"}


def limits_of(chunk: Chunk, leaf: Leaf, stored: Any) -> Limits | None:
    """Return (least, greatest, nulls) of a chunk whose column has an Arrow type; None where they are not known.

    NaN is left out of a float's bounds; a long string's bounds may be cut short, outwards.
    """
    stored = stored.storage_type if isinstance(stored, pa.BaseExtensionType) else stored
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


# Whether a row group may hold a row for which a predicate is true, by its statistics.


Ranges = Mapping[str, tuple[Any, Any, int]]

# What must hold of (least, greatest, value) for some row to compare true
_MAY_HOLD: dict[str, Callable[[Any, Any, Any], bool]] = {
    "equal": lambda least, greatest, value: least <= value <= greatest,
    "less": lambda least, greatest, value: least < value,
    "less_equal": lambda least, greatest, value: least <= value,
    "greater": lambda least, greatest, value: greatest > value,
    "greater_equal": lambda least, greatest, value: greatest >= value,
}
_MIRRORED = {
    "equal": "equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}


def is_prunable(predicate: Expr) -> bool:
    """Tell whether statistics can say anything about the predicate."""
    return isinstance(predicate, Call) and (
        _comparison(predicate) is not None or _listed(predicate) is not None or _null_test(predicate) is not None
    )


def may_hold(predicate: Expr, ranges: Ranges, rows: int) -> bool:
    """Return False only where no row of the group can make the predicate true.

    `ranges` has least, greatest and the count of nulls by column; NaN lies outside of them, and compares true to
    nothing.  Columns that are not there may hold anything.
    """
    if not isinstance(predicate, Call):
        return True
    if (found := _null_test(predicate)) is not None:
        column, wants_null = found
        nulls = ranges[column][2] if column in ranges else None
        return nulls is None or (nulls > 0 if wants_null else rows < 0 or nulls < rows)
    if (listed := _listed(predicate)) is not None:
        column, values = listed
        return any(_compare("equal", column, value, ranges) for value in values)
    if (compared := _comparison(predicate)) is not None:
        return _compare(*compared, ranges)
    return True


def _compare(name: str, column: str, value: Any, ranges: Ranges) -> bool:
    if column not in ranges:
        return True
    least, greatest, _ = ranges[column]
    if least is None or value is None:
        return False  # only nulls there, or a comparison with null: never true
    if isinstance(value, datetime) and type(least) is date and value.tzinfo is None:  # a date is its midnight
        least, greatest = (datetime(day.year, day.month, day.day) for day in (least, greatest))
    try:
        return _MAY_HOLD[name](least, greatest, value)
    except TypeError:  # values that Python does not compare, such as a naive and a zoned time
        return True


def _comparison(call: Call) -> tuple[str, str, Any] | None:
    if call.function.name not in _MAY_HOLD:
        return None
    left, right = call.args
    if (name := _column(left)) and isinstance(right, Literal):
        return call.function.name, name, right.value
    if (name := _column(right)) and isinstance(left, Literal):
        return _MIRRORED[call.function.name], name, left.value
    return None


def _listed(call: Call) -> tuple[str, list[Any]] | None:
    name = _column(call.args[0]) if call.args else None
    values = [arg.value for arg in call.args[1:] if isinstance(arg, Literal)]
    if call.function.name != "in" or name is None or len(values) != len(call.args) - 1:
        return None
    return name, values


def _null_test(call: Call) -> tuple[str, bool] | None:
    inner, wanted = call, True
    if call.function.name == "not" and isinstance(call.args[0], Call):
        inner, wanted = call.args[0], False
    name = _column(inner.args[0]) if inner.function.name == "is_null" else None
    return (name, wanted) if name else None


def _column(expr: Expr) -> str | None:
    """Return the column's name; a cast to a wider number keeps its order, but a float64 of an int64 may round."""
    if isinstance(expr, Cast) and expr.implicit and not is_floating(expr.dtype):
        expr = expr.operand
    return expr.name if isinstance(expr, Column) else None

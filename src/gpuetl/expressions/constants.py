"""Constants in SQL text: numbers, strings, intervals, dates, timestamps and type names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from gpuetl.errors import InvalidExpression, suggestion
from gpuetl.expressions.dialect import Language, span_of
from gpuetl.expressions.interval_text import UnknownUnit, calendar_interval_of, cast_interval
from gpuetl.expressions.numbers import has_type
from gpuetl.expressions.syntax import Constant, Syntax
from gpuetl.expressions.time_text import iso_form
from gpuetl.messages import coded
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import (
    DATE,
    DURATION,
    FLOAT64,
    NAMED,
    SQL_NAMES,
    TIME,
    TIMESTAMP,
    DataType,
    parse_type,
)
from gpuetl.types.decimal_types import MAX_DIGITS, Number, constant_decimal, exact_decimal, is_decimal
from gpuetl.types.missing_types import MISSING_TYPES
from gpuetl.types.nested_types import quoted_field
from gpuetl.types.time_zones import UnknownZone

# Constants and type names in SQL text: dates and timestamps, CAST's targets, EXTRACT's parts.


SQL_TYPES: dict[Any, str] = {
    exp.DataType.Type.BOOLEAN: "bool",
    exp.DataType.Type.TINYINT: "int8", exp.DataType.Type.SMALLINT: "int16",
    exp.DataType.Type.INT: "int32", exp.DataType.Type.BIGINT: "int64",
    exp.DataType.Type.UTINYINT: "uint8", exp.DataType.Type.USMALLINT: "uint16",
    exp.DataType.Type.UINT: "uint32", exp.DataType.Type.UBIGINT: "uint64", exp.DataType.Type.INT128: "hugeint",
    exp.DataType.Type.FLOAT: "float32", exp.DataType.Type.DOUBLE: "float64",
    exp.DataType.Type.TEXT: "string", exp.DataType.Type.VARCHAR: "string", exp.DataType.Type.NVARCHAR: "string",
    exp.DataType.Type.CHAR: "string", exp.DataType.Type.BPCHAR: "string", exp.DataType.Type.DATETIME: "timestamp",
    exp.DataType.Type.DATE: "date",
    exp.DataType.Type.TIMESTAMPNTZ: "timestamp", exp.DataType.Type.TIMESTAMP: "timestamp",
    exp.DataType.Type.TIMESTAMPTZ: "timestamp[UTC]", exp.DataType.Type.INTERVAL: "duration",
    exp.DataType.Type.TIME: "time", exp.DataType.Type.UUID: "uuid",
    exp.DataType.Type.BINARY: "binary", exp.DataType.Type.VARBINARY: "binary", exp.DataType.Type.NCHAR: "string",
}  # fmt: skip

EXTRACT_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "HOUR": "hour", "MINUTE": "minute",
    "SECOND": "second", "DOW": "dayofweek", "DAYOFWEEK": "dayofweek", "DOY": "dayofyear", "DAYOFYEAR": "dayofyear",
    "EPOCH": "epoch", "WEEK": "week", "ISODOW": "isodow", "ISOYEAR": "iso_year",
    "MILLISECOND": "millisecond", "MICROSECOND": "microsecond", "DECADE": "decade", "CENTURY": "century",
    "MILLENNIUM": "millennium", "ERA": "era", "JULIAN": "julian", "YEARWEEK": "yearweek",
}  # fmt: skip

TEMPORAL_NAMES = {
    DATE: "date", TIME: "time", TIMESTAMP: "timestamp", parse_type("timestamp[UTC]"): "timestamp with a zone offset",
}  # fmt: skip
"""The types whose constants are written `TYPE 'text'`, in words."""


def timestamp_of(text: str, dtype: DataType) -> date | datetime | time:
    """Read a date, timestamp or time in the forms that CAST reads; raise `ValueError` where it is none of `dtype`."""
    text = iso_form(text, dtype)
    if dtype == TIME:
        return time.fromisoformat(text)
    return date.fromisoformat(text) if dtype == DATE else datetime.fromisoformat(text)


def constant_form(dtype: DataType) -> str:
    """Return an example of how a constant of a type of dates or timestamps is written."""
    if getattr(dtype, "tz", None):
        return "TIMESTAMPTZ '2026-01-31 10:00:00+00:00'"
    if dtype == TIME:
        return "TIME '10:00:00'"
    if dtype == DURATION:
        return "INTERVAL '1 day 2 hours'"
    return "DATE '2026-01-31'" if dtype == DATE else "TIMESTAMP '2026-01-31 10:00:00'"


NOT_FINITE = ("inf", "-inf", "nan")
"""SQL has no literals for these: they are written as casts."""
_DECIMAL_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def decimal_of(text: str, dtype: DataType) -> Decimal | None:
    """Read a decimal that has just the digits of `dtype`, as constants of decimals are written; None for any other."""
    if not is_decimal(dtype) or not _DECIMAL_NUMBER.fullmatch(text) or len(text) > MAX_DIGITS + 2:
        return None
    value = Decimal(text)
    return value if constant_decimal(value) == dtype else None


def converted(operand: Syntax, dtype: DataType) -> Constant | None:
    """Return the constant that `CAST('text' AS type)` is, for the types whose constants are written so, or None.

    Raises
    ------
    ValueError
        Worded, for a text that is no date, timestamp or interval.
    """
    if not isinstance(operand, Constant) or not isinstance(text := operand.value, str):
        return None
    value: Any = decimal_of(text, dtype)
    if dtype in TEMPORAL_NAMES:
        try:
            value = timestamp_of(text, dtype)
        except ValueError:
            raise ValueError(coded("GE1112", f"'{text}' is not a valid {TEMPORAL_NAMES[dtype]}")) from None
    if text in NOT_FINITE and dtype == FLOAT64:
        value = float(text)
    if dtype == DURATION:
        value = _interval_of(text)
    return None if value is None else Constant(value, span=operand.span)


def _interval_of(text: str) -> timedelta | CalendarInterval:
    try:
        return cast_interval(text)
    except UnknownUnit as error:
        raise ValueError(coded("GE1112", f"interval unit '{error}' is not supported")) from None


_NESTED = {
    exp.DataType.Type.LIST: "list", exp.DataType.Type.STRUCT: "struct", exp.DataType.Type.MAP: "map",
}  # fmt: skip


def _child_text(child: exp.Expr) -> str:
    """Return the type of an element, or a field with its type."""
    if isinstance(child, exp.ColumnDef):
        return f"{quoted_field(child.name)}: {type_text(child.args['kind'])}"
    return type_text(child) if isinstance(child, exp.DataType) else ""


def type_text(to: exp.DataType) -> str:
    """Return a name that `parse_type` reads as the type; one that it refuses where the language has none."""
    parameters = [parameter.name for parameter in to.expressions]
    if to.this == exp.DataType.Type.DECIMAL:
        return f"decimal({','.join(parameters)})" if parameters else "decimal"
    if to.this == exp.DataType.Type.USERDEFINED and "[" in str(to.args.get("kind")):
        return str(to.args["kind"].name)
    if to.this in _NESTED and to.expressions:
        return f"{_NESTED[to.this]}<{', '.join(map(_child_text, to.expressions))}>"
    if to.this == exp.DataType.Type.BINARY and parameters:
        return f"binary({','.join(parameters)})"
    zone = to.args.get("values")
    if to.this == exp.DataType.Type.ARRAY and zone and type_text(to.expressions[0]) == "timestamp":
        return f"timestamp[{zone[0].sql().replace(' ', '')}]"
    if to.this == exp.DataType.Type.ARRAY and to.expressions and not zone:
        return f"list<{_child_text(to.expressions[0])}>"
    if parameters:
        sized = SQL_TYPES.get(to.this, "") in ("string", "timestamp")
        return f"{SQL_TYPES[to.this]}({','.join(parameters)})" if sized else ""
    return str(to.args.get("kind") or "").lower() or SQL_TYPES.get(to.this, "")


# Literals of a parsed tree: numbers, texts, intervals, and the types that casts name.


def number_or_text(node: exp.Literal) -> Constant:
    """Return a number or a text as a constant."""
    return Constant(node.this if node.is_string else number_of(node), span=span_of(node))


def number_of(node: exp.Literal) -> int | float | Number:
    """Read a number, exactly to 38 digits: an int where it has digits only, a float where that has the same digits.

    One of more digits is the nearest float64; raise `InvalidExpression` for one beyond it.
    """
    text = node.this.replace("_", "")
    try:
        value: int | float = int(text) if text.isdecimal() else float(text)
    except ValueError:  # no digits after an exponent, or thousands of them
        raise InvalidExpression(coded("GE1112", f"{text[:20]} is not a number"), span_of(node)) from None
    if isinstance(value, int):
        return value
    if math.isinf(value):
        raise InvalidExpression(coded("GE1112", f"{text} is not a valid float64"), span_of(node))
    exact = Number.of(Decimal(text))
    return exact if exact != exact_decimal(value) and has_type(exact) else value


def interval(node: exp.Interval) -> Constant:
    """Return an interval as a constant; raise `InvalidExpression` where it is none, or has two units."""
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        raise InvalidExpression(
            coded("GE1112", "an interval has one unit"), span_of(node), "Write interval '90 minutes'."
        )
    try:
        text = f"{node.this.name} {unit.name if unit else ''}".strip()
        return Constant(calendar_interval_of(text), span=span_of(node))
    except UnknownUnit as error:
        message = coded("GE1112", f"interval unit '{error}' is not supported")
        raise InvalidExpression(message, span_of(node), error.hint) from None
    except ValueError as error:
        raise InvalidExpression(str(error), span_of(node), "Write interval '90 minutes'.") from None


_COARSE_UNITS = {"timestamp_s": 1_000_000, "timestamp_ms": 1000}
_COARSE_PLACES = {0: 1_000_000, **dict.fromkeys((1, 2, 3), 1000)}


def coarse_unit(node: exp.Cast) -> int:
    """Return the microseconds of the unit of a type such as `timestamp_s` or `timestamp(3)`; 0 of any other type."""
    to = node.args["to"]
    if to.expressions and SQL_TYPES.get(to.this) == "timestamp":
        return _COARSE_PLACES.get(int(to.expressions[0].name), 0)
    return _COARSE_UNITS.get(str(to.args.get("kind") or "").lower(), 0)


def check_coarse(unit: int, operand: Syntax, node: exp.Cast) -> None:
    """Raise `InvalidExpression` unless a constant has whole seconds or milliseconds: then it is a `timestamp`.

    Those of columns are not known, and DuckDB rounds.
    """
    value = operand.value if isinstance(operand, Constant) else operand
    if isinstance(value, str):
        try:
            value = timestamp_of(value, TIMESTAMP)
        except ValueError:  # which the cast to a timestamp refuses
            return
    if value is None or type(value) is date or (isinstance(value, datetime) and not value.microsecond % unit):
        return
    name, word = node.args["to"].sql(dialect=Language).lower(), "millisecond" if unit == 1000 else "second"
    what = f"gpuetl has no {name}: its timestamps are in microseconds"
    if isinstance(operand, Constant):
        what = f"{name} has whole {word}s, and this constant has a fraction"
    hint = f"Write CAST(x AS timestamp); date_trunc('{word}', x) cuts the fraction."
    raise InvalidExpression(coded("GE1110", what), span_of(node), hint)


def cast_target(node: exp.Cast) -> DataType:
    """Return the type that a cast names; raise `InvalidExpression` where the language has none of that name."""
    to = node.args["to"]
    try:
        return parse_type(type_text(to))
    except UnknownZone as error:
        raise InvalidExpression(str(error), span_of(node), error.hint) from None
    except ValueError:
        name = to.sql(dialect=Language).lower()
        hint = MISSING_TYPES.get(name) or (
            f"Types: {', '.join(NAMED)}, decimal(p,s). {suggestion(name, [*NAMED, *SQL_NAMES])}".rstrip()
        )
        raise InvalidExpression(coded("GE1025", f"unknown type '{name}'"), span_of(node), hint) from None


LITERALS: dict[type[exp.Expr], Callable[[Any], Constant]] = {
    exp.Literal: number_or_text,
    exp.Interval: interval,
    exp.Boolean: lambda node: Constant(bool(node.this)),
    exp.Null: lambda node: Constant(None),
}

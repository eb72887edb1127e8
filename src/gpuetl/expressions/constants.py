"""Constants and type names in SQL text: intervals, dates and timestamps, CAST's targets, EXTRACT's parts."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from gpuetl.expressions.decimals import MAX_DIGITS, constant_decimal, is_decimal
from gpuetl.expressions.types import DATE, TIMESTAMP, DataType, parse_type

SQL_TYPES: dict[Any, str] = {
    exp.DataType.Type.BOOLEAN: "bool",
    exp.DataType.Type.TINYINT: "int8", exp.DataType.Type.SMALLINT: "int16",
    exp.DataType.Type.INT: "int32", exp.DataType.Type.BIGINT: "int64",
    exp.DataType.Type.UTINYINT: "uint8", exp.DataType.Type.USMALLINT: "uint16",
    exp.DataType.Type.UINT: "uint32", exp.DataType.Type.UBIGINT: "uint64",
    exp.DataType.Type.FLOAT: "float32", exp.DataType.Type.DOUBLE: "float64",
    exp.DataType.Type.TEXT: "string", exp.DataType.Type.VARCHAR: "string", exp.DataType.Type.DATE: "date",
    exp.DataType.Type.TIMESTAMPNTZ: "timestamp", exp.DataType.Type.TIMESTAMP: "timestamp",
    exp.DataType.Type.TIMESTAMPTZ: "timestamp[UTC]", exp.DataType.Type.INTERVAL: "duration",
}  # fmt: skip

EXTRACT_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "HOUR": "hour", "MINUTE": "minute",
    "SECOND": "second", "DOW": "dayofweek", "DAYOFWEEK": "dayofweek", "DOY": "dayofyear", "DAYOFYEAR": "dayofyear",
    "EPOCH": "epoch",
}  # fmt: skip

_SECONDS = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}
_INTERVAL = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


MOMENTS = {DATE: "date", TIMESTAMP: "timestamp", parse_type("timestamp[UTC]"): "timestamp with a zone offset"}
"""The types whose constants are written `TYPE 'text'`, in words."""
_NANOSECONDS = re.compile(r"\.\d{7}")


def moment_of(text: str, dtype: DataType) -> date | datetime:
    """Read a date or timestamp in ISO form; raise `ValueError` where it is none of `dtype`."""
    value = date.fromisoformat(text) if dtype == DATE else datetime.fromisoformat(text)
    zoned = bool(getattr(value, "tzinfo", None))
    if _NANOSECONDS.search(text) or zoned != bool(getattr(dtype, "tz", None)):
        raise ValueError(text)
    return value


_DIGITS = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def decimal_of(text: str, dtype: DataType) -> Decimal | None:
    """Read a decimal that has just the digits of `dtype`, as constants of decimals are written; None for any other."""
    if not is_decimal(dtype) or not _DIGITS.fullmatch(text) or len(text) > MAX_DIGITS + 2:
        return None
    value = Decimal(text)
    return value if constant_decimal(value) == dtype else None


class UnknownUnit(ValueError):
    """An interval in a unit that has no fixed length, or is no unit."""


def interval_of(text: str) -> timedelta:
    """Read amounts with units, such as `90 minutes` or `2 days 3 hours`.

    Raises
    ------
    UnknownUnit
        With the unit.
    ValueError
        For text that is no interval, or one too long.
    """
    parts = _INTERVAL.findall(text)
    if not parts or _INTERVAL.sub("", text):
        raise ValueError(f"'{text}' is not an interval")
    seconds = 0.0
    for amount, name in parts:
        word = name.lower().removesuffix("s")
        if word not in _SECONDS:
            raise UnknownUnit(name.lower())
        seconds += float(amount) * _SECONDS[word]
    try:
        return timedelta(microseconds=round(seconds * 1e6))
    except OverflowError:
        raise ValueError(f"the interval '{text}' is too long") from None


def type_text(to: exp.DataType) -> str:
    """Return the name of the type in the language; the empty text where it has none."""
    parameters = [parameter.name for parameter in to.expressions]
    if to.this == exp.DataType.Type.DECIMAL:
        return "decimal({},{})".format(*parameters, *["18", "3"][len(parameters) :])
    zone = to.args.get("values")
    if to.this == exp.DataType.Type.ARRAY and zone and type_text(to.expressions[0]) == "timestamp":
        return f"timestamp[{zone[0].sql().replace(' ', '')}]"
    return "" if parameters else str(to.args.get("kind") or "").lower() or SQL_TYPES.get(to.this, "")

"""Moments: dates and timestamps made, moved, compared and truncated, and durations.  What leaves the range of its type is an error.

`timestamp + duration` is a timestamp, `date + duration` too (its midnight's); the difference of two timestamps or dates is a
duration.  A duration times an integer, or `//` an integer, is a duration; `/`, `//` and `%` take two durations as they take numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import pyarrow as pa

from gpuetl.expressions.functions.calendar import A_TIMESTAMP, DAY, with_clock
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    TIMESTAMP,
    DataType,
    common_type,
    is_floating,
    is_integer,
    is_temporal,
    type_name,
)

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
LISTED = ", ".join(UNITS)


def check_unit(unit: Expr) -> None:
    """Refuse a text that names no unit."""
    if unit.dtype != STRING or (isinstance(unit, Literal) and unit.value not in UNITS):
        got = repr(unit.value) if isinstance(unit, Literal) else type_name(unit.dtype)
        raise TypeMismatch(coded("GE1106", f"takes one of {LISTED}, got {got}"))


def truncated(args: Sequence[Expr]) -> Typing:
    """A unit's name, then a date or timestamp, whose type is kept."""
    check_unit(args[0])
    return [STRING, dtype := timestamp_type(args[1])], dtype


def timestamp_type(arg: Expr) -> DataType:
    """Return the type of a date or a timestamp."""
    if arg.dtype != NULL and not is_temporal(arg.dtype):
        raise TypeMismatch(f"takes a date or a timestamp, got {type_name(arg.dtype)}")
    return arg.dtype


def between(args: Sequence[Expr]) -> Typing:
    """A unit's name, then two dates or timestamps that meet in one type."""
    check_unit(args[0])
    for arg in args[1:]:
        timestamp_type(arg)
    return [STRING, *[meet(args[1:], "compare")] * 2], INT64


def bucketed(args: Sequence[Expr]) -> Typing:
    """A duration above zero, a timestamp (a date's is its midnight), and an origin of the same kind."""
    if args[0].dtype != DURATION or (isinstance(args[0], Literal) and args[0].value <= timedelta(0)):
        got = args[0].value if isinstance(args[0], Literal) else type_name(args[0].dtype)
        raise TypeMismatch(coded("GE1106", f"takes an interval above zero, got {got}"))
    dtype = timestamp_type(args[1])
    dtype = TIMESTAMP if dtype == DATE else dtype
    for origin in args[2:]:
        if common_type(timestamp_type(origin), dtype) is None:
            got = f"takes an origin of {type_name(dtype)}, got {type_name(origin.dtype)}"
            raise TypeMismatch(coded("GE1111", got))
    return [DURATION, dtype, dtype][: len(args)], dtype


def moved(args: Sequence[Expr]) -> Typing:
    """A date or a naive timestamp, whose type is kept, and a whole number; on a zone's clock the result may not exist."""
    dtype = timestamp_type(args[0])
    if pa.types.is_timestamp(dtype) and dtype.tz:
        hint = "Move what its clock shows, local_time(x), and give the result its zone: … AT TIME ZONE '{}'."
        raise TypeMismatch(
            coded("GE1111", f"takes a date or a naive timestamp, got {type_name(dtype)}"), hint.format(dtype.tz)
        )
    return [dtype, *fixed(INT64, returns=INT64)(args[1:])[0]], dtype


def measured(args: Sequence[Expr]) -> Typing:
    """A number, whole or in float64."""
    dtype = args[0].dtype
    if dtype != NULL and not (is_integer(dtype) or is_floating(dtype)):
        raise TypeMismatch(f"takes a number, got {type_name(dtype)}")
    return [FLOAT64 if is_floating(dtype) else INT64], DURATION


def since_1970(args: Sequence[Expr]) -> Typing:
    """A number of seconds, whole or in float64."""
    return measured(args)[0], TIMESTAMP


parts_of_day = fixed(INT64, INT64, INT64, returns=DATE)
parts_of_time = fixed(INT64, INT64, INT64, INT64, INT64, FLOAT64, returns=TIMESTAMP)


def lasting(unit: str, example: str, result: timedelta) -> Function:
    """Return the function that makes a duration of a number of units."""
    doc = f"The duration of x {unit}; a fraction is rounded to whole microseconds, half to even."
    return Function(unit, "x", measured, doc, example, result, can_fail=True)


FUNCTIONS = (
    Function("make_date", "year month day", parts_of_day, "The date of the parts; an error if they are not a valid date.",
             "make_date(2013, 3, 9)", date(2013, 3, 9), can_fail=True),
    Function("make_timestamp", "year month day hour minute second?", parts_of_time,
             "The naive timestamp of the parts; an error if they are not a valid date and time.  Seconds may have a fraction.",
             "make_timestamp(2013, 3, 9, 17, 5)", datetime(2013, 3, 9, 17, 5), can_fail=True),
    Function("from_epoch", "seconds", since_1970,
             "The naive timestamp, in UTC, of seconds since 1970; a fraction is rounded to microseconds, half to even.",
             "from_epoch(60.5)", datetime(1970, 1, 1, 0, 1, 0, 500_000), can_fail=True),
    Function("from_epoch_ms", "milliseconds", fixed(INT64, returns=TIMESTAMP),
             "The naive timestamp, in UTC, of whole milliseconds since 1970.",
             "from_epoch_ms(60500)", datetime(1970, 1, 1, 0, 1, 0, 500_000), can_fail=True),
    Function("add_days", "x n", moved, "n days later; a date stays a date.", f"add_days({DAY}, -9)", date(2013, 2, 28), can_fail=True),
    Function("add_months", "x n", moved, "n months later; the month's last day if it has no such day.",
             "add_months(DATE '2013-01-31', 1)", date(2013, 2, 28), can_fail=True),
    Function("date_diff", "unit! a b", with_clock(between),
             f"How many units ({LISTED}) begin after a and up to b: the `date_trunc` of b less that of a, in units.",
             f"date_diff('month', {DAY}, DATE '2013-05-01')", 2, can_fail=True),
    Function("date_trunc", "unit! x", with_clock(truncated),
             f"The start of the unit: {LISTED}.  On a zone's clock a day starts with its first instant; smaller units keep the offset.",
             f"date_trunc('month', {DAY})", date(2013, 3, 1), can_fail=True),
    Function("time_bucket", "width! x origin?!", bucketed,
             "The start of the bucket: buckets are `width` long and one starts at `origin` (1970-01-01, in UTC where zoned).",
             f"time_bucket(INTERVAL '15 minutes', {A_TIMESTAMP})", datetime(2013, 3, 9, 17), can_fail=True),
    lasting("days", "days(2)", timedelta(days=2)),
    lasting("hours", "hours(1.5)", timedelta(minutes=90)),
    lasting("minutes", "minutes(90)", timedelta(minutes=90)),
    lasting("seconds", "seconds(0.25)", timedelta(milliseconds=250)),
    lasting("milliseconds", "milliseconds(250)", timedelta(milliseconds=250)),
    lasting("microseconds", "microseconds(-1)", timedelta(microseconds=-1)),
)  # fmt: skip

"""Moments: dates and timestamps made, moved, compared and truncated, and durations.  What leaves the range of its type is an error.

`timestamp + duration` is a timestamp, `date + duration` too (its midnight's); the difference of two timestamps is a duration.
`date + 7` is a date, and the difference of two dates is a number of days.  A duration times an integer, or `//` an integer, is a duration; `/`, `//` and `%` take two durations as they take numbers.
A time of day and a duration are a time of day: after midnight, it goes on from 0.

Months and years have no fixed length, so an interval of them is no duration.  It is added to a date or timestamp, and subtracted:
`d + INTERVAL '1 month'`, `ts - INTERVAL '1 year 2 months 3 days'`, `ts + n * INTERVAL '1 month'`, `INTERVAL (n) MONTH`.  31 January
and a month is the last day of February.  The months of a zoned timestamp are those of its clock.  If the clock does not show the
result, it is as much later as the clock was turned forward; if it shows it twice, it is the later one.  A day in an interval is 24
hours; `add_days` moves by days of the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa

from gpuetl.expressions.functions.calendar import A_TIMESTAMP, DAY, with_clock
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed, scalar_call
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import Call, Expr, Literal, Parameter
from gpuetl.messages import coded
from gpuetl.types.calendar_intervals import CALENDAR, CalendarInterval
from gpuetl.types.data_types import (
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    common_type,
    is_floating,
    is_integer,
    is_temporal,
    type_name,
)

UNIT_NAMES = {
    "millennium": "millennia millenniums millenium mil mils",
    "century": "centuries cent c",
    "decade": "decades dec decs",
    "year": "years yr yrs y",
    "quarter": "quarters",
    "month": "months mon mons",
    "week": "weeks w",
    "day": "days d",
    "hour": "hours hr hrs h",
    "minute": "minutes min mins m",
    "second": "seconds sec secs s",
    "millisecond": "milliseconds ms msec msecs",
    "microsecond": "microseconds us usec usecs",
}
"""Units, with DuckDB's other names of them."""
UNITS = tuple(UNIT_NAMES)
_UNIT_OF = {name: unit for unit, names in UNIT_NAMES.items() for name in (unit, *names.split())}
LISTED = ", ".join(UNITS)


def unit_named(name: object) -> str | None:
    """Return the unit that a text names, in lower or upper case: `hour` for `Hours` and `h`."""
    return _UNIT_OF.get(name.lower()) if isinstance(name, str) else None


PARTS_OF_UNITS = {
    **dict.fromkeys(("dayofweek", "weekday", "dow", "isodow", "dayofyear", "doy", "julian"), "day"),
    "yearweek": "week", "epoch": "second",
}  # fmt: skip
"""Names of parts of dates, which change with these units."""


def unit_of(value: object) -> str | None:
    """Return the unit that a text names, or with which the part that it names changes."""
    return unit_named(value) or (PARTS_OF_UNITS.get(value.lower()) if isinstance(value, str) else None)


def with_unit(call: Call) -> Call:
    """Return a call whose unit is one of `UNITS`, which engines know."""
    unit, *args = call.args
    named = unit_of(unit.value) if isinstance(unit, Literal) else None
    return call if named is None else replace(call, args=(Literal(named, STRING), *args))


def check_unit(unit: Expr) -> None:
    """Refuse a text that names no unit."""
    if unit.dtype != STRING or (isinstance(unit, Literal) and unit_of(unit.value) is None):
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


TIME_UNITS = ("hour", "minute", "second", "millisecond", "microsecond")


def between(args: Sequence[Expr]) -> Typing:
    """A unit's name, then two dates or timestamps that meet in one type, or two times of day and a unit below a day."""
    check_unit(args[0])
    if any(arg.dtype == TIME for arg in args[1:]):
        if isinstance(args[0], Literal) and unit_of(args[0].value) not in TIME_UNITS:
            raise TypeMismatch(coded("GE1106", f"of times takes one of {', '.join(TIME_UNITS)}, got '{args[0].value}'"))
        return [STRING, *[meet(args[1:], "compare")] * 2], INT64
    for arg in args[1:]:
        timestamp_type(arg)
    return [STRING, *[meet(args[1:], "compare")] * 2], INT64


def bucketed(args: Sequence[Expr]) -> Typing:
    """An interval above zero, a timestamp (a date's is its midnight), and an origin of the same kind, or an offset."""
    offsets = [arg for arg in args[2:] if arg.dtype == DURATION]
    if args[0].dtype == CALENDAR:
        types, dtype = bucketed_by_months(args[:2] if offsets else args)
        dtype = TIMESTAMP if offsets and dtype == DATE else dtype
        return ([CALENDAR, dtype, DURATION] if offsets else types), dtype
    wrong = (
        isinstance(args[0], Literal)
        and args[0].value is not None
        and args[0].dtype == DURATION
        and args[0].value <= timedelta(0)
    )
    if args[0].dtype not in (DURATION, NULL) or wrong:
        got = args[0].value if isinstance(args[0], Literal) else type_name(args[0].dtype)
        raise TypeMismatch(coded("GE1106", f"takes an interval above zero, got {got}"))
    dtype = timestamp_type(args[1])
    dtype = TIMESTAMP if dtype == DATE else dtype
    if offsets:
        return [DURATION, dtype, DURATION], dtype
    for origin in args[2:]:
        if common_type(timestamp_type(origin), dtype) is None:
            got = f"takes an origin of {type_name(dtype)}, got {type_name(origin.dtype)}"
            raise TypeMismatch(coded("GE1111", got))
    return [DURATION, dtype, dtype][: len(args)], dtype


FIRST_MONDAY, FIRST_MONTH = datetime(2000, 1, 3), date(2000, 1, 1)
"""Where buckets start that have no origin, as in DuckDB: weeks start with a Monday."""


def with_origin(call: Call) -> Call:
    """Return a call with the origin that is left out, or with no offset: what that moves is moved back and on again."""
    if len(call.args) < 3:
        return call if starts_at_1970(call.args[0]) else replace(call, args=(*call.args, first_bucket(call)))
    if call.args[2].dtype != DURATION:
        return call
    width, x, offset = call.args
    earlier = scalar_call("subtract", (x, offset), call.dtype)
    return scalar_call("add", (with_origin(replace(call, args=(width, earlier))), offset), call.dtype)


def starts_at_1970(width: Expr) -> bool:
    """Return whether buckets from the usual origin on are those from 1970-01-01 on, with which engines begin."""
    if not isinstance(width, Literal) or width.value is None:
        return width.dtype == NULL
    if width.dtype == CALENDAR:
        return bool((FIRST_MONTH.year - 1970) * 12 % width.value.months == 0)
    return not (FIRST_MONDAY - datetime(1970, 1, 1)) % width.value


def first_bucket(call: Call) -> Literal:
    """Return the usual origin of a call: a date for months, else a timestamp, in UTC where zoned."""
    if call.args[0].dtype == CALENDAR:
        return Literal(FIRST_MONTH, DATE)
    return Literal(FIRST_MONDAY.replace(tzinfo=UTC if call.dtype.tz else None), call.dtype)


def bucketed_by_months(args: Sequence[Expr]) -> Typing:
    """Months above zero, a date or timestamp, whose type is kept, and an origin that is the start of a month."""
    width = args[0].value if isinstance(args[0], Literal) else CalendarInterval(1)
    if not (width.is_of_months and width.months > 0):
        raise TypeMismatch(coded("GE1106", f"takes months or a fixed length above zero, got '{width}'"))
    dtype = timestamp_type(args[1])
    for origin in args[2:]:
        if not isinstance(origin, Literal | Parameter) and origin.dtype != NULL:
            raise TypeMismatch(coded("GE1105", "takes a constant or a $parameter as origin of months"))
        if isinstance(origin, Literal) and isinstance(origin.value, date) and not starts_month(origin.value):
            got = f"takes an origin that is the start of a month, got {origin.value}"
            raise TypeMismatch(
                coded("GE1106", got), "Move x: time_bucket(width, x - INTERVAL '3 days') + INTERVAL '3 days'."
            )
        if timestamp_type(origin) not in (DATE, TIMESTAMP, NULL):
            got = f"takes an origin of the clock, without a zone, got {type_name(origin.dtype)}"
            raise TypeMismatch(coded("GE1111", got), "Write DATE '2000-01-01'.")
    return [CALENDAR, dtype, DATE][: len(args)], dtype


def starts_month(day: date) -> bool:
    """Return whether a constant is the first moment of a month."""
    return day.day == 1 and (not isinstance(day, datetime) or day.time() == datetime.min.time())


def moved(args: Sequence[Expr]) -> Typing:
    """A date or a timestamp, whose type is kept, and a whole number."""
    dtype = timestamp_type(args[0])
    return [dtype, *fixed(INT64, returns=INT64)(args[1:])[0]], dtype


def moved_by_interval(args: Sequence[Expr]) -> Typing:
    """A date or a timestamp, and an interval of months; a date becomes its midnight."""
    dtype, interval = timestamp_type(args[0]), args[1]
    if interval.dtype != CALENDAR:
        raise TypeMismatch(f"takes an interval, got {type_name(interval.dtype)}", "Write INTERVAL '1 month'.")
    value = interval.value if isinstance(interval, Literal) else CalendarInterval(1)
    if getattr(dtype, "tz", None) and not value.is_of_months:
        message = f"takes months or a fixed length beside {type_name(dtype)}, got '{value}'"
        hint = (
            "Write x + INTERVAL '1 month' + INTERVAL '1 day': a day is 24 hours.  add_days moves by days of the clock."
        )
        raise TypeMismatch(coded("GE1850", message), hint)
    dtype = TIMESTAMP if dtype == DATE else dtype
    return [dtype, CALENDAR], dtype


def measured(args: Sequence[Expr]) -> Typing:
    """A number, whole or in float64."""
    dtype = args[0].dtype
    if dtype != NULL and not (is_integer(dtype) or is_floating(dtype)):
        raise TypeMismatch(f"takes a number, got {type_name(dtype)}")
    return [FLOAT64 if is_floating(dtype) else INT64], DURATION


def instant_since_1970(args: Sequence[Expr]) -> Typing:
    """A number of seconds, whole or in float64."""
    if args[0].dtype == STRING:
        raise TypeMismatch(
            "takes seconds since 1970, got string", "Write strptime(text, format), or CAST(text AS timestamp)."
        )
    return measured(args)[0], pa.timestamp("us", tz="UTC")


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
    Function("make_time", "hour minute second", fixed(INT64, INT64, FLOAT64, returns=TIME),
             "The time of day of the parts; an error if they are not one.  Seconds may have a fraction.",
             "make_time(17, 5, 30.25)", time(17, 5, 30, 250_000), can_fail=True),
    Function("to_timestamp", "seconds", instant_since_1970, "The instant, in UTC, of seconds since 1970, as of `from_epoch`.",
             "to_timestamp(60.5)", datetime(1970, 1, 1, 0, 1, 0, 500_000, tzinfo=UTC), can_fail=True),
    Function("from_epoch", "seconds", since_1970,
             "The naive timestamp, in UTC, of seconds since 1970; a fraction is rounded to microseconds, half to even.",
             "from_epoch(60.5)", datetime(1970, 1, 1, 0, 1, 0, 500_000), can_fail=True),
    Function("from_epoch_ms", "milliseconds", fixed(INT64, returns=TIMESTAMP),
             "The naive timestamp, in UTC, of whole milliseconds since 1970.",
             "from_epoch_ms(60500)", datetime(1970, 1, 1, 0, 1, 0, 500_000), can_fail=True),
    Function("from_epoch_us", "microseconds", fixed(INT64, returns=TIMESTAMP), "The naive timestamp, in UTC, of microseconds since 1970.",
             "from_epoch_us(60500000)", datetime(1970, 1, 1, 0, 1, 0, 500_000)),
    Function("date_add", "x interval!", moved_by_interval,
             "`x + INTERVAL '1 month'`: months later, on the month's last day if it has no such day; then the interval's days and hours.  "
             "Of a date, a timestamp.  A zoned one is moved on its clock.",
             "date_add(DATE '2013-01-31', INTERVAL '1 month')", datetime(2013, 2, 28), can_fail=True),
    Function("add_days", "x n", with_clock(moved), "n days later, on the clock; a date stays a date.", f"add_days({DAY}, -9)",
             date(2013, 2, 28), can_fail=True),
    Function("add_months", "x n", with_clock(moved), "n months later, on the clock; the month's last day if it has no such day.",
             "add_months(DATE '2013-01-31', 1)", date(2013, 2, 28), can_fail=True),
    Function("date_diff", "unit! a b", with_clock(between),
             f"How many units ({LISTED}) begin after a and up to b: the `date_trunc` of b less that of a, in units.",
             f"date_diff('month', {DAY}, DATE '2013-05-01')", 2, can_fail=True, rewrite=with_unit),
    Function("date_sub", "unit! a b", with_clock(between),
             "How many whole units pass from a to b: negative ones if b is before a.  A month is complete at the same day and time of the "
             "next one, or on its last day.  Days and longer units of zoned timestamps are those of the clock.", "date_sub('month', DATE '2013-01-31', DATE '2013-02-28')", 1, can_fail=True, rewrite=with_unit),
    Function("date_trunc", "unit! x", with_clock(truncated),
             f"The start of the unit: {LISTED}.  On a zone's clock a day starts with its first instant; smaller units keep the offset.",
             f"date_trunc('month', {DAY})", date(2013, 3, 1), can_fail=True, rewrite=with_unit),
    Function("time_bucket", "width~ x origin?~", bucketed,
             "The start of the bucket: buckets are `width` long and one starts at `origin` (2000-01-03, a Monday; in UTC where zoned).  "
             "A width of months or years counts months on the clock and keeps a date a date; its origin is the start of a month (2000-01).  "
             "In the place of `origin`, an interval moves all buckets by it.",
             f"time_bucket(INTERVAL '15 minutes', {A_TIMESTAMP})", datetime(2013, 3, 9, 17), can_fail=True, rewrite=with_origin),
    lasting("weeks", "weeks(2)", timedelta(days=14)),
    lasting("days", "days(2)", timedelta(days=2)),
    lasting("hours", "hours(1.5)", timedelta(minutes=90)),
    lasting("minutes", "minutes(90)", timedelta(minutes=90)),
    lasting("seconds", "seconds(0.25)", timedelta(milliseconds=250)),
    lasting("milliseconds", "milliseconds(250)", timedelta(milliseconds=250)),
    lasting("microseconds", "microseconds(-1)", timedelta(microseconds=-1)),
)  # fmt: skip

"""Calendar: parts of dates and timestamps.  Parts of a zoned timestamp are those of its zone's clock.

Years are those of the proleptic Gregorian calendar, and the year before 1 is 0.  Weeks are those of ISO 8601: they begin on
Monday, and week 1 has the first Thursday of the year.  `extract(part FROM x)` takes year, quarter, month, week, day, hour, minute, second, millisecond,
microsecond, dow, doy, isodow, isoyear, epoch, decade, century, millennium, era, julian and yearweek; `date_part('year', x)` is the same.
`date_part(['year', 'month'], x)` is a struct, and `date_part(name, x)` of a column of names a float64.
Of intervals of months, `extract(year FROM INTERVAL '30 months')` takes year to minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, fixed, scalar_call, takes_one
from gpuetl.expressions.ir import Call, Expr
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    is_integer,
    is_temporal,
)
from gpuetl.types.time_zones import UnknownZone, is_zone

DAY, A_TIMESTAMP = "DATE '2013-03-09'", "TIMESTAMP '2013-03-09 17:05:30.25'"


def is_timestamp(dtype: DataType) -> bool:
    """Return whether `dtype` is a timestamp, naive or zoned."""
    return bool(pa.types.is_timestamp(dtype) and dtype.unit == "us")


def with_clock(rule: Rule) -> Rule:
    """The same, where every zone is in the tz database."""

    def checked(args: Sequence[Expr]) -> Typing:
        for arg in args:
            if is_timestamp(arg.dtype) and arg.dtype.tz and not is_zone(arg.dtype.tz):
                raise unknown_zone(arg.dtype.tz)
        return rule(args)

    return checked


def unknown_zone(name: str) -> TypeMismatch:
    """Word a zone that is not in the tz database."""
    return TypeMismatch(coded("GE1026", f"does not know the time zone '{name}'"), UnknownZone(name).hint)


ELAPSED = "a date, a timestamp, a time or a duration"


def counted(args: Sequence[Expr]) -> Typing:
    """A date, a timestamp, a time or a duration, whole: a date is its first moment."""
    dtype = takes_one(is_elapsed, ELAPSED)(args)[1]
    return [TIMESTAMP if dtype == DATE else dtype], INT64


def counted_or_count(args: Sequence[Expr]) -> Typing:
    """The same, or a number of milliseconds, whose moment it is."""
    return ([INT64], TIMESTAMP) if is_integer(args[0].dtype) else counted(args)


def of_count(call: Call) -> Call:
    """Return the moment of a number of milliseconds, as a call of its own."""
    return scalar_call("from_epoch_ms", call.args, TIMESTAMP) if call.dtype == TIMESTAMP else call


def is_elapsed(dtype: DataType) -> bool:
    """Return whether `dtype` is a count since 1970, since midnight, or between two moments."""
    return is_temporal(dtype) or dtype in (DURATION, TIME)


def of_day(returns: DataType) -> Rule:
    """A date or a timestamp."""
    return with_clock(takes_one(is_temporal, "a date or a timestamp", returns))


part, flag, name, day = of_day(INT64), of_day(BOOL), of_day(STRING), of_day(DATE)
clock = with_clock(takes_one(lambda dtype: is_timestamp(dtype) or dtype == TIME, "a timestamp or a time", INT64))
elapsed = takes_one(is_elapsed, ELAPSED, FLOAT64)

FUNCTIONS = (
    Function("year", "x", part, "The year.", f"year({DAY})", 2013),
    Function("decade", "x", part, "The year by 10, without its fraction.", f"decade({DAY})", 201),
    Function("century", "x", part, "The century: 2001 to 2100 are the 21st; that of the year 0 is -1.", f"century({DAY})", 21),
    Function("millennium", "x", part, "The millennium: 2001 to 3000 are the third; that of the year 0 is -1.", f"millennium({DAY})", 3),
    Function("era", "x", part, "1 from the year 1 on, else 0.", f"era({DAY})", 1),
    Function("yearweek", "x", part, "The ISO year and week in one number.", f"yearweek({DAY})", 201_310),
    Function("julian", "x", of_day(FLOAT64), "The Julian day number, from midnight, with the day's fraction.", f"julian({DAY})", 2_456_361.0),
    Function("quarter", "x", part, "The quarter, 1 to 4.", f"quarter({DAY})", 1),
    Function("month", "x", part, "The month, 1 to 12.", f"month({DAY})", 3),
    Function("week", "x", part, "The ISO week, 1 to 53.", f"week({DAY})", 10),
    Function("iso_year", "x", part, "The year to which the ISO week belongs.", "iso_year(DATE '2012-12-31')", 2013),
    Function("day", "x", part, "The day of the month.", f"day({DAY})", 9),
    Function("dayofweek", "x", part, "The day of the week: Sunday is 0, Saturday 6.", f"dayofweek({DAY})", 6),
    Function("isodow", "x", part, "The ISO day of the week: Monday is 1, Sunday 7.", f"isodow({DAY})", 6),
    Function("dayofyear", "x", part, "The day of the year, from 1.", f"dayofyear({DAY})", 68),
    Function("hour", "x", clock, "The hour, 0 to 23.", f"hour({A_TIMESTAMP})", 17),
    Function("minute", "x", clock, "The minute.", f"minute({A_TIMESTAMP})", 5),
    Function("second", "x", clock, "The second, whole.", f"second({A_TIMESTAMP})", 30),
    Function("millisecond", "x", clock, "The whole milliseconds of the second, 0 to 999.", f"millisecond({A_TIMESTAMP})", 250),
    Function("microsecond", "x", clock, "The microseconds of the second, 0 to 999,999 (of the millisecond in Arrow).",
             f"microsecond({A_TIMESTAMP})", 250_000),
    Function("day_name", "x", name, "The English name of the day of the week.", f"day_name({DAY})", "Saturday"),
    Function("month_name", "x", name, "The English name of the month.", f"month_name({DAY})", "March"),
    Function("last_day", "x", day, "The last day of the month.", f"last_day({DAY})", date(2013, 3, 31), can_fail=True),
    Function("days_in_month", "x", part, "How many days the month has.", f"days_in_month({DAY})", 31),
    Function("is_leap_year", "x", flag, "Whether the year has 366 days.", f"is_leap_year({DAY})", False),
    Function("to_date", "x", day, "The day of a timestamp.", f"to_date({A_TIMESTAMP})", date(2013, 3, 9)),
    Function("epoch", "x", elapsed, "Seconds since 1970-01-01 (UTC where zoned), of a time or a duration, with their fraction.",
             "epoch(TIMESTAMP '1970-01-01 00:01:00.5')", 60.5),
    Function("epoch_ms", "x", counted_or_count, "Milliseconds since 1970-01-01 (UTC where zoned), of a time or a duration, rounded down.  Of an integer, `from_epoch_ms`.",
             "epoch_ms(TIMESTAMP '1970-01-01 00:01:00.5')", 60_500, rewrite=of_count),
    Function("epoch_us", "x", counted, "Microseconds since 1970-01-01 (UTC where zoned), of a time or a duration.",
             "epoch_us(TIMESTAMP '1970-01-01 00:01:00.5')", 60_500_000),
    Function("epoch_ns", "x", counted, "Nanoseconds since 1970-01-01 (UTC where zoned), of a time or a duration.",
             "epoch_ns(TIMESTAMP '1970-01-01 00:01:00.5')", 60_500_000_000, can_fail=True),
)  # fmt: skip

UNKNOWN_PART = Function(
    "date_part",
    "name",
    fixed(STRING, returns=FLOAT64),
    "An error: no part of a date has this name.",
    "",
    None,
    can_fail=True,
)
INTERNAL = {UNKNOWN_PART.name: UNKNOWN_PART}

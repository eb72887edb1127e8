"""Dates, timestamps and durations.  Parts of a zoned timestamp are those of its zone's clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed, takes_one
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.types import DATE, DURATION, FLOAT64, INT64, STRING, TIMESTAMP, is_temporal, type_name

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
DAY, MOMENT = "DATE '2013-03-09'", "TIMESTAMP '2013-03-09 17:05:30.25'"

calendar = takes_one(is_temporal, "a date or a timestamp", INT64)
clock = takes_one(lambda dtype: bool(pa.types.is_timestamp(dtype)), "a timestamp", INT64)
elapsed = takes_one(lambda t: is_temporal(t) or t == DURATION, "a date, a timestamp or a duration", FLOAT64)


def truncated(args: Sequence[Expr]) -> Typing:
    """A unit's name, then a date or timestamp, whose type is kept."""
    unit, dtype = args[0], args[1].dtype
    if isinstance(unit, Literal) and unit.value not in UNITS:
        raise TypeMismatch(f"takes one of {', '.join(UNITS)}, got {unit.value!r}")
    if not is_temporal(dtype):
        raise TypeMismatch(f"takes a date or a timestamp, got {type_name(dtype)}")
    return [STRING, dtype], dtype


FUNCTIONS = (
    Function("year", "x", calendar, "The year.", f"year({DAY})", 2013),
    Function("quarter", "x", calendar, "The quarter, 1 to 4.", f"quarter({DAY})", 1),
    Function("month", "x", calendar, "The month, 1 to 12.", f"month({DAY})", 3),
    Function("day", "x", calendar, "The day of the month.", f"day({DAY})", 9),
    Function("dayofweek", "x", calendar, "The day of the week: Sunday is 0, Saturday 6.", f"dayofweek({DAY})", 6),
    Function("dayofyear", "x", calendar, "The day of the year, from 1.", f"dayofyear({DAY})", 68),
    Function("hour", "x", clock, "The hour, 0 to 23.", f"hour({MOMENT})", 17),
    Function("minute", "x", clock, "The minute.", f"minute({MOMENT})", 5),
    Function("second", "x", clock, "The second, whole.", f"second({MOMENT})", 30),
    Function("epoch", "x", elapsed, "Seconds since 1970-01-01 (UTC where zoned), or of a duration, with their fraction.",
             "epoch(TIMESTAMP '1970-01-01 00:01:00.5')", 60.5),
    Function("date_trunc", "unit! x", truncated, f"The start of the unit: {', '.join(UNITS)}; weeks begin on Monday.",
             f"date_trunc('month', {DAY})", date(2013, 3, 1)),
    Function("to_date", "x", takes_one(is_temporal, "a date or a timestamp", DATE), "The day of a timestamp.",
             f"to_date({MOMENT})", date(2013, 3, 9)),
    Function("make_timestamp", "year month day hour minute",
             fixed(INT64, INT64, INT64, INT64, INT64, returns=TIMESTAMP),
             "The naive timestamp of the parts; an error where they are no date and time.",
             "make_timestamp(2013, 3, 9, 17, 5)", datetime(2013, 3, 9, 17, 5), can_fail=True),
)  # fmt: skip

"""Dates and timestamps made, moved and truncated, and durations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.no_result import (
    BEYOND_DATES,
    BEYOND_MICROSECONDS,
    BEYOND_TIMESTAMPS,
    NOT_ABOVE_ZERO,
    OVERFLOW,
    not_valid,
)
from gpuetl.engines.pandas.columns.column import INT64_MAX, INT64_MIN
from gpuetl.engines.pandas.expressions.clock import DAY, SECOND, Clock, by_row, checked_days, first_day
from gpuetl.engines.pandas.expressions.functions.zones import instants
from gpuetl.engines.zones import Ints
from gpuetl.errors import EvaluationError
from gpuetl.types.calendar_intervals import CALENDAR
from gpuetl.types.data_types import DATE, DURATION, FLOAT64, INT64, TIME, TIMESTAMP, DataType

# Operators on durations and timestamps: those of their microseconds; the result is cast back where it is one of them.
#
# Arrow's own checked ones look at what lies behind nulls, too; those of integers do not.


OPERATORS = {
    "add": INT64, "subtract": INT64, "multiply": INT64, "divide": FLOAT64, "int_divide": INT64, "modulo": INT64,
    "negate": INT64, "abs": INT64,
}  # fmt: skip
"""The type in which each computes; Arrow's `divide` is the integers' where both are."""


def or_time(sign: int, handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler, where a time of day and a duration are a time of day, which goes on after midnight."""

    def moved_time(x: Any, y: Any) -> Any:
        if TIME not in (x.type, y.type):
            return handler(x, y)
        return by_row(lambda one, other: (one % DAY + sign * (other % DAY)) % DAY, TIME, x, y)

    return moved_time


def in_microseconds(handler: Callable[..., Any], dtype: DataType) -> Callable[..., Any]:
    """Return the handler, which takes durations and timestamps as numbers of `dtype`."""

    def converted(value: Any) -> Any:
        counts = value.type == DURATION or pa.types.is_timestamp(value.type)
        return pc.cast(pc.cast(value, INT64), dtype, safe=False) if counts else value

    return lambda *values: handler(*map(converted, values))


LENGTHS = {
    "microsecond": 1, "millisecond": 1000, "second": SECOND, "minute": 60 * SECOND, "hour": 3600 * SECOND,
    "day": DAY, "week": 7 * DAY,
}  # fmt: skip
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12_000}
SINCE_YEAR_0 = 1970 * 12
"""Months before 1970: centuries are counted from the year 0."""
YEARS, DAYS = 10_000_000, 2**33  # beyond any date and timestamp, and far from what wraps


def make_date(year: Any, month: Any, day: Any) -> Any:
    """Compose a date, checked."""
    return by_row(lambda *parts: checked_days(days_of(*parts)), DATE, year, month, day)


def days_of(year: Ints, month: Ints, day: Ints, kind: str = "date") -> Ints:
    """Return the days since 1970 of calendar dates; raise `EvaluationError` where they are none."""
    if ((month < 1) | (month > 12) | (year < -YEARS) | (year > YEARS)).any():
        raise EvaluationError(not_valid(kind))
    months = (year - 1970) * 12 + month - 1
    first = first_day(months)
    if ((day < 1) | (day > first_day(months + 1) - first)).any():
        raise EvaluationError(not_valid(kind))
    return first + day - 1


def make_timestamp(*parts: Any) -> Any:
    """Compose a timestamp from year, month, day, hour, minute and perhaps seconds, checked."""
    return by_row(compose, TIMESTAMP, *parts)


def compose(year: Ints, month: Ints, day: Ints, hour: Ints, minute: Ints, *second: NDArray[np.float64]) -> Ints:
    """Return the microseconds since 1970; raise `EvaluationError` where there are none."""
    in_day = (hour >= 0) & (hour < 24) & (minute >= 0) & (minute < 60)
    seconds = second[0] if second else np.zeros(1)
    if not (in_day & (seconds >= 0) & (seconds < 60)).all():
        raise EvaluationError(not_valid("date and time"))
    micros = np.rint(seconds * SECOND).astype(np.int64)
    return Clock(days_of(year, month, day, "date and time"), micros).moved(hour * 3600 + minute * 60).microseconds()


def make_time(*parts: Any) -> Any:
    """Compose a time of day, checked."""
    return by_row(time_of_day, TIME, *parts)


def time_of_day(hour: Ints, minute: Ints, second: NDArray[np.float64]) -> Ints:
    """Return the microseconds of the day; raise `EvaluationError` where there are none."""
    fits = (hour >= 0) & (hour < 24) & (minute >= 0) & (minute < 60) & (second >= 0) & (second < 60)
    if not fits.all():
        raise EvaluationError(not_valid("date and time"))
    micros = np.rint(second * SECOND).astype(np.int64) + (hour * 3600 + minute * 60) * SECOND
    if (micros >= DAY).any():
        raise EvaluationError(not_valid("date and time"))
    return micros


def measured(length: int, returns: DataType) -> Callable[..., Any]:
    """Return the handler of a number of units, each of these microseconds."""
    return lambda x: by_row(lambda values: whole_micros(values, length), returns, x)


def whole_micros(values: NDArray[Any], length: int) -> Ints:
    """Return integers or floats times `length`, floats rounded half to even; raise `EvaluationError` beyond int64."""
    if is_float := values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinities do not fit either
            values = np.rint(values * length)
        fits = (values >= -(2.0**63)) & (values < 2.0**63)  # NaN does not
    else:
        fits = (values >= -(-INT64_MIN // length)) & (values <= INT64_MAX // length)
    if not fits.all():
        raise EvaluationError(BEYOND_MICROSECONDS)
    return values.astype(np.int64) if is_float else values * length


def add_days(x: Any, n: Any) -> Any:
    """A number of days later."""
    return moved(x, n, lambda clock, days: Clock(clock.days + checked(days, DAYS), clock.micros))


def add_months(x: Any, n: Any) -> Any:
    """A number of months later; the last day of the month if it has no such day."""
    return moved(x, n, months_later)


def checked(amounts: Ints, limit: int) -> Ints:
    """Return amounts that lead no further than `limit`; raise `EvaluationError` for others."""
    if ((amounts < -limit) | (amounts > limit)).any():
        raise EvaluationError(BEYOND_DATES)
    return amounts


def date_add(x: Any, interval: Any) -> Any:
    """A number of months later, then so many days and microseconds."""
    parts = interval.as_py()
    micros = parts.days * DAY + parts.nanoseconds // 1000

    def later(clock: Clock) -> Clock:
        months = months_later(clock, np.full_like(clock.days, parts.months))
        days, rest = np.divmod(months.micros + micros % DAY, DAY)
        return Clock(months.days + micros // DAY + days, rest)

    return by_row(lambda values: shown_at(later(Clock.of(values, x.type)), x.type), x.type, x)


def months_later(clock: Clock, months: Ints) -> Clock:
    """Return the same day of the month so many months later, or the last day if it has no such day."""
    month = clock.months + checked(months, 12 * YEARS)
    return Clock(np.minimum(first_day(month) + clock.day, first_day(month + 1)) - 1, clock.micros)


def moved(x: Any, n: Any, move: Callable[[Clock, Ints], Clock]) -> Any:
    """Move dates and timestamps on the clock."""
    return by_row(lambda values, amounts: shown_at(move(Clock.of(values, x.type), amounts), x.type), x.type, x, n)


def shown_at(clock: Clock, dtype: DataType) -> Ints:
    """Return when a clock shows this: the later time of two, and of none as much later as it was turned forward."""
    zone = None if dtype == DATE else dtype.tz
    return instants(clock, zone, "latest", "shifted") if zone else naive(clock, dtype)


def naive(clock: Clock, dtype: DataType) -> Ints:
    """Return a date's days or a naive timestamp's microseconds, checked."""
    return checked_days(clock.days) if dtype == DATE else clock.microseconds()


def truncate(unit: Any, x: Any) -> Any:
    """The start of the unit."""
    return by_row(lambda values: starts(unit.as_py(), values, x.type), x.type, x)


def starts(unit: str, values: Ints, dtype: DataType) -> Ints:
    """Return the starts of units; a date has none smaller than a day."""
    clock = Clock.of(values, dtype)
    if unit in LENGTHS and LENGTHS[unit] < DAY:
        return values if dtype == DATE else earlier(values, clock.micros % LENGTHS[unit])
    start = Clock(first_of(unit, clock), np.zeros_like(clock.micros))
    return instants(start, dtype.tz, "earliest", "latest") if dtype != DATE and dtype.tz else naive(start, dtype)


def first_of(unit: str, clock: Clock) -> Ints:
    """Return the first day of a unit of a day or more."""
    if unit in MONTHS:
        return first_day(clock.months - (clock.months + SINCE_YEAR_0) % MONTHS[unit])
    return clock.days - clock.weekday if unit == "week" else clock.days


def earlier(values: Ints, by: Ints) -> Ints:
    """Subtract what is not negative; raise `EvaluationError` below int64."""
    if (values < INT64_MIN + by).any():
        raise EvaluationError(BEYOND_TIMESTAMPS)
    return values - by


def time_bucket(width: Any, x: Any, origin: Any = None) -> Any:
    """The start of the bucket, counted from the origin."""
    if width.type == CALENDAR:
        if origin is not None and not origin.is_valid:
            return pa.scalar(None, x.type)
        return by_row(lambda values: month_starts(width.as_py().months, values, x.type, origin), x.type, x)
    return by_row(bucket_starts, x.type, width, x, *[origin] * (origin is not None))


def bucket_starts(width: Ints, values: Ints, *origin: Ints) -> Ints:
    """Return the starts of buckets of a fixed length; raise `EvaluationError` where it is not above zero."""
    if (width <= 0).any():
        raise EvaluationError(NOT_ABOVE_ZERO)
    first = origin[0] if origin else np.zeros(1, np.int64)
    return earlier(values, (values % width - first % width) % width)


def month_starts(width: int, values: Ints, dtype: DataType, origin: Any) -> Ints:
    """Return the starts of buckets of `width` months on the clock, of which one starts with the origin's month."""
    clock = Clock.of(values, dtype)
    start = 0 if origin is None else Clock.of(np.array([origin.value]), DATE).months[0]
    first = first_day(clock.months - (clock.months - start) % width)
    begun = Clock(first, np.zeros_like(clock.micros))
    return instants(begun, dtype.tz, "earliest", "latest") if dtype != DATE and dtype.tz else naive(begun, dtype)


def date_diff(unit: Any, a: Any, b: Any) -> Any:
    """How many units begin after a and up to b."""
    return by_row(lambda x, y: units_between(unit.as_py(), x, y, a.type), INT64, a, b)


def units_between(unit: str, a: Ints, b: Ints, dtype: DataType) -> Ints:
    """Count units of a day or more on the clock, smaller ones as time that passes between their starts."""
    one, other = Clock.of(a, dtype), Clock.of(b, dtype)
    if unit in MONTHS:
        return (other.months + SINCE_YEAR_0) // MONTHS[unit] - (one.months + SINCE_YEAR_0) // MONTHS[unit]
    days = first_of(unit, other) - first_of(unit, one)
    if LENGTHS[unit] >= DAY:
        return days // (LENGTHS[unit] // DAY)
    if dtype == DATE:
        return whole_micros(days, DAY // LENGTHS[unit])
    passed = difference(starts(unit, b, dtype), starts(unit, a, dtype))
    return np.asarray(np.sign(passed) * (np.abs(passed) // LENGTHS[unit]))


def date_sub(unit: Any, a: Any, b: Any) -> Any:
    """How many whole units pass from a to b."""
    return by_row(lambda x, y: whole_units(unit.as_py(), x, y, a.type), INT64, a, b)


def whole_units(unit: str, a: Ints, b: Ints, dtype: DataType) -> Ints:
    """Count months that are complete, and other units as time that passes, both toward zero."""
    one, other = Clock.of(a, dtype), Clock.of(b, dtype)
    if unit in MONTHS:
        back = is_earlier(other, one)
        start = Clock(np.where(back, other.days, one.days), np.where(back, other.micros, one.micros))
        end = Clock(np.where(back, one.days, other.days), np.where(back, one.micros, other.micros))
        months = whole_months(start, end) // MONTHS[unit]
        return np.where(back, -months, months)
    if LENGTHS[unit] >= DAY and getattr(dtype, "tz", None):
        days = other.days - one.days
        days -= np.where(days > 0, other.micros < one.micros, 0) - np.where(days < 0, other.micros > one.micros, 0)
        return np.asarray(np.sign(days) * (np.abs(days) // (LENGTHS[unit] // DAY)))
    if dtype == DATE and LENGTHS[unit] <= DAY:
        return whole_micros(b.astype(np.int64) - a, DAY // LENGTHS[unit])
    passed = b.astype(np.int64) - a if dtype == DATE else difference(b, a)
    length = LENGTHS[unit] // (DAY if dtype == DATE else 1)
    return np.asarray(np.sign(passed) * (np.abs(passed) // length))


def is_earlier(one: Clock, other: Clock) -> Any:
    """Return whether the first clock shows an earlier time."""
    return (one.days < other.days) | ((one.days == other.days) & (one.micros < other.micros))


def whole_months(start: Clock, end: Clock) -> Ints:
    """Return how many months are complete; the last day of a month ends one that began on a later day."""
    last = first_day(end.months + 1) - first_day(end.months)
    began = np.where(end.day == last, np.minimum(start.day, last), start.day)
    incomplete = (began > end.day) | ((began == end.day) & (start.micros > end.micros))
    return np.asarray(end.months - start.months - incomplete)


def difference(x: Ints, y: Ints) -> Ints:
    """Subtract; raise `EvaluationError` beyond int64."""
    less = x - y
    if (((x ^ y) & (x ^ less)) < 0).any() or (less == INT64_MIN).any():
        raise EvaluationError(OVERFLOW)
    return less


HANDLERS: dict[str, Callable[..., Any]] = {
    "make_date": make_date,
    "make_timestamp": make_timestamp,
    "make_time": make_time,
    "to_timestamp": measured(SECOND, pa.timestamp("us", tz="UTC")),
    "from_epoch": measured(SECOND, TIMESTAMP),
    "from_epoch_ms": measured(1000, TIMESTAMP),
    "from_epoch_us": measured(1, TIMESTAMP),
    "date_add": date_add,
    "add_days": add_days,
    "add_months": add_months,
    "date_diff": date_diff,
    "date_sub": date_sub,
    "date_trunc": truncate,
    "time_bucket": time_bucket,
    **{f"{unit}s": measured(length, DURATION) for unit, length in LENGTHS.items()},
}

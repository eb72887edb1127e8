"""Parts of dates and timestamps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import NO_PART, OVERFLOW
from gpuetl.engines.pandas.columns.column import INT64_MAX, over_columns
from gpuetl.engines.pandas.expressions.clock import DAY, SECOND, Clock, by_row, checked_days, first_day
from gpuetl.engines.zones import Ints
from gpuetl.errors import EvaluationError
from gpuetl.expressions.text_rules import DAYS, MONTHS
from gpuetl.types.data_types import BOOL, DATE, FLOAT64, INT64, DataType

DAY_NAMES, MONTH_NAMES = pa.array(DAYS), pa.array(MONTHS)


def part(read: Callable[[Clock], Any], returns: DataType = INT64) -> Callable[..., Any]:
    """Return the handler of what is read off the clock."""
    return lambda x: by_row(lambda values: read(Clock.of(values, x.type)), returns, x)


def name(names: Any, read: Callable[[Clock], Any]) -> Callable[..., Any]:
    """Return the handler of a name, by its place."""
    return lambda x: over_columns(names.take, part(read)(x))


def month_days(clock: Clock) -> Ints:
    """How many days the month has."""
    return first_day(clock.months + 1) - first_day(clock.months)


def is_leap_year(clock: Clock) -> Any:
    """Whether the year has a 29th of February."""
    january = clock.months // 12 * 12
    return first_day(january + 12) - first_day(january) == 366


JULIAN_OF_1970 = 2_440_588


def truncated(years: Ints, length: int) -> Ints:
    """Divide toward zero."""
    return np.asarray(np.sign(years) * (np.abs(years) // length))


def age_of(years: Ints, length: int) -> Ints:
    """Return the centuries or millennia that years are in, from 1; there is none of number 0."""
    return np.where(years > 0, (years - 1) // length + 1, truncated(years, length) - 1)


def year_and_week(clock: Clock) -> Ints:
    """Return the ISO year and week as one number."""
    year, week = clock.thursday.year, (clock.thursday.dayofyear + 6) // 7
    return year * 100 + np.where(year > 0, week, -week)


def epoch_ns(x: Any) -> Any:
    """Nanoseconds since 1970."""
    return by_row(nanoseconds, INT64, x)


def nanoseconds(micros: Ints) -> Ints:
    """Return microseconds as nanoseconds; raise `EvaluationError` beyond int64."""
    if (np.abs(micros // 1000) > INT64_MAX // 1_000_000 - 1).any():
        beyond = [value for value in micros.tolist() if not -(2**63) <= value * 1000 < 2**63]
        if beyond:
            raise EvaluationError(OVERFLOW)
    return micros * 1000


def epoch(x: Any) -> Any:
    """Seconds since 1970, or of a duration."""
    if x.type == DATE:
        return pc.multiply(pc.cast(pc.cast(x, pa.int32()), FLOAT64), float(DAY // SECOND))
    return pc.divide(pc.cast(pc.cast(x, INT64), FLOAT64, safe=False), float(SECOND))


def epoch_ms(x: Any) -> Any:
    """Milliseconds since 1970, rounded down."""
    return by_row(lambda values: values // 1000, INT64, x)


def epoch_us(x: Any) -> Any:
    """Microseconds since 1970."""
    return pc.cast(x, INT64)


def unknown_part(name: Any) -> Any:
    """Raise `EvaluationError` where there is a name."""
    if pc.any(pc.is_valid(name)).as_py():
        raise EvaluationError(NO_PART)
    return pc.cast(name, FLOAT64)


HANDLERS: dict[str, Callable[..., Any]] = {
    "year": part(lambda clock: clock.year),
    "decade": part(lambda clock: truncated(clock.year, 10)),
    "century": part(lambda clock: age_of(clock.year, 100)),
    "millennium": part(lambda clock: age_of(clock.year, 1000)),
    "era": part(lambda clock: (clock.year > 0).astype(np.int64)),
    "yearweek": part(year_and_week),
    "julian": part(lambda clock: (clock.days + JULIAN_OF_1970) + clock.micros / DAY, FLOAT64),
    "quarter": part(lambda clock: (clock.month + 2) // 3),
    "month": part(lambda clock: clock.month),
    "week": part(lambda clock: (clock.thursday.dayofyear + 6) // 7),
    "iso_year": part(lambda clock: clock.thursday.year),
    "day": part(lambda clock: clock.day),
    "dayofweek": part(lambda clock: (clock.weekday + 1) % 7),
    "isodow": part(lambda clock: clock.weekday + 1),
    "dayofyear": part(lambda clock: clock.dayofyear),
    "hour": part(lambda clock: clock.micros // (3600 * SECOND)),
    "minute": part(lambda clock: clock.micros // (60 * SECOND) % 60),
    "second": part(lambda clock: clock.micros // SECOND % 60),
    "millisecond": part(lambda clock: clock.micros % SECOND // 1000),
    "microsecond": part(lambda clock: clock.micros % SECOND),
    "day_name": name(DAY_NAMES, lambda clock: clock.weekday),
    "month_name": name(MONTH_NAMES, lambda clock: clock.month - 1),
    "last_day": part(lambda clock: checked_days(first_day(clock.months + 1) - 1), DATE),
    "days_in_month": part(month_days),
    "is_leap_year": part(is_leap_year, BOOL),
    "to_date": part(lambda clock: clock.days, DATE),
    "epoch": epoch,
    "epoch_ms": epoch_ms,
    "epoch_us": epoch_us,
    "epoch_ns": epoch_ns,
    "date_part": unknown_part,
}

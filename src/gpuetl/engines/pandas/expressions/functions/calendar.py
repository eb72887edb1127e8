"""Parts of dates and timestamps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import over_columns
from gpuetl.engines.pandas.expressions.clock import DAY, SECOND, Clock, by_row, checked_days, first_day
from gpuetl.engines.zones import Ints
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


HANDLERS: dict[str, Callable[..., Any]] = {
    "year": part(lambda clock: clock.year),
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
}

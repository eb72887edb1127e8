"""Date and time functions on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.backends.pandas.columns import from_masked, to_masked
from gpuetl.backends.pandas.segments import Masked
from gpuetl.errors import EvaluationError
from gpuetl.expressions.types import DATE, FLOAT64, INT64, TIMESTAMP

SECONDS_A_DAY, MICROSECONDS = 86_400.0, 1e6


def day_of_week(x: Any) -> Any:
    """Sunday is 0."""
    return pc.day_of_week(x, count_from_zero=True, week_start=7)


def epoch(x: Any) -> Any:
    """Seconds since 1970, or of a duration."""
    if x.type == DATE:
        return pc.multiply(pc.cast(pc.cast(x, pa.int32()), FLOAT64), SECONDS_A_DAY)
    return pc.divide(pc.cast(pc.cast(x, INT64), FLOAT64, safe=False), MICROSECONDS)


def truncate(unit: Any, x: Any) -> Any:
    """The start of the unit; a date has no unit smaller than a day."""
    if x.type == DATE and unit.as_py() in ("hour", "minute", "second"):
        return x
    return pc.floor_temporal(x, unit=unit.as_py(), week_starts_monday=True)


def to_date(x: Any) -> Any:
    """The day on the clock of the timestamp's zone."""
    return x if x.type == DATE else pc.cast(pc.floor_temporal(local_time(x), unit="day"), DATE)


def local_time(x: Any) -> Any:
    """Return the clock of a zoned timestamp as a naive one."""
    return pc.local_timestamp(x) if x.type.tz else x


def make_timestamp(*parts: Any) -> Any:
    """Compose a timestamp from year, month, day, hour and minute, checked."""
    length = next((len(part) for part in parts if not isinstance(part, pa.Scalar)), 1)
    columns = [to_masked(pa.repeat(part, length) if isinstance(part, pa.Scalar) else part) for part in parts]
    valid = np.logical_and.reduce([column.valid for column in columns])
    year, month, day, hour, minute = (np.where(valid, column.values, 1) for column in columns)
    months = (year - 1970) * 12 + month - 1
    first = months.astype("M8[M]").astype("M8[D]")
    after = (months + 1).astype("M8[M]").astype("M8[D]")
    in_range = (month >= 1) & (month <= 12) & (hour >= 0) & (hour < 24) & (minute >= 0) & (minute < 60)
    in_range &= (day >= 1) & (day <= (after - first).astype(np.int64)) & (abs(year) < 200_000)
    if not in_range.all():
        raise EvaluationError("these parts are no date and time")
    microseconds = ((first.astype(np.int64) + day - 1) * 1440 + hour * 60 + minute) * 60_000_000
    made = from_masked(Masked(microseconds, valid), TIMESTAMP)
    return made[0] if all(isinstance(part, pa.Scalar) for part in parts) else made


HANDLERS: dict[str, Callable[..., Any]] = {
    "year": pc.year,
    "quarter": pc.quarter,
    "month": pc.month,
    "day": pc.day,
    "dayofweek": day_of_week,
    "dayofyear": pc.day_of_year,
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
    "epoch": epoch,
    "date_trunc": truncate,
    "to_date": to_date,
    "make_timestamp": make_timestamp,
}

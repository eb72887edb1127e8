"""Clocks: dates and timestamps as days and microseconds of the day, which no zone's offset and no year overflows.

Arrow's own calendar keeps years in 16 bits and wraps near the ends of int64; NumPy's is exact for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gpuetl.engines.no_result import BEYOND_DATES, BEYOND_TIMESTAMPS
from gpuetl.engines.pandas.columns.column import INT64_MAX, INT64_MIN, Masked, from_masked, over_columns, to_masked
from gpuetl.engines.zones import Ints, zone_clock
from gpuetl.errors import EvaluationError
from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, DataType

SECOND = 1_000_000
DAY = 86_400 * SECOND
THURSDAY = 3  # 1970-01-01, where Monday is 0
LEAST_DAY, GREATEST_DAY = -(2**31), 2**31 - 1


@dataclass(frozen=True, eq=False)
class Clock:
    """What clocks show: `days` since 1970-01-01 and `micros` of the day, both int64 and of one shape."""

    days: Ints
    micros: Ints

    @classmethod
    def of(cls, values: Ints, dtype: DataType) -> Clock:
        """Return the clock of a date's days, or of microseconds of a timestamp, in its zone, or of a time."""
        if dtype == DATE:
            days = values.astype(np.int64)
            return cls(days, np.zeros_like(days))
        days, micros = np.divmod(values, DAY)
        return (
            cls(days, micros).moved(zone_clock(dtype.tz).offsets_at(values // SECOND))
            if getattr(dtype, "tz", None)
            else cls(days, micros)
        )

    def moved(self, seconds: Ints) -> Clock:
        """Return the clock that shows so much more."""
        carry, micros = np.divmod(self.micros + seconds * SECOND, DAY)
        return Clock(self.days + carry, micros)

    @cached_property
    def months(self) -> Ints:
        """Months since January 1970."""
        return self.days.view("M8[D]").astype("M8[M]").astype(np.int64)

    @property
    def year(self) -> Ints:
        """The proleptic Gregorian year; the one before 1 is 0."""
        return self.months // 12 + 1970

    @property
    def month(self) -> Ints:
        """1 to 12."""
        return self.months % 12 + 1

    @property
    def day(self) -> Ints:
        """The day of the month, from 1."""
        return self.days - first_day(self.months) + 1

    @property
    def dayofyear(self) -> Ints:
        """From 1."""
        return self.days - first_day(self.months // 12 * 12) + 1

    @property
    def weekday(self) -> Ints:
        """Monday is 0."""
        return (self.days + THURSDAY) % 7

    @property
    def thursday(self) -> Clock:
        """The Thursday of the same week: its year is the ISO year, its day the ISO week's number."""
        return Clock(self.days - self.weekday + THURSDAY, self.micros)

    def microseconds(self) -> Ints:
        """Return the microseconds of a naive timestamp that shows this.

        Raises
        ------
        EvaluationError
            Where int64 does not hold them.
        """
        least, greatest = divmod(INT64_MIN, DAY), divmod(INT64_MAX, DAY)
        below = (self.days < least[0]) | ((self.days == least[0]) & (self.micros < least[1]))
        above = (self.days > greatest[0]) | ((self.days == greatest[0]) & (self.micros > greatest[1]))
        if (below | above).any():
            raise EvaluationError(BEYOND_TIMESTAMPS)
        return self.days * DAY + self.micros


def first_day(months: Ints) -> Ints:
    """Return the first days of months, both counted since 1970."""
    return months.view("M8[M]").astype("M8[D]").astype(np.int64)


def checked_days(days: Ints) -> Ints:
    """Return days that a date holds; raise `EvaluationError` for others."""
    if ((days < LEAST_DAY) | (days > GREATEST_DAY)).any():
        raise EvaluationError(BEYOND_DATES)
    return days


def by_row(compute: Callable[..., Any], dtype: DataType, *values: Any) -> Any:
    """Apply `compute` to the NumPy values of the rows in which all arguments are valid; the other rows are null.

    Arguments are columns or scalars; scalars alone give a scalar.  Times reach `compute` as integers of their unit.
    """
    return over_columns(lambda *columns: _by_valid_row(compute, dtype, [*map(to_masked, columns)]), *values)


def _by_valid_row(compute: Callable[..., Any], dtype: DataType, columns: Sequence[Masked]) -> Any:
    valid = np.logical_and.reduce(np.broadcast_arrays(*(column.valid for column in columns)))
    if len(valid) and valid.all():  # of no rows, constants have no result that is wanted
        computed = np.broadcast_to(compute(*(column.values for column in columns)), valid.shape)
    else:
        found = compute(*(np.broadcast_to(column.values, valid.shape)[valid] for column in columns))
        computed = np.zeros(valid.shape, found.dtype)
        computed[valid] = found
    return from_masked(Masked(computed, valid), dtype)

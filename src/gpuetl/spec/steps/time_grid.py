"""Even grids of times, dates and numbers: the place of a value on one, and the value at a place.

A grid begins at an origin, and its places are every so far apart: a fixed length, a number, or months of the calendar.
The place of a value is that of the last one up to it.  Both ways are expressions, so that every engine has them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from gpuetl.expressions.build import col, lit, when
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.functions.calendar import is_timestamp
from gpuetl.expressions.functions.timestamps import FIRST_MONDAY, FIRST_MONTH
from gpuetl.expressions.ir import Cast, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import DATE, INT64, TIMESTAMP, DataType, common_type, is_integer, type_name
from gpuetl.types.decimal_types import is_decimal

Every = timedelta | CalendarInterval | int | Decimal
DAY = timedelta(days=1)
MOST_DIGITS = 18
"""Of a decimal whose units are counted in 64 bits."""


class NoGrid(Exception):
    """A column, an interval and an origin make no grid: what is wrong, and what to write."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(coded("GE1851", message))
        self.hint = hint


@dataclass(frozen=True)
class TimeGrid:
    """A grid of values of a type.

    `place_of` and `value_at` make the expression of a place from that of a value, and the other way round; both may
    name the column `origin`.  `taken` is the type in which values are compared.
    """

    dtype: DataType
    taken: DataType
    origin: Expr
    place_of: Callable[[Expression], Expression]
    value_at: Callable[[Expression], Expression]

    def place(self, value: Expr) -> Expr:
        """Return the place of the last point of the grid up to a value."""
        return formula(self.place_of(col("x")), x=value, origin=self.origin)

    def first_place(self, value: Expr) -> Expr:
        """Return the place of the first point of the grid from a value on."""
        place = self.place(value)
        later = when(self.value_at(col("k")) < col("x"), 1).otherwise(0)
        return formula(col("k") + later, k=place, x=value, origin=self.origin)

    def value(self, place: Expr) -> Expr:
        """Return the value at a place."""
        found = formula(self.value_at(col("k")), k=place, origin=self.origin)
        return in_type(found, self.dtype)


def time_grid(name: str, dtype: DataType, every: Every, origin: Expr | None) -> TimeGrid:
    """Return the grid of a column.

    Raises
    ------
    NoGrid
        Where the interval or the origin do not suit the type, or the type has no grid.
    """
    if is_timestamp(dtype) or dtype == DATE:
        if isinstance(every, CalendarInterval):
            return month_grid(name, dtype, every.months, origin)
        if isinstance(every, timedelta):
            return fixed_grid(name, dtype, every, origin)
        raise NoGrid(f"every is a number, and '{name}' is {type_name(dtype)}", "Write every: 1 day.")
    if not (is_integer(dtype) or is_decimal(dtype)):
        hint = "Cast it to a decimal or to int64 in a step before." if pa.types.is_floating(dtype) else ""
        raise NoGrid(
            f"'{name}' is {type_name(dtype)}, which has no even grid", hint or "Take a timestamp, a date or a number."
        )
    if not isinstance(every, int | Decimal):
        raise NoGrid(f"every is an interval, and '{name}' is {type_name(dtype)}", "Write a number: every: 10.")
    return number_grid(name, dtype, Decimal(every), origin)


def fixed_grid(name: str, dtype: DataType, every: timedelta, origin: Expr | None) -> TimeGrid:
    """Return the grid of a fixed length, from 2000-01-03 on if there is no origin; a zoned one counts in UTC."""
    if dtype == DATE:
        if every % DAY:
            raise NoGrid(f"every is {every}, and '{name}' is date", "Write whole days, or cast it to timestamp.")
        start = bound(name, dtype, "origin", origin) if origin else Literal(FIRST_MONDAY.date(), DATE)
        days = every // DAY
        return TimeGrid(DATE, DATE, start, lambda x: floor_divide(x - col("origin"), lit(days), lit(0)),
                        lambda k: col("origin") + k * days)  # fmt: skip
    first = FIRST_MONDAY.replace(tzinfo=UTC if dtype.tz else None)
    start = bound(name, dtype, "origin", origin) if origin else Literal(first, dtype)
    return TimeGrid(
        dtype, dtype, start, lambda x: floor_divide(x - col("origin"), lit(every), lit(timedelta(0))),
        lambda k: col("origin") + k * lit(every),
    )  # fmt: skip


def month_grid(name: str, dtype: DataType, months: int, origin: Expr | None) -> TimeGrid:
    """Return the grid of months from an origin, whose day it has, or the month's last day if there is no such day."""
    if getattr(dtype, "tz", None):
        return zoned_month_grid(name, dtype, months, origin)
    start = bound(name, dtype, "origin", origin) if origin else Literal(FIRST_MONTH, DATE)
    start = in_type(start, dtype)

    def place(x: Expression) -> Expression:
        passed = month_number(x) - month_number(col("origin"))
        begun = when(col("origin").add_months(passed) > x, passed - 1).otherwise(passed)
        return floor_divide(begun, lit(months), lit(0))

    return TimeGrid(dtype, dtype, start, place, lambda k: col("origin").add_months(k * months))


def zoned_month_grid(name: str, dtype: DataType, months: int, origin: Expr | None) -> TimeGrid:
    """Return the grid of the starts of months on the clock of a zone, as `time_bucket` has them."""
    first = FIRST_MONTH
    if origin is not None:
        value = origin.value if isinstance(origin, Literal) else None
        if origin.dtype not in (DATE, TIMESTAMP) or not isinstance(value, date) or not starts_month(value):
            message = f"origin is no start of a month on a clock, as '{name}' ({type_name(dtype)}) needs it"
            raise NoGrid(message, "Write origin: DATE '2000-01-01', or take local_time(x) in a step before.")
        first = value.date() if isinstance(value, datetime) else value

    def value_at(k: Expression) -> Expression:
        middle = col("origin").add_months(k * months) + timedelta(days=14, hours=12)
        return middle.at_time_zone(dtype.tz).date_trunc("month")

    def place(x: Expression) -> Expression:
        return floor_divide(month_number(x) - month_number(col("origin")), lit(months), lit(0))

    return TimeGrid(dtype, dtype, Literal(first, DATE), place, value_at)


def number_grid(name: str, dtype: DataType, every: Decimal, origin: Expr | None) -> TimeGrid:
    """Return the grid of integers, or of decimals, whose units are counted."""
    scale = dtype.scale if is_decimal(dtype) else 0
    if is_decimal(dtype) and dtype.precision > MOST_DIGITS:
        hint = f"Cast it to decimal({MOST_DIGITS},{scale}) in a step before."
        raise NoGrid(f"'{name}' is {type_name(dtype)}, and a grid takes {MOST_DIGITS} digits", hint)
    step = every.scaleb(scale)
    if step != step.to_integral_value() or step >= 1 << 63:
        raise NoGrid(
            f"every is {every}, and '{name}' is {type_name(dtype)}", "Write a number that the column can have."
        )
    units = Decimal(10) ** scale

    def counted(x: Expression) -> Expression:
        return (x * lit(units)).cast("int64") if scale else x.cast("int64")

    def value_at(k: Expression) -> Expression:
        number = counted(col("origin")) + k * int(step)
        return number.cast("decimal(19,0)") * lit(1 / units) if scale else number

    start = bound(name, dtype, "origin", origin) if origin else in_type(Literal(0, INT64), dtype)
    return TimeGrid(
        dtype,
        dtype,
        start,
        lambda x: floor_divide(counted(x) - counted(col("origin")), lit(int(step)), lit(0)),
        value_at,
    )


def bound(name: str, dtype: DataType, key: str, value: Expr) -> Expr:
    """Return a constant in the type of a column; raise `NoGrid` where it has another kind of type."""
    wanted = INT64 if is_integer(dtype) else dtype
    fits = common_type(value.dtype, wanted) == wanted or (
        is_decimal(dtype) and (is_decimal(value.dtype) or is_integer(value.dtype))
    )
    if not fits:
        hint = {DATE: "Write DATE '2026-01-31'.", TIMESTAMP: "Write TIMESTAMP '2026-01-31 10:00'."}.get(dtype, "")
        if getattr(dtype, "tz", None):
            hint = f"Write TIMESTAMP '2026-01-31 10:00' AT TIME ZONE '{dtype.tz}'."
        raise NoGrid(
            f"{key} is {type_name(value.dtype)}, and '{name}' is {type_name(dtype)}", hint or "Write a number."
        )
    return in_type(value, wanted)


def in_type(value: Expr, dtype: DataType) -> Expr:
    """Return a value in another type; a cast to a decimal is one that checks its digits."""
    return value if value.dtype == dtype else Cast(value, dtype, implicit=not is_decimal(dtype))


def floor_divide(number: Expression, divisor: Expression, zero: Expression) -> Expression:
    """Divide by a divisor above zero, and round down."""
    return when(number % divisor < zero, number // divisor - 1).otherwise(number // divisor)


def month_number(x: Expression) -> Expression:
    """Return the number of a month since the year 0."""
    return x.year() * 12 + x.month()


def starts_month(day: date) -> bool:
    """Return whether a day or a moment is the start of a month."""
    return day.day == 1 and (not isinstance(day, datetime) or day.time() == datetime.min.time())

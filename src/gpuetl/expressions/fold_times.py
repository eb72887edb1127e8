"""Compute sums of constant moments and intervals, and compare dates with constant timestamps as dates."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

from gpuetl.expressions.functions.function import table_entry
from gpuetl.expressions.ir import Call, Cast, Literal
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import DATE, TIMESTAMP

MOVING = frozenset(["add", "subtract", "date_add"])
"""Functions that move a moment."""


def moved(function: str, one: Any, other: Any) -> Any:
    """Return a sum or a difference of moments and intervals; None for other values, and beyond Python's years.

    The engine computes those, and moves zoned timestamps by months.
    """
    try:
        if function == "date_add":
            return _later(one, other) if isinstance(one, datetime) and not one.tzinfo else None
        if not all(isinstance(value, datetime | timedelta) for value in (one, other)):
            return None
        return one + other if function == "add" else one - other
    except (OverflowError, ValueError):
        return None


def _later(moment: datetime, interval: CalendarInterval) -> datetime:
    years, month = divmod(moment.month - 1 + interval.months, 12)
    year = moment.year + years
    last = monthrange(year, month + 1)[1]
    later = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
    return later + timedelta(days=interval.days, microseconds=interval.microseconds)


_BY_DAY = {
    "equal": "equal", "not_equal": "not_equal", "less": "less_equal", "less_equal": "less_equal",
    "greater": "greater", "greater_equal": "greater",
}  # fmt: skip
"""How a date is compared with the day of a timestamp that is no midnight; it never equals one."""
_MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}


def by_day(expr: Call) -> Call:
    """Compare a date with a constant timestamp as dates: the column has statistics, and fewer bytes."""
    if expr.function.name not in _BY_DAY:
        return expr
    left, right = expr.args
    name = expr.function.name
    if isinstance(left, Literal):
        left, right, name = right, left, _MIRRORED.get(name, name)
    is_day = isinstance(left, Cast) and left.implicit and left.operand.dtype == DATE and left.dtype == TIMESTAMP
    if not (is_day and isinstance(right, Literal) and isinstance(right.value, datetime)):
        return expr
    midnight = right.value.time() == time()
    if not midnight and name in ("equal", "not_equal"):
        return expr
    assert isinstance(left, Cast)
    by = name if midnight else _BY_DAY[name]
    day = replace(right, value=right.value.date(), dtype=DATE)
    return replace(expr, function=table_entry("scalar", by), args=(left.operand, day))

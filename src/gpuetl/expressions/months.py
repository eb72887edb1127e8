"""Intervals of months in written expressions: what is added to a date or timestamp, and how often."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.syntax import Apply, Constant, Syntax
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.calendar_intervals import CalendarInterval

MAKERS = {
    "to_months": 1,
    "to_quarters": 3,
    "to_years": 12,
    "to_decades": 120,
    "to_centuries": 1200,
    "to_millennia": 12_000,
}
"""DuckDB's functions that make an interval of a number, with their months."""
MICROSECOND, DAY = timedelta(microseconds=1), 86_400_000_000
MOST_LEVELS = 16
"""How deep an interval of months may nest.  Every sum and product is looked at, and chains of them can be long."""


@dataclass(frozen=True)
class Months:
    """An interval of months, `count` times where that is an expression."""

    interval: CalendarInterval
    count: Syntax | None = None

    def negated(self) -> Months:
        """Return the same back in time."""
        return Months(-self.interval, self.count)


def is_plain_sum(node: Apply) -> bool:
    """Return whether a sum or a difference has no interval of months."""
    return node.function in ("add", "subtract") and moved(node) is None and months_of(node) is None


def months_of(node: Syntax, levels: int = MOST_LEVELS) -> Months | None:
    """Return the interval of months that an expression is, such as `n * INTERVAL '1 month'`; None for any other."""
    if isinstance(node, Constant):
        return Months(node.value) if isinstance(node.value, CalendarInterval) else None
    if not isinstance(node, Apply) or not levels:
        return None
    if node.function in MAKERS and len(node.args) == 1 and not node.keywords:
        return _times(Months(CalendarInterval(MAKERS[node.function])), node.args[0])
    if node.function == "negate" and (months := months_of(node.args[0], levels - 1)):
        return months.negated()
    if node.function in ("multiply", "add", "subtract") and len(node.args) == 2:
        return _product(*node.args, levels - 1) if node.function == "multiply" else _sum(node, levels - 1)
    return None


def _product(left: Syntax, right: Syntax, levels: int) -> Months | None:
    one, other = months_of(left, levels), months_of(right, levels)
    if (one is None) == (other is None):
        return None
    return _times(one, right) if one else _times(other, left)


def _times(months: Months | None, count: Syntax) -> Months | None:
    if months is None or months.count is not None:
        return None
    if isinstance(count, Constant) and type(count.value) is int:
        return Months(months.interval.times(count.value))
    return Months(months.interval, count)


def _sum(node: Apply, levels: int) -> Months | None:
    """Return the sum or the difference of two constants, one of them with months."""
    other = _constant(node.args[1], levels)
    one = _constant(node.args[0], levels) if other is not None else None
    if one is None or other is None or not (one.months or other.months):
        return None
    return Months(one.plus(other if node.function == "add" else -other))


def _constant(node: Syntax, levels: int) -> CalendarInterval | None:
    if isinstance(node, Constant) and isinstance(node.value, timedelta):
        micros = node.value // MICROSECOND
        days = abs(micros) // DAY * (1 if micros > 0 else -1)
        return CalendarInterval(0, days, micros - days * DAY)
    months = months_of(node, levels)
    return months.interval if months and months.count is None else None


def moved(node: Apply) -> tuple[Syntax, Months] | None:
    """Return what `x + interval`, `interval + x` and `x - interval` move, and by which months; None for other sums."""
    if len(node.args) != 2 or node.keywords:
        return None
    left, right = node.args
    if months := months_of(right):
        return (left, months.negated() if node.function == "subtract" else months) if months_of(left) is None else None
    months = months_of(left)
    return (right, months) if months and node.function != "subtract" else None


PARTS: dict[str, Callable[[int, int, int], int]] = {
    "year": lambda months, days, micros: _toward_zero(months, 12),
    "decade": lambda months, days, micros: _toward_zero(months, 120),
    "century": lambda months, days, micros: _toward_zero(months, 1200),
    "millennium": lambda months, days, micros: _toward_zero(months, 12_000),
    "quarter": lambda months, days, micros: _toward_zero(months - 12 * _toward_zero(months, 12), 3) + 1,
    "month": lambda months, days, micros: months - 12 * _toward_zero(months, 12),
    "day": lambda months, days, micros: days,
    "hour": lambda months, days, micros: _toward_zero(micros, 3_600_000_000),
    "minute": lambda months, days, micros: _toward_zero(micros, 60_000_000) - 60 * _toward_zero(micros, 3_600_000_000),
}  # fmt: skip
"""Parts of intervals, as DuckDB has them, by the functions that give those of dates."""


def part_of(node: Apply) -> Constant | None:
    """Return the part of a constant interval of months that a call is; None for any other call."""
    months = months_of(node.args[0]) if node.function in PARTS and len(node.args) == 1 else None
    if months is None or months.count is not None:
        return None
    interval = months.interval
    part = PARTS[node.function](interval.months, interval.days, interval.microseconds)
    return Constant(part, span=node.span)


def _toward_zero(x: int, y: int) -> int:
    return abs(x) // y * (1 if x > 0 else -1)


def alone(node: Syntax) -> InvalidExpression:
    """Word an interval of months where only a length of time may stand."""
    message = coded("GE1850", "an interval of months has no fixed length")
    hint = "Add it to a date or a timestamp, ts + INTERVAL '1 month'; elsewhere write days: INTERVAL '30 days'."
    return InvalidExpression(message, node.span, hint)

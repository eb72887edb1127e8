"""Distances between values as users write them: an interval such as `5 seconds`, or a number with all of its digits."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from gpuetl.expressions.interval_text import UnknownUnit, calendar_interval_of, interval_of
from gpuetl.expressions.syntax import Constant
from gpuetl.expressions.unparse import constant_text
from gpuetl.messages import coded
from gpuetl.spec.document import Node
from gpuetl.spec.forms import read_formula
from gpuetl.spec.values import BadValue
from gpuetl.types.calendar_intervals import CalendarInterval

Distance = timedelta | CalendarInterval | int | Decimal


def read_distance(node: Node, hint: str, months: bool) -> Distance:
    """Read an interval, of months only where these are taken, or a finite number.

    Raises
    ------
    BadValue
        For other values, with the hint.
    """
    found = distance_of(node, months)
    if found is None:
        shown = f"'{node.value}'" if isinstance(node.value, str) else node.kind
        raise BadValue(coded("GE1008", f"takes an interval or a number, got {shown}"), node, hint)
    return found


def distance_of(node: Node, months: bool) -> Distance | None:
    """Return the interval or the finite number that a node has."""
    value = node.value
    if isinstance(value, str):
        try:
            return calendar_interval_of(value) if months else interval_of(value)
        except UnknownUnit as error:
            raise BadValue(coded("GE1112", f"interval unit '{error}' is not supported"), node, error.hint) from None
        except ValueError:
            syntax = read_formula(node).syntax
            value = syntax.value if isinstance(syntax, Constant) else None
            value = getattr(value, "exact", value)
    if isinstance(value, bool) or not isinstance(value, timedelta | CalendarInterval | int | float | Decimal):
        return None
    if isinstance(value, CalendarInterval) and not months:
        return None
    if isinstance(value, float):
        value = Decimal(node.written or repr(value))
    return value if not isinstance(value, Decimal) or value.is_finite() else None


def write_distance(value: Distance) -> str | int | float:
    """Write an interval as SQL, an integer as it is, and another number with all of its digits."""
    if isinstance(value, timedelta | CalendarInterval):
        return constant_text(value).replace("INTERVAL", "interval")
    if isinstance(value, int) or Decimal(repr(float(value))) != value:
        return value if isinstance(value, int) else f"{value:f}"
    return float(value)

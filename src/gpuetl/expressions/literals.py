"""Literals of a parsed tree: numbers, texts, intervals, and the types that casts name."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp

from gpuetl.errors import InvalidExpression, suggestion
from gpuetl.expressions.constants import UnknownUnit, interval_of, type_text
from gpuetl.expressions.dialect import Language, span_of
from gpuetl.expressions.numbers import has_type
from gpuetl.expressions.syntax import Constant
from gpuetl.messages import coded
from gpuetl.types.data_types import NAMED, SQL_NAMES, DataType, parse_type
from gpuetl.types.decimal_types import Number, exact_decimal
from gpuetl.types.time_zones import UnknownZone


def number_or_text(node: exp.Literal) -> Constant:
    """Return a number or a text as a constant."""
    return Constant(node.this if node.is_string else number_of(node), span=span_of(node))


def number_of(node: exp.Literal) -> int | float | Number:
    """Read a number, exactly to 38 digits: an int where it has digits only, a float where that has the same digits.

    One of more digits is the nearest float64; raise `InvalidExpression` for one beyond it.
    """
    text = node.this.replace("_", "")
    try:
        value: int | float = int(text) if text.isdecimal() else float(text)
    except ValueError:  # no digits after an exponent, or thousands of them
        raise InvalidExpression(coded("GE1112", f"{text[:20]} is not a number"), span_of(node)) from None
    if isinstance(value, int):
        return value
    if math.isinf(value):
        raise InvalidExpression(coded("GE1112", f"{text} is not a valid float64"), span_of(node))
    exact = Number.of(Decimal(text))
    return exact if exact != exact_decimal(value) and has_type(exact) else value


def interval(node: exp.Interval) -> Constant:
    """Return an interval as a constant; raise `InvalidExpression` where it has no fixed length or two units."""
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        raise InvalidExpression(
            coded("GE1112", "an interval has one unit"), span_of(node), "Write interval '90 minutes'."
        )
    try:
        return Constant(interval_of(f"{node.this.name} {unit.name if unit else ''}".strip()), span=span_of(node))
    except UnknownUnit as error:
        message = coded("GE1112", f"interval unit '{error}' is not supported")
        raise InvalidExpression(message, span_of(node), error.hint) from None
    except ValueError as error:
        raise InvalidExpression(str(error), span_of(node), "Write interval '90 minutes'.") from None


def cast_target(node: exp.Cast) -> DataType:
    """Return the type that a cast names; raise `InvalidExpression` where the language has none of that name."""
    to = node.args["to"]
    try:
        return parse_type(type_text(to))
    except UnknownZone as error:
        raise InvalidExpression(str(error), span_of(node), error.hint) from None
    except ValueError:
        name = to.sql(dialect=Language).lower()
        hint = f"Types: {', '.join(NAMED)}, decimal(p,s). {suggestion(name, [*NAMED, *SQL_NAMES])}".rstrip()
        raise InvalidExpression(coded("GE1025", f"unknown type '{name}'"), span_of(node), hint) from None


LITERALS: dict[type[exp.Expr], Callable[[Any], Constant]] = {
    exp.Literal: number_or_text,
    exp.Interval: interval,
    exp.Boolean: lambda node: Constant(bool(node.this)),
    exp.Null: lambda node: Constant(None),
}

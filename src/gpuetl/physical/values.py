"""How many distinct values a column may have, and between which limits: by its type, and what it is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from math import inf, prod
from typing import Any, Protocol

from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal
from gpuetl.physical.sequence import Limits
from gpuetl.types.data_types import BOOL, DataType, integer_limits, is_integer

PARTS = {
    "sign": 4, "quarter": 4, "month": 12, "week": 53, "day": 31, "dayofweek": 7, "isodow": 7, "dayofyear": 366,
    "day_name": 7, "month_name": 12, "days_in_month": 4, "hour": 24, "minute": 60, "second": 60,
}  # fmt: skip
"""Values of functions that have few."""


class Known(Protocol):
    """What is known of a column."""

    @property
    def distinct(self) -> float:
        """How many values it has at most beside null."""

    @property
    def limits(self) -> Callable[[], Limits]:
        """Returns between which they lie."""


def most_values(expr: Expr, columns: Mapping[str, Known]) -> float:
    """Return how many values an expression of columns has at most beside null.

    A function gives one value for the same arguments, so that it has no more than these have combinations.
    """
    if isinstance(expr, Column):
        return columns[expr.name].distinct
    if isinstance(expr, Cast):
        return min(most_values(expr.operand, columns), values_of_type(expr.dtype))
    if not isinstance(expr, Call):
        return 1
    of_arguments = [most_values(argument, columns) for argument in expr.args]
    if expr.function.name == "case":
        most = sum(of_arguments[1::2]) + (of_arguments[-1] if len(of_arguments) % 2 else 0)
    elif expr.function.name == "coalesce":
        most = sum(of_arguments)
    else:
        most = prod(values + 1 for values in of_arguments)
    if expr.function.name == "year" and isinstance(expr.args[0], Column):
        most = min(most, years_between(*columns[expr.args[0].name].limits()))
    return min(most, PARTS.get(expr.function.name, inf), values_of_type(expr.dtype))


def limits_of(expr: Expr, columns: Mapping[str, Known]) -> Limits:
    """Return the least and the greatest value of an expression beside null, as far as its columns' limits tell."""
    if isinstance(expr, Column):
        return columns[expr.name].limits()
    if isinstance(expr, Cast) and is_integer(expr.dtype) and is_integer(expr.operand.dtype):
        limits = limits_of(expr.operand, columns)
        least, greatest = integer_limits(expr.operand.dtype) if None in limits else limits
        of_type = integer_limits(expr.dtype)
        return max(least, of_type[0]), min(greatest, of_type[1])
    if isinstance(expr, Call) and expr.function.name == "case":
        otherwise = expr.args[len(expr.args) // 2 * 2 :]
        found = [
            limits_of(value, columns) for value in (*expr.args[1::2], *otherwise) if value != Literal(None, expr.dtype)
        ]
        if found and not any(None in limits for limits in found):
            return min(least for least, _ in found), max(greatest for _, greatest in found)
    return (expr.value, expr.value) if isinstance(expr, Literal) else (None, None)


def values_of_type(dtype: DataType) -> float:
    """Return how many values there are of a type, of a narrow one."""
    if not (dtype == BOOL or is_integer(dtype)):
        return inf
    bits: int = dtype.bit_width
    return float(2**bits)


def values_between(least: Any, greatest: Any) -> float:
    """Return how many values there may be between limits and at them: whole numbers, or days."""
    if isinstance(least, int) and isinstance(greatest, int):
        return 1 + greatest - least
    if is_day(least) and is_day(greatest):
        return 1 + int((greatest - least).days)
    return 1 if least is not None and least == greatest else inf


def is_day(value: Any) -> bool:
    """Tell whether a value is a date without a time."""
    return isinstance(value, date) and not isinstance(value, datetime)


def years_between(least: Any, greatest: Any) -> float:
    """Return how many years dates or times between limits lie in; a zone's may be one more at each end."""
    if isinstance(least, date) and isinstance(greatest, date):
        return 3 + greatest.year - least.year
    return inf

"""How many distinct values a column may have, by its type and by what it is computed from."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod

from gpuetl.expressions.ir import Call, Cast, Column, Expr
from gpuetl.expressions.types import BOOL, DataType, is_integer

PARTS = {
    "sign": 4, "quarter": 4, "month": 12, "week": 53, "day": 31, "dayofweek": 7, "isodow": 7, "dayofyear": 366,
    "day_name": 7, "month_name": 12, "days_in_month": 4, "hour": 24, "minute": 60, "second": 60,
}  # fmt: skip
"""Values of functions that have few."""


def most_values(expr: Expr, column: Callable[[str], float]) -> float:
    """Return how many values an expression has at most beside null; `column` says it of columns.

    A function gives one value for the same arguments, so that it has no more than these have combinations.
    """
    if isinstance(expr, Column):
        return column(expr.name)
    if isinstance(expr, Cast):
        return min(most_values(expr.operand, column), values_of_type(expr.dtype))
    if not isinstance(expr, Call):
        return 1
    of_arguments = [most_values(argument, column) for argument in expr.args]
    if expr.function.name == "case":
        most = sum(of_arguments[1::2]) + (of_arguments[-1] if len(of_arguments) % 2 else 0)
    elif expr.function.name == "coalesce":
        most = sum(of_arguments)
    else:
        most = prod(values + 1 for values in of_arguments)
    return min(most, PARTS.get(expr.function.name, inf), values_of_type(expr.dtype))


def values_of_type(dtype: DataType) -> float:
    """Return how many values there are of a type, of a narrow one."""
    if dtype == BOOL:
        return 2
    return 2.0**dtype.bit_width if is_integer(dtype) else inf

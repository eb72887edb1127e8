"""Compute what is constant in an expression: logic with known booleans, comparisons and calculations of literals."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from gpuetl.expressions.fold_times import MOVING, by_day, moved
from gpuetl.expressions.ir import Call, Cast, Expr, Literal, transform
from gpuetl.types.data_types import BOOL, INT64, integer_fits

# Only where Python's result is the contract's: exact integers, comparisons, no division.
_EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip


def fold(expr: Expr) -> Expr:
    """Return an expression of the same value and type in which constant parts are literals."""
    return transform(expr, _fold_one)


def _fold_one(expr: Expr) -> Expr:
    if not isinstance(expr, Call):
        return expr
    if expr.function.name in ("and", "or"):
        return _connected(expr)
    expr = by_day(expr)
    if not all(isinstance(arg, Literal) for arg in expr.args):
        return expr
    values = [arg.value for arg in expr.args if isinstance(arg, Literal)]
    name = expr.function.name
    if name == "not" and type(values[0]) is bool:
        return Literal(not values[0], BOOL)
    if name == "is_null":
        return Literal(values[0] is None, BOOL)
    if name in _EXACT and all(type(value) is int for value in values):
        result = _EXACT[name](*values)
        fits = isinstance(result, bool) or integer_fits(result, INT64)
        return Literal(result, expr.dtype, is_declared(expr)) if fits and expr.dtype in (INT64, BOOL) else expr
    same = name in _EXACT and expr.dtype == BOOL and len({type(value) for value in values}) == 1
    if same and (isinstance(values[0], date) or (isinstance(values[0], str) and name in ("equal", "not_equal"))):
        return expr if is_declared(expr) else Literal(_EXACT[name](*values), BOOL)
    if name in MOVING and (moment := moved(name, *values)) is not None:
        return Literal(moment, expr.dtype, is_declared(expr))
    return expr


def is_declared(expr: Call) -> bool:
    """Return whether a calculation of literals is one of parameters, too: it differs from run to run as they do."""
    return any(isinstance(arg, Literal) and arg.declared for arg in expr.args)


def _connected(expr: Call) -> Expr:
    """Drop the neutral operands of AND and OR; one absorbing operand decides."""
    neutral = Literal(expr.function.name == "and", BOOL)
    absorbing = Literal(expr.function.name == "or", BOOL)
    if absorbing in expr.args:
        return absorbing
    rest = tuple(arg for arg in expr.args if arg != neutral)
    if len(rest) > 1:
        return replace(expr, args=rest)
    return rest[0] if rest else neutral


def keeps_no_row(predicate: Expr) -> str:
    """Return "false" or "null" where a predicate is that for every row, whatever the columns hold; else nothing."""
    folded = fold(predicate)
    if isinstance(folded, Literal) and folded.value is False:
        return "false"
    return "null" if _is_null(folded) else ""


def _is_null(expr: Expr) -> bool:
    """Return whether an expression is null for every row: a null, or what makes null of it."""
    if isinstance(expr, Literal):
        return expr.value is None
    if isinstance(expr, Cast):
        return _is_null(expr.operand)
    if not isinstance(expr, Call) or expr.function.kind != "scalar":
        return False
    if expr.function.name in ("and", "or", "coalesce"):
        return all(map(_is_null, expr.args))
    if expr.function.name == "in":
        return _is_null(expr.args[0]) or all(map(_is_null, expr.args[1:]))
    return expr.function.nulls == "propagate" and any(map(_is_null, expr.args))

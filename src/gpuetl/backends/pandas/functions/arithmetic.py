"""Arithmetic and mathematics on Arrow values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.backends.pandas import decimals
from gpuetl.expressions.decimals import integer_decimal, is_decimal
from gpuetl.expressions.types import is_floating

Handler = Callable[..., Any]


def by_type(checked: Handler, ieee: Handler, exact: Handler) -> Handler:
    """Return a handler that is checked for integers and times, IEEE for floats, and exact for decimals."""

    def handler(*values: Any) -> Any:
        dtype = values[0].type
        return (ieee if is_floating(dtype) else exact if is_decimal(dtype) else checked)(*values)

    return handler


def divide_integers(x: Any, y: Any) -> Any:
    """Truncate toward zero; null where y is 0."""
    return decimals.divide_truncating(x, y) if is_decimal(x.type) else pc.divide_checked(x, null_where_zero(y))


def remainder(x: Any, y: Any) -> Any:
    """The remainder of truncating division, with the sign of x; null where y is 0."""
    if is_decimal(x.type):
        return decimals.remainder(x, y)
    # x // -1 overflows for the least integer, whose remainder is 0 all the same
    divisor = pc.if_else(pc.equal(y, -1), 1, null_where_zero(y))
    return pc.subtract(x, pc.multiply(pc.divide(x, divisor), divisor))


def null_where_zero(y: Any) -> Any:
    """Return y with nulls for zeros."""
    return pc.if_else(pc.equal(y, 0), pa.scalar(None, y.type), y)


def unchanged(x: Any) -> Any:
    """A whole number is what it is."""
    return x


def round_half_even(x: Any, digits: Any = None) -> Any:
    """Round to `digits` places."""
    places = digits.as_py() if digits is not None else None
    if is_decimal(x.type):
        return decimals.round_half_even(x, places)
    if is_floating(x.type):
        return pc.round(x, ndigits=places or 0, round_mode="half_to_even")
    if places is None or places >= 0:
        return x
    whole = pc.cast(x, integer_decimal(x.type))  # Arrow refuses powers of ten beyond x's type
    return pc.cast(decimals.round_half_even(whole, places), x.type)


def radians(x: Any) -> Any:
    """Degrees to radians."""
    return pc.multiply(x, pa.scalar(math.pi / 180, x.type))


def degrees(x: Any) -> Any:
    """Radians to degrees."""
    return pc.multiply(x, pa.scalar(180 / math.pi, x.type))


HANDLERS: dict[str, Callable[..., Any]] = {
    "add": by_type(pc.add_checked, pc.add, decimals.add_or_subtract(pc.add)),
    "subtract": by_type(pc.subtract_checked, pc.subtract, decimals.add_or_subtract(pc.subtract)),
    "multiply": by_type(pc.multiply_checked, pc.multiply, decimals.multiply),
    "divide": pc.divide,
    "int_divide": divide_integers,
    "modulo": remainder,
    "negate": by_type(pc.negate_checked, pc.negate, pc.negate),
    "abs": by_type(pc.abs_checked, pc.abs, pc.abs),
    "sign": pc.sign,
    "round": round_half_even,
    "floor": by_type(unchanged, pc.floor, decimals.rounding(pc.floor)),
    "ceil": by_type(unchanged, pc.ceil, decimals.rounding(pc.ceil)),
    "trunc": by_type(unchanged, pc.trunc, pc.trunc),
    "sqrt": pc.sqrt,
    "exp": pc.exp,
    "ln": pc.ln,
    "log10": pc.log10,
    "log2": pc.log2,
    "power": pc.power,
    "sin": pc.sin,
    "cos": pc.cos,
    "tan": pc.tan,
    "asin": pc.asin,
    "acos": pc.acos,
    "atan": pc.atan,
    "atan2": pc.atan2,
    "radians": radians,
    "degrees": degrees,
    "is_nan": pc.is_nan,
    "joined_halves": decimals.joined_halves,
}

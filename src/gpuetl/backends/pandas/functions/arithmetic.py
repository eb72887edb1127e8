"""Arithmetic and mathematics on Arrow values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.expressions.types import is_floating, is_integer


def int_or_float(checked: Callable[..., Any], ieee: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler that is checked for integers and times, and IEEE for floats."""

    def handler(*values: Any) -> Any:
        return (ieee if is_floating(values[0].type) else checked)(*values)

    return handler


def divide_integers(x: Any, y: Any) -> Any:
    """Truncate toward zero; null where y is 0."""
    return pc.divide_checked(x, null_where_zero(y))


def remainder(x: Any, y: Any) -> Any:
    """The remainder of truncating division, with the sign of x; null where y is 0."""
    # x // -1 overflows for the least integer, whose remainder is 0 all the same
    divisor = pc.if_else(pc.equal(y, -1), 1, null_where_zero(y))
    return pc.subtract(x, pc.multiply(pc.divide(x, divisor), divisor))


def null_where_zero(y: Any) -> Any:
    """Return y with nulls for zeros."""
    return pc.if_else(pc.equal(y, 0), pa.scalar(None, y.type), y)


def kept_if_integer(ieee: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler that leaves integers as they are."""

    def handler(x: Any) -> Any:
        return x if is_integer(x.type) else ieee(x)

    return handler


def round_half_even(x: Any, digits: Any = None) -> Any:
    """Round to `digits` places."""
    places = digits.as_py() if digits is not None else 0
    if is_integer(x.type) and places >= 0:
        return x
    return pc.round(x, ndigits=places, round_mode="half_to_even")


def radians(x: Any) -> Any:
    """Degrees to radians."""
    return pc.multiply(x, pa.scalar(math.pi / 180, x.type))


def degrees(x: Any) -> Any:
    """Radians to degrees."""
    return pc.multiply(x, pa.scalar(180 / math.pi, x.type))


HANDLERS: dict[str, Callable[..., Any]] = {
    "add": int_or_float(pc.add_checked, pc.add),
    "subtract": int_or_float(pc.subtract_checked, pc.subtract),
    "multiply": int_or_float(pc.multiply_checked, pc.multiply),
    "divide": pc.divide,
    "int_divide": divide_integers,
    "modulo": remainder,
    "negate": int_or_float(pc.negate_checked, pc.negate),
    "abs": int_or_float(pc.abs_checked, pc.abs),
    "sign": pc.sign,
    "round": round_half_even,
    "floor": kept_if_integer(pc.floor),
    "ceil": kept_if_integer(pc.ceil),
    "trunc": kept_if_integer(pc.trunc),
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
}

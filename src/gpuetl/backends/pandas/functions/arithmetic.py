"""Arithmetic on Arrow values."""

from __future__ import annotations

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


def null_where(
    checked: Callable[..., Any], wrapping: Callable[..., Any], wrapped: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a handler that is null where integers overflow: where `wrapped(x, y, result)`; IEEE for floats."""

    def handler(x: Any, y: Any) -> Any:
        if is_floating(x.type):
            return wrapping(x, y)
        try:
            return checked(x, y)
        except pa.ArrowInvalid:
            result = wrapping(x, y)
            return pc.if_else(wrapped(x, y, result), pa.scalar(None, result.type), result)

    return handler


def sum_wrapped(x: Any, y: Any, result: Any) -> Any:
    """Two's complement: the sum has the sign of neither operand."""
    return pc.less(pc.bit_wise_and(pc.bit_wise_xor(x, result), pc.bit_wise_xor(y, result)), 0)


def difference_wrapped(x: Any, y: Any, result: Any) -> Any:
    """Two's complement: the operands differ in sign, and the difference from x."""
    return pc.less(pc.bit_wise_and(pc.bit_wise_xor(x, y), pc.bit_wise_xor(x, result)), 0)


def product_wrapped(x: Any, y: Any, result: Any) -> Any:
    """Dividing does not give y back; the least integer by -1, which has no quotient, is 0 in Arrow."""
    return pc.and_(pc.not_equal(x, 0), pc.not_equal(pc.divide(result, pc.if_else(pc.equal(x, 0), 1, x)), y))


def shifted(shift: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler that shifts, null where there are no such bits; in two steps, since Arrow's 63 is 0."""

    def handler(x: Any, bits: Any) -> Any:
        known = pc.if_else(pc.equal(pc.bit_wise_and(bits, 63), bits), bits, pa.scalar(None, bits.type))
        half = pc.shift_right(known, 1)
        return shift(shift(x, half), pc.subtract(known, half))

    return handler


def clip(x: Any, low: Any, high: Any) -> Any:
    """Bound x; NaN compares to nothing and stays."""
    bounded = pc.if_else(pc.less(x, low), low, pc.if_else(pc.greater(x, high), high, x))
    return pc.if_else(pc.and_(pc.is_valid(low), pc.is_valid(high)), bounded, pa.scalar(None, x.type))


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
    "try_add": null_where(pc.add_checked, pc.add, sum_wrapped),
    "try_subtract": null_where(pc.subtract_checked, pc.subtract, difference_wrapped),
    "try_multiply": null_where(pc.multiply_checked, pc.multiply, product_wrapped),
    "bit_and": pc.bit_wise_and,
    "bit_or": pc.bit_wise_or,
    "bit_xor": pc.bit_wise_xor,
    "bit_not": pc.bit_wise_not,
    "shift_left": shifted(pc.shift_left),
    "shift_right": shifted(pc.shift_right),
    "clip": clip,
}

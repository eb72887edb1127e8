"""Arithmetic on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.expressions import decimals
from gpuetl.engines.pandas.expressions.clock import by_row, checked_days
from gpuetl.types.data_types import DATE, INT64, is_floating
from gpuetl.types.decimal_types import is_decimal

Handler = Callable[..., Any]
FAR = 2**33
"""Days beyond any date, and far from what wraps."""


def by_type(checked: Handler, ieee: Handler, exact: Handler) -> Handler:
    """Return a handler that is checked for integers and times, IEEE for floats, and exact for decimals."""

    def handler(*values: Any) -> Any:
        dtype = values[0].type
        return (ieee if is_floating(dtype) else exact if is_decimal(dtype) else checked)(*values)

    return handler


def or_days(shift: Callable[[Any, Any], Any], other: Handler) -> Handler:
    """Return a handler that takes dates as days."""

    def handler(x: Any, y: Any) -> Any:
        if DATE not in (x.type, y.type):
            return other(x, y)
        returns = INT64 if x.type == y.type else DATE

        def days(one: Any, another: Any) -> Any:
            near = shift(np.clip(one.astype(np.int64), -FAR, FAR), np.clip(another.astype(np.int64), -FAR, FAR))
            return near if returns == INT64 else checked_days(near)

        return by_row(days, returns, x, y)

    return handler


def divide_integers(x: Any, y: Any) -> Any:
    """Truncate toward zero; null where y is 0."""
    return decimals.divide_truncating(x, y) if is_decimal(x.type) else pc.divide_checked(x, null_where_zero(y))


def remainder(x: Any, y: Any) -> Any:
    """The remainder of truncating division, with the sign of x; null where y is 0, of floats NaN."""
    if is_decimal(x.type):
        return decimals.remainder(x, y)
    if is_floating(x.type):
        with np.errstate(invalid="ignore"):
            return by_row(np.fmod, x.type, x, y)
    # x // -1 overflows for the least integer, whose remainder is 0 all the same
    divisor = pc.if_else(pc.equal(y, -1), 1, null_where_zero(y))
    return pc.subtract(x, pc.multiply(pc.divide(x, divisor), divisor))


def null_where_zero(y: Any) -> Any:
    """Return y with nulls for zeros."""
    return pc.if_else(pc.equal(y, 0), pa.scalar(None, y.type), y)


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
    "add": or_days(np.add, by_type(pc.add_checked, pc.add, decimals.add_or_subtract(pc.add))),
    "subtract": or_days(np.subtract, by_type(pc.subtract_checked, pc.subtract, decimals.add_or_subtract(pc.subtract))),
    "multiply": by_type(pc.multiply_checked, pc.multiply, decimals.multiply),
    "divide": pc.divide,
    "int_divide": divide_integers,
    "modulo": remainder,
    "negate": by_type(pc.negate_checked, pc.negate, pc.negate),
    "abs": by_type(pc.abs_checked, pc.abs, pc.abs),
    "sign": pc.sign,
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

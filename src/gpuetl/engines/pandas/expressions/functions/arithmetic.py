"""Arithmetic on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import OVERFLOW
from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, to_masked
from gpuetl.engines.pandas.expressions import decimals
from gpuetl.engines.pandas.expressions.clock import by_row, checked_days
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import DATE, FLOAT64, INT64, is_floating
from gpuetl.types.decimal_types import integer_decimal, is_decimal

Handler = Callable[..., Any]
FAR = 2**33
"""Days beyond any date, and far from what wraps."""
EXACT_PLACES = 8
WIDE = Context(prec=400)
"""Holds every digit of a float32."""


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
        rounded = round_doubles if x.type == FLOAT64 else round_singles
        return over_columns(lambda column: rounded(column, places or 0), x)
    if places is None or places >= 0:
        return x
    whole = pc.cast(x, integer_decimal(x.type))  # Arrow refuses powers of ten beyond x's type
    return pc.cast(decimals.round_half_even(whole, places), x.type)


def round_doubles(x: Any, places: int) -> Any:
    """Scale by a power of ten, round half to even, and scale back; Arrow's powers beyond 10^10 are not exact.

    Raises
    ------
    EvaluationError
        Where the scaled value leaves the type.
    """
    column = to_masked(x)
    values, kind = column.values, column.values.dtype.type
    with np.errstate(all="ignore"):
        power = kind(float(f"1e{abs(places)}"))
        scaled = values / power if places < 0 else values * power
        whole_values = np.rint(scaled)
        result = whole_values * power if places < 0 else whole_values / power
        unchanged_values = ~np.isfinite(values) | (np.isfinite(scaled) & (whole_values == scaled))
        vanishing = np.isfinite(values) & (places < 0) & (np.abs(values) <= power / 2)
        result = np.where(vanishing, values * 0, np.where(unchanged_values, values, result))
    if (np.isfinite(values) & ~np.isfinite(result)).any():
        raise EvaluationError(OVERFLOW)
    return from_masked(Masked(result.astype(kind), column.valid), x.type)


def round_singles(x: Any, places: int) -> Any:
    """Round float32 to the nearest float32 of the exact decimal.

    float64 holds a product with 10^8 exactly, and of quotients by it none lies so near to the middle between two
    float32 that rounding it twice would matter.  From 2^26 units on, float32 has no other value as near.

    Raises
    ------
    EvaluationError
        For a result beyond float32.
    """
    column = to_masked(x)
    values = column.values.astype(np.float64)
    with np.errstate(all="ignore"):
        power = float(f"1e{abs(places)}")
        scaled = values / power if places < 0 else values * power
        rounded = np.rint(scaled) * power if places < 0 else np.rint(scaled) / power
        near = np.isfinite(values) & (np.abs(scaled) < 2**26)
        if abs(places) > EXACT_PLACES:
            rounded[near] = [exactly_rounded(value, places) for value in values[near]]
        result = np.where(near, rounded, values).astype(np.float32)
    if (np.isfinite(values) & ~np.isfinite(result)).any():
        raise EvaluationError(OVERFLOW)
    return from_masked(Masked(result, column.valid), x.type)


def exactly_rounded(value: float, places: int) -> float:
    """Return the nearest float32 of a rounded decimal."""
    exact = Decimal(value).quantize(Decimal((0, (1,), -places)), ROUND_HALF_EVEN, WIDE)
    nearest: float = pa.scalar(f"{exact:f}").cast(pa.float32()).as_py()
    return nearest


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
    "round": round_half_even,
    "floor": by_type(unchanged, pc.floor, decimals.rounding(pc.floor)),
    "ceil": by_type(unchanged, pc.ceil, decimals.rounding(pc.ceil)),
    "trunc": by_type(unchanged, pc.trunc, decimals.truncate),
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

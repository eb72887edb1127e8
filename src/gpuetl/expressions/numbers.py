"""Numbers of the text and their arithmetic: exact until a column beside them, or a cast, decides their type.

`Literal.number` has the exact number.  The literal's value and type are those that it has alone: int64 for digits only,
a decimal for more of them than int64 holds, else float64.  A number of more than 38 digits is a float64, and so is a
quotient that has no end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.expressions.ir import Expr, Literal
from gpuetl.types.data_types import FLOAT64, INT64, integer_fits, literal_type
from gpuetl.types.decimal_types import (
    MAX_DIGITS,
    Number,
    constant_decimal,
    exact_decimal,
    in_scale,
    is_decimal,
    without_zeros,
)

EXACT = Context(prec=2000)
"""Holds sums and products of any two float64."""
FINITE = Context(prec=MAX_DIGITS)
MOST_PLACES = 400
"""No float64 has a digit so far from the point."""


def constant_literal(value: Any) -> Literal:
    """Return a constant, whose number is exact; raise `ValueError` for one that has no type."""
    if isinstance(value, tuple):  # both ends of a frame
        return Literal(value, pa.list_(literal_type(next((at for at in value if at is not None), None))))
    dtype = literal_type(value)
    if isinstance(value, Number):
        return Literal(float(value), dtype, number=Decimal(value))
    if type(value) is int:
        return Literal(Decimal(value) if is_decimal(dtype) else value, dtype, number=Decimal(value))
    if isinstance(value, Decimal):
        return Literal(in_scale(value, dtype), dtype)
    return Literal(value, dtype, number=exact_decimal(value) if isinstance(value, float) else None)


def has_type(number: Decimal) -> bool:
    """Return whether 38 digits hold a number."""
    try:
        constant_decimal(number)
    except ValueError:
        return False
    return True


def loses_digits(literal: Literal) -> bool:
    """Return whether a literal's float64 does not have all digits of its number, which 38 hold."""
    number = literal.number
    return (
        literal.dtype == FLOAT64 and number is not None and exact_decimal(literal.value) != number and has_type(number)
    )


def single(number: Decimal) -> float:
    """Return the nearest float32, which may be infinite."""
    with np.errstate(over="ignore", under="ignore"):
        nearest: float = np.float32(float(number)).item()
    return nearest


def adapts_to_single(number: Decimal) -> bool:
    """Return whether a number has a float32 beside it: none that is infinite, or 0 for what is not."""
    return math.isfinite(single(number)) and bool(single(number)) == bool(number)


def folded(function: str, args: Sequence[Expr]) -> Literal | None:
    """Calculate with numbers of the text; None where one of them is something else, or where rows have no result."""
    if function not in _FOLDED:
        return None
    numbers = [arg.number for arg in args if isinstance(arg, Literal) and arg.number is not None]
    if len(numbers) < len(args):
        return None
    if function in ("int_divide", "modulo") and not numbers[1]:
        return Literal(None, FLOAT64 if any(arg.dtype == FLOAT64 for arg in args) else INT64)
    try:
        result = _FOLDED[function](*numbers)
    except ArithmeticError:  # of a divisor of 0
        return None
    if isinstance(result, Decimal) and function != "divide" and all(arg.dtype != FLOAT64 for arg in args):
        return _integer_literal(result, args)
    value = _nearest(result)
    exact = without_zeros(result) if isinstance(result, Decimal) else None
    if not math.isfinite(value):
        return None
    return Literal(value, FLOAT64, number=exact if exact is not None and has_type(exact) else None)


def _integer_literal(result: Decimal, args: Sequence[Expr]) -> Literal | None:
    """Return an integer's literal; int64 overflows as that of columns does."""
    if all(arg.dtype == INT64 for arg in args):
        return constant_literal(int(result)) if integer_fits(int(result), INT64) else None
    return constant_literal(int(result)) if has_type(result) else None


def _nearest(result: Decimal | Fraction) -> float:
    try:
        return float(result)
    except OverflowError:  # of a fraction; a Decimal becomes infinite
        return math.inf


def _divided(x: Decimal, y: Decimal) -> Decimal | Fraction:
    quotient = FINITE.divide(x, y)
    exact = Fraction(x) / Fraction(y)
    return quotient if Fraction(quotient) == exact else exact


def _rounded(x: Decimal, decimals: Decimal = Decimal(0)) -> Decimal:
    places = int(decimals)
    if places >= -x.as_tuple().exponent:  # type: ignore[operator]
        return x
    if places < -MOST_PLACES:
        return Decimal(0)
    return x.quantize(Decimal((0, (1,), -places)), ROUND_HALF_EVEN, EXACT)


def _truncated(x: Decimal, decimals: Decimal = Decimal(0)) -> Decimal:
    places = int(decimals)
    if places >= -x.as_tuple().exponent:  # type: ignore[operator]
        return x
    return Decimal(0) if places < -MOST_PLACES else x.quantize(Decimal((0, (1,), -places)), ROUND_DOWN, EXACT)


def _to_whole(rounding: str) -> Callable[[Decimal], Decimal]:
    return lambda x: x.to_integral_value(rounding, EXACT)


_FOLDED: dict[str, Callable[..., Decimal | Fraction]] = {
    "add": EXACT.add, "subtract": EXACT.subtract, "multiply": EXACT.multiply, "divide": _divided,
    "int_divide": EXACT.divide_int, "modulo": EXACT.remainder, "negate": Decimal.copy_negate, "abs": Decimal.copy_abs,
    "sign": lambda x: Decimal((x > 0) - (x < 0)), "round": _rounded, "floor": _to_whole(ROUND_FLOOR),
    "ceil": _to_whole(ROUND_CEILING), "trunc": _truncated,
    "least": lambda *xs: min(xs), "greatest": lambda *xs: max(xs),
}  # fmt: skip

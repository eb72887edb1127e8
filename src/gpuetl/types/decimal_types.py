"""The types of decimals: what integers and constants become beside them, and what arithmetic gives.

A decimal(p,s) is an integer of up to p digits, counted in units of 10^-s.  Types grow as SQL's do, to 38 digits;
a value that needs more is an error when it is computed.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

from gpuetl.messages import coded

MAX_DIGITS = 38
HALF_DIGITS = 19  # no column has rows enough for a sum of such decimals to need more than 38
_DECIMALS = {made.id for made in (pa.decimal32(1), pa.decimal64(1), pa.decimal128(1), pa.decimal256(1))}
_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}


class Number(Decimal):
    """A number of the text with a point or an exponent, where no float64 has just its digits."""

    @classmethod
    def of(cls, value: Decimal) -> Number:
        """Return the number without the zeros that say nothing, so that equal ones are written alike."""
        return cls(without_zeros(value))


def is_decimal(dtype: pa.DataType) -> bool:
    """Return whether `dtype` is a decimal."""
    return dtype.id in _DECIMALS


def integer_decimal(dtype: pa.DataType) -> pa.DataType:
    """Return the decimal that holds every value of an integer type; a decimal is itself."""
    if is_decimal(dtype):
        return dtype
    return pa.decimal128(20 if dtype == pa.uint64() else _INTEGER_DIGITS[dtype.bit_width], 0)


def common_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the decimal that holds the values of both, or None where that takes more than 38 digits."""
    scale = max(left.scale, right.scale)
    digits = _whole_digits(left, right) + scale
    return pa.decimal128(digits, scale) if digits <= MAX_DIGITS else None


def sum_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type of ``x + y`` and ``x - y``."""
    scale = max(left.scale, right.scale)
    return pa.decimal128(min(MAX_DIGITS, _whole_digits(left, right) + scale + 1), scale)


def product_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type of ``x * y``, or None where it has more than 38 digits after the point."""
    scale = left.scale + right.scale
    return pa.decimal128(min(MAX_DIGITS, left.precision + right.precision), scale) if scale <= MAX_DIGITS else None


def quotient_type(meeting: pa.DataType) -> pa.DataType:
    """Return the type of ``x // y`` where both are `meeting`."""
    return pa.decimal128(meeting.precision, 0)


def rounded_type(dtype: pa.DataType) -> pa.DataType:
    """Return the type of a rounded decimal: 9.9 becomes 10.0, one digit more."""
    return pa.decimal128(min(MAX_DIGITS, dtype.precision + 1), dtype.scale)


def total_type(dtype: pa.DataType) -> pa.DataType:
    """Return the type of the sum of many rows."""
    return pa.decimal128(MAX_DIGITS, dtype.scale)


def _whole_digits(left: pa.DataType, right: pa.DataType) -> int:
    digits: int = max(left.precision - left.scale, right.precision - right.scale)
    return digits


def exact_decimal(value: float | Decimal) -> Decimal | None:
    """Return the decimal that a number is written as, or None for NaN and the infinities.

    A float is the shortest decimal that reads back as it, without a fraction of zeros: 1.1 is 1.1, and 2.0 is 2.
    """
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    if not math.isfinite(value):
        return None
    exact = Decimal(repr(value))
    whole = exact == exact.to_integral_value() and exact.adjusted() < MAX_DIGITS
    return Decimal(int(exact)) if whole else exact


def without_zeros(value: Decimal) -> Decimal:
    """Return an equal decimal whose digits after the point end in none that is 0; a whole one has no exponent."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent >= 0:
        return value
    while len(digits) > 1 and exponent < 0 and digits[-1] == 0:
        digits, exponent = digits[:-1], exponent + 1
    return Decimal((sign, digits, exponent if any(digits) else 0))


def plain_number(value: Decimal) -> int | float | Number:
    """Return what is written for an exact number of the text."""
    whole = int(value)
    if value == whole:
        return whole
    return float(value) if exact_decimal(float(value)) == value else Number.of(value)


def constant_decimal(value: Decimal) -> pa.DataType:
    """Return the narrowest decimal that holds `value` as it is written; raise `ValueError` beyond 38 digits."""
    _, written, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(coded("GE1112", f"a Decimal of {value} is not a number and cannot stand in an expression"))
    scale = max(0, -exponent)
    digits = max(1, len(written) + max(0, exponent), scale)
    if digits > MAX_DIGITS:
        raise ValueError(
            coded("GE1116", f"the number {value} takes {digits} decimal digits; {MAX_DIGITS} are the most")
        )
    return pa.decimal128(digits, scale)


def in_scale(value: Any, dtype: pa.DataType) -> Any:
    """Return a number as the `Decimal` with the scale of `dtype`, which holds it."""
    return None if value is None else pa.scalar(exact_decimal(value), dtype).as_py()

"""Exact arithmetic of decimals on Arrow values: in 76 digits wherever 38 may not hold a result, then checked.

Arrow's decimal kernels give types of their own, and refuse types that would have too many digits even where the
values have not.  So operands are relabelled here: the same integers under a type that Arrow accepts.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import over_columns, whole
from gpuetl.errors import EvaluationError, first_line
from gpuetl.messages import coded
from gpuetl.types.data_types import FLOAT64, INT64, STRING, DataType, type_name
from gpuetl.types.decimal_types import HALF_DIGITS, MAX_DIGITS, product_type, quotient_type, rounded_type, sum_type

WIDE_DIGITS = 76
UNIT = Decimal(10**HALF_DIGITS)
EXACT_DIGITS = 15  # integers of this number of digits, and that power of 10, are exact in float64


def relabelled(value: Any, dtype: DataType) -> Any:
    """Return the same integers as another decimal type of the same width, whatever its digits."""
    return over_columns(lambda a: pa.Array.from_buffers(dtype, len(a), a.buffers(), offset=a.offset), value)


def fitted(value: Any, dtype: DataType, result: DataType | None = None) -> Any:
    """Return decimals as `dtype`, exactly.

    Raises
    ------
    EvaluationError
        For a value that has more digits than `dtype`, and so than the `result`.
    """
    wraps = value.type.bit_width == 128 and value.type.precision - value.type.scale + dtype.scale > MAX_DIGITS
    try:
        if wraps:  # where Arrow rescales in 128 bits
            value = pc.cast(value, pa.decimal256(WIDE_DIGITS, dtype.scale))
        return pc.cast(value, dtype)
    except pa.ArrowInvalid as error:
        raise _refusal(error, result or dtype) from None


def _refusal(error: pa.ArrowInvalid, dtype: DataType) -> EvaluationError:
    if "data loss" in str(error):
        return EvaluationError(coded("GE2002", f"it has more than {dtype.scale} decimals"))
    return overflow_of(dtype) if "precision" in str(error) else EvaluationError(coded("GE2002", first_line(error)))


def overflow_of(dtype: DataType) -> EvaluationError:
    """Return the error of a value that has too many digits."""
    return EvaluationError(coded("GE2001", f"overflow of {type_name(dtype)}"))


def in_one_type(x: Any, y: Any) -> tuple[Any, Any]:
    """Return decimals of any two types as one of 76 digits, which holds 38 before the point and 38 after it."""
    wide = pa.decimal256(WIDE_DIGITS, max(x.type.scale, y.type.scale))
    return fitted(x, wide), fitted(y, wide)


def add_or_subtract(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler of `pc.add` or `pc.subtract` for decimals."""

    def handler(x: Any, y: Any) -> Any:
        result = sum_type(x.type, y.type)
        if result.precision < MAX_DIGITS:
            return operation(x, y)
        # A value that needs all 76 digits has no sum in 38
        wide = pa.decimal256(WIDE_DIGITS - 1, result.scale)
        return fitted(operation(fitted(x, wide, result), fitted(y, wide, result)), result)

    return handler


def multiply(x: Any, y: Any) -> Any:
    """Multiply: 38 digits by 38 digits fit 256 bits."""
    result = product_type(x.type, y.type)
    assert result is not None  # else typing has refused it
    if result.precision < MAX_DIGITS:
        return pc.cast(pc.multiply(x, y), result)
    left, right = (pc.cast(v, pa.decimal256(v.type.precision, v.type.scale)) for v in (x, y))
    left = relabelled(left, pa.decimal256(min(MAX_DIGITS - 1, x.type.precision), x.type.scale))
    return fitted(pc.multiply(left, right), result)


def divide_truncating(x: Any, y: Any) -> Any:
    """Truncate toward zero; null where y is 0.  Both have one type."""
    result = quotient_type(x.type)
    return pc.cast(_quotient(_integers(x), _integers(y)), result)


def remainder(x: Any, y: Any) -> Any:
    """The remainder of truncating division, with the sign of x; null where y is 0.  Both have one type."""
    dividend, divisor = _integers(x), _integers(y)
    # The product is not beyond x, so it has no more digits
    product = pc.multiply(relabelled(_quotient(dividend, divisor), pa.decimal256(MAX_DIGITS - 1, 0)), divisor)
    rest = pc.subtract(dividend, relabelled(product, dividend.type))
    return relabelled(pc.cast(rest, pa.decimal128(MAX_DIGITS, 0)), x.type)


def _integers(value: Any) -> Any:
    """Return decimals counted in their units, as whole decimals of 38 digits in 256 bits."""
    return pc.cast(relabelled(value, pa.decimal128(MAX_DIGITS, 0)), pa.decimal256(MAX_DIGITS, 0))


def _quotient(x: Any, y: Any) -> Any:
    """Divide whole decimals, truncating.  Arrow widens the dividend by the divisor's digits, so that has one."""
    zero = pa.scalar(0).cast(y.type)
    divisor = relabelled(pc.if_else(pc.equal(y, zero), pa.scalar(None, y.type), y), pa.decimal256(1, 0))
    return pc.cast(pc.trunc(pc.divide(x, divisor)), pa.decimal256(MAX_DIGITS, 0))


def halves(x: Any) -> tuple[Any, Any]:
    """Split decimals in two: whole multiples of 10^19 of their units, and the rest, with the sign of x."""
    unit = relabelled(pa.scalar(UNIT, pa.decimal128(MAX_DIGITS, 0)), x.type)
    return divide_truncating(x, unit), remainder(x, unit)


def units_of_halves(high: Any, low: Any) -> Any:
    """Return how many units the decimal has that `halves` has split, as a whole decimal of 256 bits."""
    units = pc.multiply(_integers(high), pa.scalar(UNIT, pa.decimal256(20, 0)))
    return pc.add(units, _integers(low))


def joined_halves(high: Any, low: Any) -> Any:
    """Return the decimal that `halves` has split, in the type of `low`."""
    whole_sum = units_of_halves(high, low)
    return relabelled(fitted(whole_sum, pa.decimal128(MAX_DIGITS, 0), low.type), low.type)


def rounding(to_whole: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler of `pc.floor` or `pc.ceil` for decimals."""
    return lambda x: x if x.type.scale == 0 else fitted(to_whole(_with_room(x)), rounded_type(x.type))


def truncate(x: Any, places: int | None = None) -> Any:
    """Take away what is behind `places` after the point."""
    kept = min(places or 0, x.type.scale)
    if kept == x.type.scale:
        return x
    most = x.type.precision - x.type.scale
    if kept < -most:
        return pc.if_else(pc.is_valid(x), pa.scalar(Decimal(0), x.type), pa.scalar(None, x.type))
    return pc.cast(pc.round(_with_room(x), ndigits=kept, round_mode="towards_zero"), x.type)


def round_half_even(x: Any, places: int | None) -> Any:
    """Round to `places` after the point."""
    if places is None and x.type.scale == 0:
        return x
    room = _with_room(x)
    most = room.type.precision - room.type.scale - 1  # any value is less than half of 10 to that
    rounded = pc.round(room, ndigits=min(max(places or 0, -most), x.type.scale), round_mode="half_to_even")
    return fitted(rounded, rounded_type(x.type))


def _with_room(x: Any) -> Any:
    """Return the decimals with two digits more: rounding to the last of them gives 0."""
    digits = x.type.precision + 2
    return pc.cast(x, (pa.decimal128 if digits <= MAX_DIGITS else pa.decimal256)(digits, x.type.scale))


def to_float(value: Any, dtype: DataType) -> Any:
    """Return the nearest floats, ties to even.  Arrow multiplies by powers of ten that are not exact."""
    digits, scale = value.type.precision, value.type.scale
    if digits > EXACT_DIGITS or dtype != FLOAT64:
        return pc.cast(pc.cast(value, STRING), dtype)
    units = pc.cast(relabelled(value, pa.decimal128(digits, 0)), FLOAT64)
    return pc.divide(units, pa.scalar(10.0**scale))


def from_text(text: Any, dtype: DataType) -> Any:
    """Read decimals, exactly; raise `EvaluationError` for invalid numbers and those beyond `dtype`."""
    text = over_columns(without_long_forms, text)
    magnitude = pc.abs(pc.cast(text, FLOAT64))
    limit = pa.scalar(1.01 * 10.0 ** (dtype.precision - dtype.scale))  # else Arrow's rescaling may wrap
    if pc.any(pc.greater(magnitude, limit)).as_py():
        raise overflow_of(dtype)
    try:
        return fitted(pc.cast(text, pa.decimal256(WIDE_DIGITS, dtype.scale)), dtype)
    except pa.ArrowInvalid as error:
        raise _refusal(error, dtype) from None


def without_long_forms(text: Any) -> Any:
    """Write texts that Arrow would read wrongly, those of many digits or with an exponent, in the digits they need."""
    column = whole(text)
    odd = pc.or_(pc.greater(pc.utf8_length(column), MAX_DIGITS), pc.match_substring_regex(column, "[eE]"))
    if not pc.any(odd).as_py():
        return column
    encoded = column.dictionary_encode()
    plain = pa.array([plain_digits(value) for value in encoded.dictionary.to_pylist()], STRING)
    return plain.take(encoded.indices)


def plain_digits(text: str) -> str:
    """Return a number's text without an exponent and without zeros that say nothing; other text as it is."""
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return text
    whole_number = "".join(map(str, digits)).lstrip("0")
    shortened = whole_number.rstrip("0")
    if not isinstance(exponent, int) or not shortened:
        return text if not isinstance(exponent, int) else "0"
    exponent += len(whole_number) - len(shortened)
    if not exponent > -WIDE_DIGITS or exponent + len(shortened) > WIDE_DIGITS:
        # beyond any decimal: too fine, or too large
        return "0." + "0" * MAX_DIGITS + "1" if exponent + len(shortened) <= WIDE_DIGITS else "-" * sign + "1e99"
    places = max(0, -exponent)
    padded = (shortened + "0" * max(0, exponent)).rjust(places + 1, "0")
    point = len(padded) - places
    return "-" * sign + padded[:point] + ("." + padded[point:] if places else "")


def to_text(value: Any) -> Any:
    """Return text with all digits of the scale after the point, never with an exponent."""
    scale = value.type.scale
    if scale <= 6:
        return pc.cast(value, STRING)  # Arrow writes smaller ones as 1E-7
    units = relabelled(pc.abs(value), pa.decimal128(MAX_DIGITS, 0))
    digits = pc.utf8_lpad(pc.cast(units, STRING), scale + 1, padding="0")
    sign = pc.if_else(pc.less(pc.sign(value), pa.scalar(0, INT64)), "-", "")
    return pc.binary_join_element_wise(
        sign, pc.utf8_slice_codeunits(digits, 0, -scale), ".", pc.utf8_slice_codeunits(digits, -scale), ""
    )

"""Numbers rounded and truncated, at places after and before the point."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.no_result import OVERFLOW
from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, repeated, to_masked, whole
from gpuetl.engines.pandas.expressions import decimals
from gpuetl.engines.pandas.expressions.clock import by_row
from gpuetl.engines.pandas.expressions.functions.arithmetic import Handler, by_type
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import FLOAT64, is_floating
from gpuetl.types.decimal_types import integer_decimal, is_decimal

EXACT_PLACES, MOST_PLACES = 8, 400
WIDE = Context(prec=400)
"""Holds every digit of a float32."""


def unchanged(x: Any) -> Any:
    """A whole number is what it is."""
    return x


def round_half_even(x: Any, places: int | None = None) -> Any:
    """Round to `places` after the point."""
    if is_decimal(x.type):
        return decimals.round_half_even(x, places)
    if is_floating(x.type):
        rounded = round_doubles if x.type == FLOAT64 else round_singles
        return over_columns(lambda column: rounded(column, places or 0), x)
    if places is None or places >= 0:
        return x
    whole = pc.cast(x, integer_decimal(x.type))  # Arrow refuses powers of ten beyond x's type
    return pc.cast(decimals.round_half_even(whole, places), x.type)


def truncate(x: Any, places: int | None = None) -> Any:
    """Take away what is behind `places` after the point."""
    if is_decimal(x.type):
        return decimals.truncate(x, places)
    if not is_floating(x.type):
        return x if places is None or places >= 0 else by_row(lambda values: whole_tens(values, -places), x.type, x)
    return by_row(lambda values: truncated(values, places or 0), x.type, x) if places else pc.trunc(x)


def whole_tens(values: NDArray[Any], zeros: int) -> NDArray[Any]:
    """Return integers toward zero with so many zeros at the end."""
    ten = 10**zeros
    return values * 0 if ten > np.iinfo(values.dtype).max else values - np.fmod(values, values.dtype.type(ten))


def truncated(values: NDArray[Any], places: int) -> NDArray[Any]:
    """Scale floats by a power of ten in float64, drop the fraction, and scale back; what has none stays."""
    wide = values.astype(np.float64)
    with np.errstate(all="ignore"):
        power = float(f"1e{abs(places)}")
        scaled = wide / power if places < 0 else wide * power
        whole_values = np.trunc(scaled)
        result = whole_values * power if places < 0 else whole_values / power
        result = np.where(~np.isfinite(scaled) | (whole_values == scaled), wide, result)
        return np.asarray(np.where(whole_values == 0, wide * 0, result).astype(values.dtype))


def near_point(places: int) -> int:
    """Return the nearest number of places within those at which some number has a digit."""
    return max(-MOST_PLACES, min(places, MOST_PLACES))


def at_places(compute: Callable[..., Any]) -> Handler:
    """Return the handler of a function of numbers and places, which is computed for rows of the same places at once."""

    def handler(x: Any, digits: Any = None) -> Any:
        if digits is None:
            return compute(x)
        if isinstance(digits, pa.Scalar):
            return compute(x, near_point(digits.as_py())) if digits.is_valid else pa.scalar(None, x.type)
        return over_columns(by_places, x, digits)

    def by_places(x: Any, digits: Any) -> Any:
        x = repeated(x[0], len(digits)) if len(x) != len(digits) else x
        rows, encoded = np.arange(len(x)), whole(digits).dictionary_encode()
        places = to_masked(encoded.indices)
        found, order = [pa.nulls(np.count_nonzero(~places.valid), x.type)], [rows[~places.valid]]
        for code, number in enumerate(encoded.dictionary.to_pylist()):
            order.append(rows[places.valid & (places.values == code)])
            found.append(compute(whole(x).take(pa.array(order[-1])), near_point(number)))
        dtype = found[-1].type
        parts = pa.concat_arrays([whole(part).cast(dtype) for part in found])
        return parts.take(pa.array(np.argsort(np.concatenate(order))))

    return handler


def round_doubles(x: Any, places: int) -> Any:
    """Scale by a power of ten, round half to even, and scale back; Arrow's powers beyond 10^10 are not exact.

    What is scaled beyond the greatest float has no digits so far from the point, and stays.

    Raises
    ------
    EvaluationError
        For a result beyond float64.
    """
    column = to_masked(x)
    values, kind = column.values, column.values.dtype.type
    with np.errstate(all="ignore"):
        power = kind(float(f"1e{abs(places)}"))
        scaled = values / power if places < 0 else values * power
        whole_values = np.rint(scaled)
        result = whole_values * power if places < 0 else whole_values / power
        unchanged_values = ~np.isfinite(scaled) | (whole_values == scaled)
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


HANDLERS: dict[str, Callable[..., Any]] = {
    "round": at_places(round_half_even),
    "floor": by_type(unchanged, pc.floor, decimals.rounding(pc.floor)),
    "ceil": by_type(unchanged, pc.ceil, decimals.rounding(pc.ceil)),
    "trunc": at_places(truncate),
}

"""What scans and frames combine: associative functions, the neutral values under nulls, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.windows.scans import States


def add(left: States, right: States) -> States:
    """Return the sums."""
    return (left[0] + right[0],)


def multiply(left: States, right: States) -> States:
    """Return the products; of int64, modulo 2**64."""
    return (left[0] * right[0],)


def scaled(values: NDArray[np.float64]) -> States:
    """Return the values as mantissas and exponents of 2."""
    mantissas, exponents = np.frexp(values)
    return mantissas, exponents.astype(np.int64)


def multiply_scaled(left: States, right: States) -> States:
    """Return the products of `scaled` numbers, which neither overflow nor underflow."""
    mantissas, shifts = scaled(left[0] * right[0])
    return mantissas, left[1] + right[1] + shifts


def lesser(left: States, right: States) -> States:
    """Return the lesser values, NaN only where both are."""
    return (np.fmin(left[0], right[0]),)


def greater(left: States, right: States) -> States:
    """Return the greater values, NaN where either is."""
    return (np.maximum(left[0], right[0]),)


def compose(left: States, right: States) -> States:
    """Return the function ``y -> a * y + b`` that applies `left`, then `right`."""
    return left[0] * right[0], right[0] * left[1] + right[1]


def merge_moments(left: States, right: States) -> States:
    """Return the count, mean and sum of squared deviations of both sides' rows together."""
    count = left[0] + right[0]
    delta = right[1] - left[1]
    weight = right[0] / np.maximum(count, 1)
    # Left to right, so that a side without rows gives 0 even where delta squared would be inf.
    spread = delta * left[0] * weight * delta
    return count, left[1] + delta * weight, left[2] + right[2] + spread


def filled(x: Masked, neutral: Any) -> NDArray[Any]:
    """Return the values with `neutral` under the nulls."""
    return np.where(x.valid, x.values, np.asarray(neutral, x.values.dtype))


def filled_floats(x: Masked) -> NDArray[np.float64]:
    """Return the values as float64 with 0 under the nulls."""
    return filled(x, 0).astype(np.float64)


def summable(x: Masked, name: str) -> NDArray[Any]:
    """Return the values with 0 under the nulls; raise `TypeError` unless they are int64 or float64."""
    if x.values.dtype not in (np.int64, np.float64):
        raise TypeError(f"{name} takes int64 or float64, got {x.values.dtype}; cast the column first")
    return filled(x, 0)


def refuse_overflow(overflows: NDArray[np.bool_], name: str) -> None:
    """Raise `OverflowError` with the first row that `overflows`, if any."""
    if overflows.any():
        row = int(overflows.argmax())
        raise OverflowError(f"{name} leaves int64 at row {row}; cast the column to float64 or decimal", row)


def unscaled(mantissas: NDArray[np.float64], exponents: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``mantissas * 2**exponents``, rounded once."""
    with np.errstate(over="ignore", under="ignore"):
        values: NDArray[np.float64] = np.ldexp(mantissas, np.clip(exponents, -5000, 5000))
    return values


def product_overflows(left: NDArray[Any], right: NDArray[Any], products: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where int64 products, which are right modulo 2**64, are not the true ones."""
    divisors = np.where(right == 0, 1, right)
    with np.errstate(over="ignore"):
        wrong = (right != 0) & (products // divisors != left)
    overflows: NDArray[np.bool_] = wrong | ((left == np.iinfo(np.int64).min) & (right == -1))
    return overflows

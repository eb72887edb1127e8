"""Divisors, bits and digits of integers, and buckets of equal width."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.no_result import OVERFLOW
from gpuetl.engines.pandas.columns.column import INT64_MAX
from gpuetl.engines.pandas.expressions.clock import by_row
from gpuetl.engines.pandas.expressions.functions.binary import of_distinct
from gpuetl.engines.zones import Ints
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import INT64, STRING

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FACTORIALS = np.array([math.factorial(n) for n in range(21)], np.int64)


def of_two(compute: Callable[[int, int], int]) -> Callable[..., Any]:
    """Return the handler of what is computed of two integers; raise `EvaluationError` beyond int64."""

    def numbers(x: Ints, y: Ints) -> Ints:
        x, y = np.broadcast_arrays(x, y)
        found = [compute(int(a), int(b)) for a, b in zip(x, y, strict=True)]
        if any(value > INT64_MAX for value in found):
            raise EvaluationError(OVERFLOW)
        return np.array(found, np.int64)

    return lambda x, y: by_row(numbers, INT64, x, y)


def choices(n: int, k: int) -> int:
    """Return the binomial coefficient, or a number beyond int64 where that, or what is not defined, would be one."""
    if min(n, k) < 0:
        return INT64_MAX + 1
    count = int(k <= n)
    for i in range(1, min(k, n - k) + 1):
        count = count * (n - min(k, n - k) + i) // i
        if count > INT64_MAX:
            break
    return count


def factorials(values: Ints) -> Ints:
    """Return the products; raise `EvaluationError` where int64 does not hold them."""
    if ((values < 0) | (values >= len(FACTORIALS))).any():
        raise EvaluationError(OVERFLOW)
    return FACTORIALS[values]


def set_bits(values: Ints) -> Ints:
    """Count the bits that are set."""
    bytes_ = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
    return np.asarray(np.unpackbits(bytes_, axis=1).sum(axis=1, dtype=np.int64))


def in_base(base: int, value: int) -> str:
    """Return the digits of a number that is not negative."""
    digits = ""
    while value or not digits:
        value, digit = divmod(value, base)
        digits = DIGITS[digit] + digits
    return digits


def bits(base: int, value: int) -> str:
    """Return the digits of an integer's bits."""
    return in_base(base, value % (1 << 64))


def to_base(x: Any, base: Any, least: Any = None) -> Any:
    """The digits in a base."""

    def text(value: int) -> str:
        digits = in_base(base.as_py(), abs(value)).rjust(1 if least is None else least.as_py(), "0")
        return "-" * (value < 0) + digits

    return of_distinct(text, STRING, x)


def width_bucket(x: Any, low: Any, high: Any, count: Any) -> Any:
    """The number of the bucket."""
    least, greatest, many = low.as_py(), high.as_py(), count.as_py()

    def numbers(values: NDArray[np.float64]) -> Ints:
        with np.errstate(all="ignore"):
            inside = (values >= least) & (values < greatest)
            share = np.floor((np.where(inside, values, least) - least) / (greatest - least) * many)
        bucket = np.minimum(share.astype(np.int64) + 1, many)  # what is rounded up to the end is below it
        return np.where(inside, bucket, np.where(values < least, 0, many + 1))

    return by_row(numbers, INT64, x)


HANDLERS: dict[str, Callable[..., Any]] = {
    "gcd": of_two(math.gcd),
    "lcm": of_two(math.lcm),
    "binom": of_two(choices),
    "factorial": lambda x: by_row(factorials, INT64, x),
    "bit_count": lambda x: by_row(set_bits, INT64, x),
    "bin": partial(of_distinct, partial(bits, 2), STRING),
    "to_base": to_base,
    "width_bucket": width_bucket,
}

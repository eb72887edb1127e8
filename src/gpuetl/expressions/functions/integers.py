"""Integers: divisors, bits and digits, in int64; what leaves it is an error.  And the buckets of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from gpuetl.expressions.functions.arithmetic import whole
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, check_between, fixed, floats
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import FLOAT64, INT64, STRING

MOST_DIGITS = 64
"""Of the least integer in base 2."""


def digits(args: Sequence[Expr]) -> Typing:
    """An integer, a constant base, and a constant least number of digits."""
    for arg, name, least, greatest in zip(
        args[1:], ("base", "number of digits"), (2, 1), (36, MOST_DIGITS), strict=False
    ):
        check_between(arg, name, least, greatest)
    return fixed(INT64, INT64, INT64, returns=STRING)(args)


def bucketed(args: Sequence[Expr]) -> Typing:
    """A number, two constant bounds in order, and a constant number of buckets."""
    floats(args[:3])
    fixed(INT64, returns=INT64)(args[3:])
    low, high, count = (arg.value if isinstance(arg, Literal) else None for arg in args[1:])
    if low is not None and high is not None and not (isfinite(low) and isfinite(high) and low < high):
        raise TypeMismatch(coded("GE1106", f"takes a least value below the greatest, got {low} and {high}"))
    if count is not None:
        check_between(args[3], "number of buckets", 1, 2**31 - 1)
    return [FLOAT64, FLOAT64, FLOAT64, INT64], INT64


FUNCTIONS = (
    Function("gcd", "x y", whole, "The greatest common divisor, not negative; of 0 and 0 it is 0.", "gcd(12, -18)", 6, can_fail=True),
    Function("lcm", "x y", whole, "The least common multiple, not negative; 0 if one of them is 0.", "lcm(4, -6)", 12, can_fail=True),
    Function("factorial", "x", whole, "The product of 1 to x, for x from 0 to 20; an error for others.", "factorial(5)", 120, can_fail=True),
    Function("binom", "n k", whole, "In how many ways k of n things are chosen; 0 if k is more than n.  An error for negative numbers, and beyond int64.",
             "binom(5, 2)", 10, can_fail=True),
    Function("bit_count", "x", whole, "How many of the int64's bits are set.", "bit_count(255)", 8),
    Function("bin", "x", fixed(INT64, returns=STRING), "The digits in base 2; of a negative integer all 64 bits.", "bin(5)", "101"),
    Function("to_base", "x base! digits?!", digits, "The digits in a base from 2 to 36, at least `digits` (1) of them, behind a minus sign if x is negative.",
             "to_base(255, 16, 4)", "00FF"),
    Function("width_bucket", "x low! high! count!", bucketed,
             "The bucket of x, from 1, where `count` buckets of equal width lie from `low` to below `high`; 0 below them, `count` + 1 "
             "above them, and of NaN.", "width_bucket(5.35, 0, 10, 5)", 3),
)  # fmt: skip

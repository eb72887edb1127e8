"""Arithmetic.  Integer arithmetic is done in int64 and checked; floats follow IEEE 754."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.function import (
    Function,
    TypeMismatch,
    Typing,
    calculated,
    fixed,
    is_float_or_integer,
    mixed,
    shifted,
    takes_one,
)  # fmt: skip
from gpuetl.expressions.ir import Expr
from gpuetl.expressions.types import FLOAT64, INT64, NULL, is_floating, is_integer, type_name

number = takes_one(is_float_or_integer, "a number")


def rounded(args: Sequence[Expr]) -> Typing:
    """Integers stay as they are; digits are a constant."""
    types, result = number(args)
    return [types[0], INT64][: len(args)], result


def sign_of(args: Sequence[Expr]) -> Typing:
    """Integers give int64, floats keep their type."""
    dtype = number(args)[1]
    dtype = dtype if is_floating(dtype) else INT64
    return [dtype], dtype


def whole(args: Sequence[Expr]) -> Typing:
    """Integers only: the quotient of floats has no exact integer."""
    for arg in args:
        if arg.dtype != NULL and not is_integer(arg.dtype):
            raise TypeMismatch(f"takes integers, got {type_name(arg.dtype)}")
    return [INT64] * len(args), INT64


FUNCTIONS = (
    Function("add", "x y", shifted("add"), "`x + y`.", "1 + 2", 3, can_fail=True),
    Function("subtract", "x y", shifted("subtract"), "`x - y`; of two timestamps, a duration.", "1 - 2", -1, can_fail=True),
    Function("multiply", "x y", calculated("multiply"), "`x * y`.", "3 * 4", 12, can_fail=True),
    Function("divide", "x y", fixed(FLOAT64, FLOAT64, returns=FLOAT64), "`x / y` in float64: 1/0 is inf, 0/0 is NaN.",
             "7 / 2", 3.5),
    Function("int_divide", "x y", whole, "`x // y`, truncated toward zero; null where y is 0.", "-7 // 2", -3, can_fail=True),
    Function("modulo", "x y", whole, "`x % y` with the sign of x; null where y is 0.", "-7 % 2", -1, can_fail=True),
    Function("negate", "x", calculated("negate"), "`-x`.", "-(1 + 1)", -2, can_fail=True),
    Function("abs", "x", calculated("take abs of"), "The absolute value.", "abs(-3)", 3, can_fail=True),
    Function("sign", "x", sign_of, "-1, 0 or 1; NaN of NaN.", "sign(-3)", -1),
    Function("round", "x digits?!", rounded, "To `digits` places after the point (0), half to even.", "round(2.5)", 2.0),
    Function("floor", "x", number, "The greatest whole number not above x, in x's type.", "floor(-1.5)", -2.0),
    Function("ceil", "x", number, "The least whole number not below x, in x's type.", "ceil(-1.5)", -1.0),
    Function("trunc", "x", number, "x without its fraction, in x's type.", "trunc(-1.5)", -1.0),
    Function("try_add", "x y", calculated("add"), "`x + y`; null where integers overflow.",
             "try_add(9223372036854775807, 1)", None),
    Function("try_subtract", "x y", calculated("subtract"), "`x - y`; null where integers overflow.", "try_subtract(1, 2)", -1),
    Function("try_multiply", "x y", calculated("multiply"), "`x * y`; null where integers overflow.",
             "try_multiply(9223372036854775807, 2)", None),
    Function("bit_and", "x y", whole, "The bits that are set in both integers.", "bit_and(12, 10)", 8),
    Function("bit_or", "x y", whole, "The bits that are set in either integer.", "bit_or(12, 10)", 14),
    Function("bit_xor", "x y", whole, "The bits that are set in one of the integers only.", "bit_xor(12, 10)", 6),
    Function("bit_not", "x", whole, "Every bit of the int64 turned over: -x - 1.", "bit_not(12)", -13),
    Function("shift_left", "x bits", whole, "The bits of the int64 moved up, those that leave lost; null unless 0 <= `bits` <= 63.",
             "shift_left(3, 2)", 12),
    Function("shift_right", "x bits", whole, "The bits moved down, the sign kept; null unless 0 <= `bits` <= 63.",
             "shift_right(-8, 1)", -4),
    Function("clip", "x low high", mixed, "x, but `low` where it is less, and `high` where it is more; NaN stays.",
             "clip(7, 1, 5)", 5),
)  # fmt: skip

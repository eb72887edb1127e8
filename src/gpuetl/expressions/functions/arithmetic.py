"""Arithmetic and mathematics.  Integer arithmetic is done in int64 and checked; floats follow IEEE 754."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.durations import or_durations
from gpuetl.expressions.functions.function import (
    Function,
    TypeMismatch,
    Typing,
    calculated,
    fixed,
    floats,
    is_float_or_integer,
    shifted,
    takes_one,
)  # fmt: skip
from gpuetl.expressions.ir import Expr
from gpuetl.expressions.types import BOOL, DURATION, FLOAT64, INT64, NULL, is_floating, is_integer, type_name

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
    return [INT64, INT64], INT64


FUNCTIONS = (
    Function("add", "x y", shifted("add"), "`x + y`.", "1 + 2", 3, can_fail=True),
    Function("subtract", "x y", shifted("subtract"), "`x - y`; of two timestamps, a duration.", "1 - 2", -1, can_fail=True),
    Function("multiply", "x y", or_durations(calculated("multiply"), di=DURATION, id=DURATION), "`x * y`.", "3 * 4", 12, can_fail=True),
    Function("divide", "x y", or_durations(fixed(FLOAT64, FLOAT64, returns=FLOAT64), dd=FLOAT64), "`x / y` in float64: 1/0 is inf, 0/0 is NaN.",
             "7 / 2", 3.5),
    Function("int_divide", "x y", or_durations(whole, di=DURATION, dd=INT64), "`x // y`, truncated toward zero; null where y is 0.", "-7 // 2", -3, can_fail=True),
    Function("modulo", "x y", or_durations(whole, dd=DURATION), "`x % y` with the sign of x; null where y is 0.", "-7 % 2", -1, can_fail=True),
    Function("negate", "x", or_durations(calculated("negate"), d=DURATION), "`-x`.", "-(1 + 1)", -2, can_fail=True),
    Function("abs", "x", or_durations(calculated("take abs of"), d=DURATION), "The absolute value.", "abs(-3)", 3, can_fail=True),
    Function("sign", "x", sign_of, "-1, 0 or 1; NaN of NaN.", "sign(-3)", -1),
    Function("round", "x digits?!", rounded, "To `digits` places after the point (0), half to even.", "round(2.5)", 2.0),
    Function("floor", "x", number, "The greatest whole number not above x, in x's type.", "floor(-1.5)", -2.0),
    Function("ceil", "x", number, "The least whole number not below x, in x's type.", "ceil(-1.5)", -1.0),
    Function("trunc", "x", number, "x without its fraction, in x's type.", "trunc(-1.5)", -1.0),
    Function("sqrt", "x", floats, "The square root; NaN of a negative number.", "sqrt(9)", 3.0),
    Function("exp", "x", floats, "e to the power of x.", "exp(0)", 1.0),
    Function("ln", "x", floats, "The natural logarithm; -inf of 0, NaN of a negative number.", "ln(1)", 0.0),
    Function("log10", "x", floats, "The logarithm to base 10.", "log10(1000)", 3.0),
    Function("log2", "x", floats, "The logarithm to base 2.", "log2(8)", 3.0),
    Function("power", "x y", floats, "x to the power of y, in floating point.", "power(2, 10)", 1024.0),
    Function("sin", "x", floats, "The sine of x radians.", "sin(0)", 0.0),
    Function("cos", "x", floats, "The cosine of x radians.", "cos(0)", 1.0),
    Function("tan", "x", floats, "The tangent of x radians.", "tan(0)", 0.0),
    Function("asin", "x", floats, "The arc sine in radians; NaN outside [-1, 1].", "asin(0)", 0.0),
    Function("acos", "x", floats, "The arc cosine in radians; NaN outside [-1, 1].", "acos(1)", 0.0),
    Function("atan", "x", floats, "The arc tangent in radians.", "atan(0)", 0.0),
    Function("atan2", "y x", floats, "The angle of the point (x, y) in radians.", "atan2(0, 1)", 0.0),
    Function("radians", "x", floats, "Degrees to radians.", "radians(180)", 3.141592653589793),
    Function("degrees", "x", floats, "Radians to degrees.", "degrees(0)", 0.0),
    Function("is_nan", "x", takes_one(is_floating, "a float", BOOL), "Whether x is NaN.",
             "is_nan(0.0 / 0.0)", True),
)  # fmt: skip

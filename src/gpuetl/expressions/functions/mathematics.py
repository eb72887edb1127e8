"""Mathematics, in floating point: equal on all engines within rounding.  Only float32 alone stays float32."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.function import Function, Typing, fixed, floats, takes_one
from gpuetl.expressions.ir import Expr
from gpuetl.types.data_types import BOOL, FLOAT64, is_floating


def signed(args: Sequence[Expr]) -> Typing:
    """A number, as a float."""
    return floats(args)[0], BOOL


FUNCTIONS = (
    Function("sqrt", "x", floats, "The square root; NaN of a negative number.", "sqrt(9)", 3.0),
    Function("exp", "x", floats, "e to the power of x.", "exp(0)", 1.0),
    Function("ln", "x", floats, "The natural logarithm; -inf of 0, NaN of a negative number.", "ln(1)", 0.0),
    Function("log10", "x", floats, "The logarithm to base 10.", "log10(1000)", 3.0),
    Function("log2", "x", floats, "The logarithm to base 2.", "log2(8)", 3.0),
    Function("log", "base~ x", floats, "The logarithm of x to a base: log10(x) / log10(base).", "log(2, 8)", 3.0),
    Function("power", "x y", floats, "`x ** y`: x to the power of y, in floating point.", "power(2, 10)", 1024.0),
    Function("sin", "x", floats, "The sine of x radians.", "sin(0)", 0.0),
    Function("cos", "x", floats, "The cosine of x radians.", "cos(0)", 1.0),
    Function("tan", "x", floats, "The tangent of x radians.", "tan(0)", 0.0),
    Function("cot", "x", floats, "The cotangent of x radians, 1 / tan(x).", "cot(pi() / 4)", 1.0),
    Function("asin", "x", floats, "The arc sine in radians; NaN outside [-1, 1].", "asin(0)", 0.0),
    Function("acos", "x", floats, "The arc cosine in radians; NaN outside [-1, 1].", "acos(1)", 0.0),
    Function("atan", "x", floats, "The arc tangent in radians.", "atan(0)", 0.0),
    Function("atan2", "y x", floats, "The angle of the point (x, y) in radians.", "atan2(0, 1)", 0.0),
    Function("radians", "x", floats, "Degrees to radians.", "radians(180)", 3.141592653589793),
    Function("degrees", "x", floats, "Radians to degrees.", "degrees(0)", 0.0),
    Function("cbrt", "x", floats, "The cube root.", "cbrt(-27)", -3.0),
    Function("hypot", "x y", floats, "The length of the vector (x, y), without overflow on the way.", "hypot(3, 4)", 5.0),
    Function("expm1", "x", floats, "e to the power of x, less 1; exact near 0.", "expm1(0)", 0.0),
    Function("log1p", "x", floats, "The natural logarithm of 1 + x; exact near 0.", "log1p(0)", 0.0),
    Function("sinh", "x", floats, "The hyperbolic sine.", "sinh(0)", 0.0),
    Function("cosh", "x", floats, "The hyperbolic cosine.", "cosh(0)", 1.0),
    Function("tanh", "x", floats, "The hyperbolic tangent.", "tanh(0)", 0.0),
    Function("asinh", "x", floats, "The inverse hyperbolic sine.", "asinh(0)", 0.0),
    Function("acosh", "x", floats, "The inverse hyperbolic cosine; NaN below 1.", "acosh(1)", 0.0),
    Function("atanh", "x", floats, "The inverse hyperbolic tangent; NaN outside [-1, 1].", "atanh(0)", 0.0),
    Function("gamma", "x", floats, "The gamma function, (x - 1)! of a whole number; inf at 0 and NaN at negative whole numbers.", "gamma(5)", 24.0),
    Function("lgamma", "x", floats, "The natural logarithm of the gamma function's absolute value; inf at 0 and at negative whole numbers.",
             "lgamma(1)", 0.0),
    Function("fdiv", "x y", floats, "floor(x / y), in floating point.", "fdiv(7, -2)", -4.0),
    Function("fmod", "x y", floats, "x - floor(x / y) * y, in floating point: with the sign of y.", "fmod(-7, 2)", 1.0),
    Function("even", "x", floats, "The next even whole number away from 0.", "even(-2.1)", -4.0),
    Function("nextafter", "x y", floats, "The next float from x toward y.", "nextafter(1, 2)", 1.0000000000000002),
    Function("signbit", "x", signed, "Whether x has a sign: also -0.0.", "signbit(-0.0)", True),
    Function("pi", "", fixed(returns=FLOAT64), "The ratio of a circle's circumference to its diameter.", "pi()",
             3.141592653589793),
    Function("is_finite", "x", takes_one(is_floating, "a float", BOOL), "Whether x is neither infinite nor NaN.",
             "is_finite(1.5)", True),
    Function("is_infinite", "x", takes_one(is_floating, "a float", BOOL), "Whether x is inf or -inf.",
             "is_infinite(1 / 0)", True),
    Function("is_nan", "x", takes_one(is_floating, "a float", BOOL), "Whether x is NaN.",
             "is_nan(0.0 / 0.0)", True),
)  # fmt: skip

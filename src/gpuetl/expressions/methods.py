"""The functions of the table as methods of an expression.

Written by `make docs` (tools/generate_functions.py) from the table in `expressions/functions`: do not edit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from gpuetl.expressions.operands import DateUnit, IntoExpression, OrderBy, Range, Rows, Scalar, ZoneChoice

if TYPE_CHECKING:
    from gpuetl.expressions.expression import Expression


class Methods:
    """The functions of the table; None for an option means that it is not given."""

    if TYPE_CHECKING:

        @staticmethod
        def _call(
            function: str, required: tuple[object, ...], optional: tuple[object, ...] = (), **named: object
        ) -> Expression: ...

    def add(self, y: IntoExpression) -> Expression:
        """`x + y`; of decimals, exactly; `date + n` is n days later.

        Null in any argument gives null.

        Example: `lit(1).add(2)` is `3`.
        """
        return self._call("add", (self, y))

    def subtract(self, y: IntoExpression) -> Expression:
        """`x - y`; of two timestamps, a duration; of two dates, days.

        Null in any argument gives null.

        Example: `lit(1).subtract(2)` is `-1`.
        """
        return self._call("subtract", (self, y))

    def multiply(self, y: IntoExpression) -> Expression:
        """`x * y`; of decimals, exactly.

        Null in any argument gives null.

        Example: `lit(3).multiply(4)` is `12`.
        """
        return self._call("multiply", (self, y))

    def divide(self, y: IntoExpression) -> Expression:
        """`x / y` in float64: 1/0 is inf, 0/0 is NaN.

        Null in any argument gives null.

        Example: `lit(7).divide(2)` is `3.5`.
        """
        return self._call("divide", (self, y))

    def int_divide(self, y: IntoExpression) -> Expression:
        """`x // y`, truncated toward zero; null where y is 0.

        Null in any argument gives null.

        Example: `lit(-7).int_divide(2)` is `-3`.
        """
        return self._call("int_divide", (self, y))

    def modulo(self, y: IntoExpression) -> Expression:
        """`x % y` with the sign of x; null where y is 0, of floats NaN.

        Null in any argument gives null.

        Example: `lit(-7).modulo(2)` is `-1`.
        """
        return self._call("modulo", (self, y))

    def negate(self) -> Expression:
        """`-x`.

        Null in any argument gives null.

        Example: `lit(1).add(1).negate()` is `-2`.
        """
        return self._call("negate", (self,))

    def abs(self) -> Expression:
        """The absolute value.

        Null in any argument gives null.

        Example: `lit(-3).abs()` is `3`.
        """
        return self._call("abs", (self,))

    def sign(self) -> Expression:
        """-1, 0 or 1; NaN of NaN; int64 of a decimal.

        Null in any argument gives null.

        Example: `lit(-3).sign()` is `-1`.
        """
        return self._call("sign", (self,))

    def round(self, digits: int | Expression | None = None) -> Expression:
        """To `digits` places after the point (0), half to even.

        A decimal may get a digit more.

        Null in any argument gives null.

        Example: `lit(2.5).round()` is `2.0`.
        """
        return self._call("round", (self,), (digits,))

    def floor(self) -> Expression:
        """The greatest whole number not above x, in x's type.

        A decimal may get a digit more.

        Null in any argument gives null.

        Example: `lit(-1.5).floor()` is `-2.0`.
        """
        return self._call("floor", (self,))

    def ceil(self) -> Expression:
        """The least whole number not below x, in x's type.

        A decimal may get a digit more.

        Null in any argument gives null.

        Example: `lit(-1.5).ceil()` is `-1.0`.
        """
        return self._call("ceil", (self,))

    def trunc(self, digits: int | Expression | None = None) -> Expression:
        """x without what is behind `digits` places after the point (0), in x's type.

        Null in any argument gives null.

        Example: `lit(-1.57).trunc(1)` is `-1.5`.
        """
        return self._call("trunc", (self,), (digits,))

    def try_add(self, y: IntoExpression) -> Expression:
        """`x + y`; null where integers overflow.

        Null in any argument gives null.

        Example: `lit(9223372036854775807).try_add(1)` is `None`.
        """
        return self._call("try_add", (self, y))

    def try_subtract(self, y: IntoExpression) -> Expression:
        """`x - y`; null where integers overflow.

        Null in any argument gives null.

        Example: `lit(1).try_subtract(2)` is `-1`.
        """
        return self._call("try_subtract", (self, y))

    def try_multiply(self, y: IntoExpression) -> Expression:
        """`x * y`; null where integers overflow.

        Null in any argument gives null.

        Example: `lit(9223372036854775807).try_multiply(2)` is `None`.
        """
        return self._call("try_multiply", (self, y))

    def bit_and(self, y: IntoExpression) -> Expression:
        """`x & y`: the bits that are set in both integers.

        Null in any argument gives null.

        Example: `lit(12).bit_and(10)` is `8`.
        """
        return self._call("bit_and", (self, y))

    def bit_or(self, y: IntoExpression) -> Expression:
        """`x | y`: the bits that are set in either integer.

        Null in any argument gives null.

        Example: `lit(12).bit_or(10)` is `14`.
        """
        return self._call("bit_or", (self, y))

    def bit_xor(self, y: IntoExpression) -> Expression:
        """The bits that are set in one of the integers only.

        Null in any argument gives null.

        Example: `lit(12).bit_xor(10)` is `6`.
        """
        return self._call("bit_xor", (self, y))

    def bit_not(self) -> Expression:
        """`~x`: every bit of the int64 turned over, -x - 1.

        Null in any argument gives null.

        Example: `lit(12).bit_not()` is `-13`.
        """
        return self._call("bit_not", (self,))

    def shift_left(self, bits: IntoExpression) -> Expression:
        """`x << bits`: the bits of the int64 moved up, those that leave lost.

        Null unless 0 <= `bits` <= 63.

        Null in any argument gives null.

        Example: `lit(3).shift_left(2)` is `12`.
        """
        return self._call("shift_left", (self, bits))

    def shift_right(self, bits: IntoExpression) -> Expression:
        """`x >> bits`: the bits moved down, the sign kept.

        Null unless 0 <= `bits` <= 63.

        Null in any argument gives null.

        Example: `lit(-8).shift_right(1)` is `-4`.
        """
        return self._call("shift_right", (self, bits))

    def clip(self, low: IntoExpression, high: IntoExpression) -> Expression:
        """x limited to the range from `low` to `high`; NaN stays NaN.

        Null in any argument gives null.

        Example: `lit(7).clip(1, 5)` is `5`.
        """
        return self._call("clip", (self, low, high))

    def gcd(self, y: IntoExpression) -> Expression:
        """The greatest common divisor, not negative; of 0 and 0 it is 0.

        Null in any argument gives null.

        Example: `lit(12).gcd(-18)` is `6`.
        """
        return self._call("gcd", (self, y))

    def lcm(self, y: IntoExpression) -> Expression:
        """The least common multiple, not negative; 0 if one of them is 0.

        Null in any argument gives null.

        Example: `lit(4).lcm(-6)` is `12`.
        """
        return self._call("lcm", (self, y))

    def factorial(self) -> Expression:
        """The product of 1 to x, for x from 0 to 20; an error for others.

        Null in any argument gives null.

        Example: `lit(5).factorial()` is `120`.
        """
        return self._call("factorial", (self,))

    def binom(self, k: IntoExpression) -> Expression:
        """In how many ways k of n things are chosen; 0 if k is more than n.

        An error for negative numbers, and beyond int64.

        Null in any argument gives null.

        Example: `lit(5).binom(2)` is `10`.
        """
        return self._call("binom", (self, k))

    def bit_count(self) -> Expression:
        """How many of the int64's bits are set.

        Null in any argument gives null.

        Example: `lit(255).bit_count()` is `8`.
        """
        return self._call("bit_count", (self,))

    def bin(self) -> Expression:
        """The digits in base 2; of a negative integer all 64 bits.

        Null in any argument gives null.

        Example: `lit(5).bin()` is `"101"`.
        """
        return self._call("bin", (self,))

    def to_base(self, base: int | Expression, digits: int | Expression | None = None) -> Expression:
        """The digits in a base from 2 to 36, at least `digits` (1) of them, behind a minus sign if x is negative.

        Null in any argument gives null.

        Example: `lit(255).to_base(16, 4)` is `"00FF"`.
        """
        return self._call("to_base", (self, base), (digits,))

    def width_bucket(self, low: float | Expression, high: float | Expression, count: int | Expression) -> Expression:
        """The bucket of x, from 1, where `count` buckets of equal width lie from `low` to below `high`.

        0 below them, `count` + 1 above them, and of NaN.

        Null in any argument gives null.

        Example: `lit(5.35).width_bucket(0, 10, 5)` is `3`.
        """
        return self._call("width_bucket", (self, low, high, count))

    def sqrt(self) -> Expression:
        """The square root; NaN of a negative number.

        Null in any argument gives null.

        Example: `lit(9).sqrt()` is `3.0`.
        """
        return self._call("sqrt", (self,))

    def exp(self) -> Expression:
        """e to the power of x.

        Null in any argument gives null.

        Example: `lit(0).exp()` is `1.0`.
        """
        return self._call("exp", (self,))

    def ln(self) -> Expression:
        """The natural logarithm; -inf of 0, NaN of a negative number.

        Null in any argument gives null.

        Example: `lit(1).ln()` is `0.0`.
        """
        return self._call("ln", (self,))

    def log10(self) -> Expression:
        """The logarithm to base 10.

        Null in any argument gives null.

        Example: `lit(1000).log10()` is `3.0`.
        """
        return self._call("log10", (self,))

    def log2(self) -> Expression:
        """The logarithm to base 2.

        Null in any argument gives null.

        Example: `lit(8).log2()` is `3.0`.
        """
        return self._call("log2", (self,))

    def log(self, base: int | Expression) -> Expression:
        """The logarithm of x to a base: log10(x) / log10(base).

        Null in any argument gives null.

        Example: `lit(8).log(2)` is `3.0`.
        """
        return self._call("log", (base, self))

    def power(self, y: IntoExpression) -> Expression:
        """`x ** y`: x to the power of y, in floating point.

        Null in any argument gives null.

        Example: `lit(2).power(10)` is `1024.0`.
        """
        return self._call("power", (self, y))

    def sin(self) -> Expression:
        """The sine of x radians.

        Null in any argument gives null.

        Example: `lit(0).sin()` is `0.0`.
        """
        return self._call("sin", (self,))

    def cos(self) -> Expression:
        """The cosine of x radians.

        Null in any argument gives null.

        Example: `lit(0).cos()` is `1.0`.
        """
        return self._call("cos", (self,))

    def tan(self) -> Expression:
        """The tangent of x radians.

        Null in any argument gives null.

        Example: `lit(0).tan()` is `0.0`.
        """
        return self._call("tan", (self,))

    def cot(self) -> Expression:
        """The cotangent of x radians, 1 / tan(x).

        Null in any argument gives null.

        Example: `pi().divide(4).cot()` is `1.0`.
        """
        return self._call("cot", (self,))

    def asin(self) -> Expression:
        """The arc sine in radians; NaN outside [-1, 1].

        Null in any argument gives null.

        Example: `lit(0).asin()` is `0.0`.
        """
        return self._call("asin", (self,))

    def acos(self) -> Expression:
        """The arc cosine in radians; NaN outside [-1, 1].

        Null in any argument gives null.

        Example: `lit(1).acos()` is `0.0`.
        """
        return self._call("acos", (self,))

    def atan(self) -> Expression:
        """The arc tangent in radians.

        Null in any argument gives null.

        Example: `lit(0).atan()` is `0.0`.
        """
        return self._call("atan", (self,))

    def atan2(self, x: IntoExpression) -> Expression:
        """The angle of the point (x, y) in radians.

        Null in any argument gives null.

        Example: `lit(0).atan2(1)` is `0.0`.
        """
        return self._call("atan2", (self, x))

    def radians(self) -> Expression:
        """Degrees to radians.

        Null in any argument gives null.

        Example: `lit(180).radians()` is `3.141592653589793`.
        """
        return self._call("radians", (self,))

    def degrees(self) -> Expression:
        """Radians to degrees.

        Null in any argument gives null.

        Example: `lit(0).degrees()` is `0.0`.
        """
        return self._call("degrees", (self,))

    def cbrt(self) -> Expression:
        """The cube root.

        Null in any argument gives null.

        Example: `lit(-27).cbrt()` is `-3.0`.
        """
        return self._call("cbrt", (self,))

    def hypot(self, y: IntoExpression) -> Expression:
        """The length of the vector (x, y), without overflow on the way.

        Null in any argument gives null.

        Example: `lit(3).hypot(4)` is `5.0`.
        """
        return self._call("hypot", (self, y))

    def expm1(self) -> Expression:
        """e to the power of x, less 1; exact near 0.

        Null in any argument gives null.

        Example: `lit(0).expm1()` is `0.0`.
        """
        return self._call("expm1", (self,))

    def log1p(self) -> Expression:
        """The natural logarithm of 1 + x; exact near 0.

        Null in any argument gives null.

        Example: `lit(0).log1p()` is `0.0`.
        """
        return self._call("log1p", (self,))

    def sinh(self) -> Expression:
        """The hyperbolic sine.

        Null in any argument gives null.

        Example: `lit(0).sinh()` is `0.0`.
        """
        return self._call("sinh", (self,))

    def cosh(self) -> Expression:
        """The hyperbolic cosine.

        Null in any argument gives null.

        Example: `lit(0).cosh()` is `1.0`.
        """
        return self._call("cosh", (self,))

    def tanh(self) -> Expression:
        """The hyperbolic tangent.

        Null in any argument gives null.

        Example: `lit(0).tanh()` is `0.0`.
        """
        return self._call("tanh", (self,))

    def asinh(self) -> Expression:
        """The inverse hyperbolic sine.

        Null in any argument gives null.

        Example: `lit(0).asinh()` is `0.0`.
        """
        return self._call("asinh", (self,))

    def acosh(self) -> Expression:
        """The inverse hyperbolic cosine; NaN below 1.

        Null in any argument gives null.

        Example: `lit(1).acosh()` is `0.0`.
        """
        return self._call("acosh", (self,))

    def atanh(self) -> Expression:
        """The inverse hyperbolic tangent; NaN outside [-1, 1].

        Null in any argument gives null.

        Example: `lit(0).atanh()` is `0.0`.
        """
        return self._call("atanh", (self,))

    def gamma(self) -> Expression:
        """The gamma function, (x - 1)! of a whole number.

        Inf at 0 and NaN at negative whole numbers.

        Null in any argument gives null.

        Example: `lit(5).gamma()` is `24.0`.
        """
        return self._call("gamma", (self,))

    def lgamma(self) -> Expression:
        """The natural logarithm of the gamma function's absolute value.

        Inf at 0 and at negative whole numbers.

        Null in any argument gives null.

        Example: `lit(1).lgamma()` is `0.0`.
        """
        return self._call("lgamma", (self,))

    def fdiv(self, y: IntoExpression) -> Expression:
        """floor(x / y), in floating point.

        Null in any argument gives null.

        Example: `lit(7).fdiv(-2)` is `-4.0`.
        """
        return self._call("fdiv", (self, y))

    def fmod(self, y: IntoExpression) -> Expression:
        """x - floor(x / y) * y, in floating point: with the sign of y.

        Null in any argument gives null.

        Example: `lit(-7).fmod(2)` is `1.0`.
        """
        return self._call("fmod", (self, y))

    def even(self) -> Expression:
        """The next even whole number away from 0.

        Null in any argument gives null.

        Example: `lit(-2.1).even()` is `-4.0`.
        """
        return self._call("even", (self,))

    def nextafter(self, y: IntoExpression) -> Expression:
        """The next float from x toward y.

        Null in any argument gives null.

        Example: `lit(1).nextafter(2)` is `1.0000000000000002`.
        """
        return self._call("nextafter", (self, y))

    def signbit(self) -> Expression:
        """Whether x has a sign: also -0.0.

        Null in any argument gives null.

        Example: `lit(-0.0).signbit()` is `True`.
        """
        return self._call("signbit", (self,))

    def is_finite(self) -> Expression:
        """Whether x is neither infinite nor NaN.

        Null in any argument gives null.

        Example: `lit(1.5).is_finite()` is `True`.
        """
        return self._call("is_finite", (self,))

    def is_infinite(self) -> Expression:
        """Whether x is inf or -inf.

        Null in any argument gives null.

        Example: `lit(1).divide(0).is_infinite()` is `True`.
        """
        return self._call("is_infinite", (self,))

    def is_nan(self) -> Expression:
        """Whether x is NaN.

        Null in any argument gives null.

        Example: `lit(0.0).divide(0.0).is_nan()` is `True`.
        """
        return self._call("is_nan", (self,))

    def equal(self, y: IntoExpression) -> Expression:
        """`x = y`.

        Null in any argument gives null.

        Example: `lit(1).equal(1)` is `True`.
        """
        return self._call("equal", (self, y))

    def not_equal(self, y: IntoExpression) -> Expression:
        """`x <> y`.

        Null in any argument gives null.

        Example: `lit(1).not_equal(1)` is `False`.
        """
        return self._call("not_equal", (self, y))

    def less(self, y: IntoExpression) -> Expression:
        """`x < y`.

        Null in any argument gives null.

        Example: `lit(1).less(2)` is `True`.
        """
        return self._call("less", (self, y))

    def less_equal(self, y: IntoExpression) -> Expression:
        """`x <= y`.

        Null in any argument gives null.

        Example: `lit(2).less_equal(1)` is `False`.
        """
        return self._call("less_equal", (self, y))

    def greater(self, y: IntoExpression) -> Expression:
        """`x > y`.

        Null in any argument gives null.

        Example: `lit(2).greater(1)` is `True`.
        """
        return self._call("greater", (self, y))

    def greater_equal(self, y: IntoExpression) -> Expression:
        """`x >= y`.

        Null in any argument gives null.

        Example: `lit(1).greater_equal(2)` is `False`.
        """
        return self._call("greater_equal", (self, y))

    def is_distinct(self, y: IntoExpression) -> Expression:
        """`x IS DISTINCT FROM y`: `<>` where null is a value.

        Never null.

        Example: `lit(1).is_distinct(None)` is `True`.
        """
        return self._call("is_distinct", (self, y))

    def is_not_distinct(self, y: IntoExpression) -> Expression:
        """`x IS NOT DISTINCT FROM y`: `=` where null is a value.

        Never null.

        Example: `lit(None).is_not_distinct(None)` is `True`.
        """
        return self._call("is_not_distinct", (self, y))

    def and_(self, y: IntoExpression, *more: IntoExpression) -> Expression:
        """Kleene AND: false and null is false.

        Both sides are computed for every row: an error in one is not hidden by the other. To guard a cast, write `CASE`
        or `TRY_CAST`.

        Example: `lit(False).and_(None)` is `False`.
        """
        return self._call("and", (self, y, *more))

    def or_(self, y: IntoExpression, *more: IntoExpression) -> Expression:
        """Kleene OR: true or null is true.

        Both sides are computed for every row, as of `and`.

        Example: `lit(True).or_(None)` is `True`.
        """
        return self._call("or", (self, y, *more))

    def not_(self) -> Expression:
        """Kleene NOT: null of null.

        Null in any argument gives null.

        Example: `lit(False).not_()` is `True`.
        """
        return self._call("not", (self,))

    def is_null(self) -> Expression:
        """`x IS NULL`.

        NaN is not null.

        Example: `lit(None).is_null()` is `True`.
        """
        return self._call("is_null", (self,))

    def case(self, value: IntoExpression, *more: IntoExpression) -> Expression:
        """`CASE WHEN condition THEN value … ELSE value END`: the first branch whose condition is true, else null.

        `if(condition, value, otherwise)` is short for it.

        Example: `case(lit(1).greater(2), "a", "b")` is `"b"`.
        """
        return self._call("case", (self, value, *more))

    def cut(self, breaks: Sequence[Scalar] | Expression, labels: Sequence[Scalar] | Expression | None = None, left_closed: bool | Expression | None = None) -> Expression:
        """The label of the bin of x, where `breaks`, a list of constants, ascend: n breaks make n + 1 bins.

        A break belongs to the bin below it, or, with `left_closed`, to the one above. Without labels, a bin is a text
        such as `(0, 10]`. NaN is in the last bin.

        Null in any argument gives null.

        Example: `lit(12).cut([0, 10], ["low", "middle", "high"])` is `"high"`.
        """
        return self._call("cut", (self, breaks), (labels, left_closed))

    def coalesce(self, *more: IntoExpression) -> Expression:
        """The first value that is not null.

        What can fail is computed only for rows that are still null.

        Example: `lit(None).coalesce(2, 3)` is `2`.
        """
        return self._call("coalesce", (self, *more))

    def nullif(self, y: IntoExpression) -> Expression:
        """Null where x equals y, else x.

        Example: `lit(1).nullif(1)` is `None`.
        """
        return self._call("nullif", (self, y))

    def greatest(self, *more: IntoExpression) -> Expression:
        """The greatest value that is not null.

        NaN is the greatest.

        Example: `lit(1).greatest(None, 3)` is `3`.
        """
        return self._call("greatest", (self, *more))

    def least(self, *more: IntoExpression) -> Expression:
        """The least value that is not null.

        NaN is the greatest.

        Example: `lit(1).least(None, 3)` is `1`.
        """
        return self._call("least", (self, *more))

    def concat(self, y: IntoExpression, *more: IntoExpression) -> Expression:
        """`x || y`; null if any is.

        Null in any argument gives null.

        Example: `lit("ab").concat("cd")` is `"abcd"`.
        """
        return self._call("concat", (self, y, *more))

    def concat_ws(self, separator: str | Expression, *more: IntoExpression) -> Expression:
        """The strings that are not null, with the separator between them.

        Null only where the separator is.

        Example: `lit("a").concat_ws("-", None, "b")` is `"a-b"`.
        """
        return self._call("concat_ws", (separator, self, *more))

    def length(self) -> Expression:
        """The number of code points.

        Null in any argument gives null.

        Example: `lit("añb").length()` is `3`.
        """
        return self._call("length", (self,))

    def byte_length(self) -> Expression:
        """The number of bytes of binary, or of a string in UTF-8.

        Null in any argument gives null.

        Example: `lit("añb").byte_length()` is `4`.
        """
        return self._call("byte_length", (self,))

    def upper(self) -> Expression:
        """In upper case, code point by code point.

        What has no upper case of one code point stays: `ß`.

        Null in any argument gives null.

        Example: `lit("añb").upper()` is `"AÑB"`.
        """
        return self._call("upper", (self,))

    def lower(self) -> Expression:
        """In lower case, code point by code point.

        What has no lower case of one code point stays.

        Null in any argument gives null.

        Example: `lit("AÑB").lower()` is `"añb"`.
        """
        return self._call("lower", (self,))

    def initcap(self) -> Expression:
        """Each word's first letter in upper case, the rest in lower case.

        Words are runs of letters, digits and marks.

        Null in any argument gives null.

        Example: `lit("JEAN-luc").initcap()` is `"Jean-Luc"`.
        """
        return self._call("initcap", (self,))

    def trim(self, characters: str | Expression | None = None) -> Expression:
        """Without white space (of ASCII) at both ends, or without any of `characters`.

        Null in any argument gives null.

        Example: `lit("  ab ").trim()` is `"ab"`.
        """
        return self._call("trim", (self,), (characters,))

    def ltrim(self, characters: str | Expression | None = None) -> Expression:
        """Without white space, or any of `characters`, at the start.

        Null in any argument gives null.

        Example: `lit("007").ltrim("0")` is `"7"`.
        """
        return self._call("ltrim", (self,), (characters,))

    def rtrim(self, characters: str | Expression | None = None) -> Expression:
        """Without white space, or any of `characters`, at the end.

        Null in any argument gives null.

        Example: `lit("1.500").rtrim("0")` is `"1.5"`.
        """
        return self._call("rtrim", (self,), (characters,))

    def substring(self, start: int | Expression, length: int | Expression | None = None) -> Expression:
        """`length` code points (all) from the 1-based `start`; a negative one counts from the end.

        Positions before the text count, but hold nothing. A negative `length` takes those before `start`.

        Null in any argument gives null.

        Example: `lit("gpuetl").substring(2, 3)` is `"pue"`.
        """
        return self._call("substring", (self, start), (length,))

    def text_slice(self, first: IntoExpression, last: IntoExpression) -> Expression:
        """`text[first:last]`.

        The code points from the 1-based place first to last, both included, from the end where negative; empty where
        there are none.

        Null in any argument gives null.

        Example: `lit("gpuetl").text_slice(-3, -2)` is `"et"`.
        """
        return self._call("text_slice", (self, first, last))

    def left(self, count: int | Expression) -> Expression:
        """The first `count` code points.

        All but the last -`count` where it is negative.

        Null in any argument gives null.

        Example: `lit("gpuetl").left(3)` is `"gpu"`.
        """
        return self._call("left", (self, count))

    def right(self, count: int | Expression) -> Expression:
        """The last `count` code points.

        All but the first -`count` where it is negative.

        Null in any argument gives null.

        Example: `lit("gpuetl").right(3)` is `"etl"`.
        """
        return self._call("right", (self, count))

    def replace(self, old: str | Expression, new: str | Expression) -> Expression:
        """Every `old` replaced by `new`, from the left.

        Null in any argument gives null.

        Example: `lit("a-b-c").replace("-", "+")` is `"a+b+c"`.
        """
        return self._call("replace", (self, old, new))

    def translate(self, old: str | Expression, new: str | Expression) -> Expression:
        """Each character of `old` replaced by the one in its place in `new`, or taken out where `new` is shorter.

        Null in any argument gives null.

        Example: `lit("1.234,5").translate(",.", ".")` is `"1234.5"`.
        """
        return self._call("translate", (self, old, new))

    def remove_prefix(self, prefix: str | Expression) -> Expression:
        """Without `prefix`, where text begins with it.

        Null in any argument gives null.

        Example: `lit("ORD-7").remove_prefix("ORD-")` is `"7"`.
        """
        return self._call("remove_prefix", (self, prefix))

    def remove_suffix(self, suffix: str | Expression) -> Expression:
        """Without `suffix`, where text ends with it.

        Null in any argument gives null.

        Example: `lit("a.csv").remove_suffix(".csv")` is `"a"`.
        """
        return self._call("remove_suffix", (self, suffix))

    def repeat(self, count: int | Expression) -> Expression:
        """The text `count` times in a row, 1,000,000 at most.

        Empty where it is negative.

        Null in any argument gives null.

        Example: `lit("ab").repeat(3)` is `"ababab"`.
        """
        return self._call("repeat", (self, count))

    def split_part(self, separator: str | Expression, index: int | Expression) -> Expression:
        """The part at `index` between separators: from 1, or from -1 at the end; empty where there is none.

        An empty separator parts all characters.

        Null in any argument gives null.

        Example: `lit("a/b/c").split_part("/", 2)` is `"b"`.
        """
        return self._call("split_part", (self, separator, index))

    def strpos(self, part: str | Expression) -> Expression:
        """Where `part` begins, in code points from 1; 0 where it is not found.

        Null in any argument gives null.

        Example: `lit("añb").strpos("b")` is `3`.
        """
        return self._call("strpos", (self, part))

    def reverse(self) -> Expression:
        """The code points in reverse order.

        Null in any argument gives null.

        Example: `lit("abc").reverse()` is `"cba"`.
        """
        return self._call("reverse", (self,))

    def lpad(self, length: int | Expression, fill: str | Expression | None = None) -> Expression:
        """Filled at the start (with spaces) to `length` code points, 1,000,000 at most.

        Longer text is kept whole, and a longer `fill` is repeated.

        Null in any argument gives null.

        Example: `lit("7").lpad(3, "0")` is `"007"`.
        """
        return self._call("lpad", (self, length), (fill,))

    def rpad(self, length: int | Expression, fill: str | Expression | None = None) -> Expression:
        """Filled at the end (with spaces) to `length` code points, 1,000,000 at most.

        Longer text is kept whole, and a longer `fill` is repeated.

        Null in any argument gives null.

        Example: `lit("7").rpad(3, "0")` is `"700"`.
        """
        return self._call("rpad", (self, length), (fill,))

    def starts_with(self, prefix: str | Expression) -> Expression:
        """Whether text begins with `prefix`.

        Null in any argument gives null.

        Example: `lit("gpuetl").starts_with("gpu")` is `True`.
        """
        return self._call("starts_with", (self, prefix))

    def ends_with(self, suffix: str | Expression) -> Expression:
        """Whether text ends with `suffix`.

        Null in any argument gives null.

        Example: `lit("gpuetl").ends_with("etl")` is `True`.
        """
        return self._call("ends_with", (self, suffix))

    def contains(self, part: str | Expression) -> Expression:
        """Whether text contains `part`.

        Null in any argument gives null.

        Example: `lit("gpuetl").contains("ue")` is `True`.
        """
        return self._call("contains", (self, part))

    def like(self, pattern: str | Expression, escape: str | Expression | None = None) -> Expression:
        """`text LIKE pattern`: % is any text, _ one code point.

        After `ESCAPE '!'`, !% and !_ are themselves.

        Null in any argument gives null.

        Example: `lit("gpuetl").like("g%l")` is `True`.
        """
        return self._call("like", (self, pattern), (escape,))

    def ilike(self, pattern: str | Expression, escape: str | Expression | None = None) -> Expression:
        """`text ILIKE pattern`: LIKE of both in lower case.

        Null in any argument gives null.

        Example: `lit("GPUetl").ilike("g%L")` is `True`.
        """
        return self._call("ilike", (self, pattern), (escape,))

    def regexp_like(self, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
        """Whether the pattern is found anywhere in text.

        Also `text RLIKE pattern` and `text ~ pattern`, `!~` for not.

        Null in any argument gives null.

        Example: `lit("order 66").regexp_like("[0-9]+$")` is `True`.
        """
        return self._call("regexp_like", (self, pattern), (options,))

    def regexp_full_match(self, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
        """Whether the pattern matches the whole text.

        Also `text SIMILAR TO pattern`.

        Null in any argument gives null.

        Example: `lit("order 66").regexp_full_match(r"\\d+")` is `False`.
        """
        return self._call("regexp_full_match", (self, pattern), (options,))

    def regexp_extract(self, pattern: str | Expression, group: int | Sequence[str] | Expression | None = None, options: str | Expression | None = None) -> Expression:
        """What the first match's group matched (0, the whole match), of several times the last.

        Null without a match, empty if the group took no part. A list of names, `['year', 'month']`, gives a struct of
        the first groups.

        Null in any argument gives null.

        Example: `lit("a=1, b=2").regexp_extract(r"b=(\\d+)", 1)` is `"2"`.
        """
        return self._call("regexp_extract", (self, pattern), (group, options))

    def regexp_extract_all(self, pattern: str | Expression, group: int | Sequence[str] | Expression | None = None, options: str | Expression | None = None) -> Expression:
        """What a group (0, the whole match) matched in each match, as list<string>; null where it took no part.

        A list of names gives a list of structs.

        Null in any argument gives null.

        Example: `lit("a=1, b=2").regexp_extract_all(r"(\\w)=\\d", 1)` is `["a", "b"]`.
        """
        return self._call("regexp_extract_all", (self, pattern), (group, options))

    def regexp_split_to_array(self, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
        """The parts between the matches, as list<string>.

        Null in any argument gives null.

        Example: `lit("a, b,c").regexp_split_to_array(r",\\s*")` is `["a", "b", "c"]`.
        """
        return self._call("regexp_split_to_array", (self, pattern), (options,))

    def regexp_replace(self, pattern: str | Expression, replacement: str | Expression, options: str | Expression | None = None) -> Expression:
        """Every match replaced, from the left; `\\1` to `\\9` are its groups, `\\0` is all of it, `\\\\` a backslash.

        `options` have a `g`.

        Null in any argument gives null.

        Example: `lit("2024-03-09").regexp_replace(r"(\\d+)-(\\d+)-(\\d+)", r"\\3.\\2.\\1")` is `"09.03.2024"`.
        """
        return self._call("regexp_replace", (self, pattern, replacement), (options,))

    def regexp_count(self, pattern: str | Expression, options: str | Expression | None = None) -> Expression:
        """How many matches there are, none overlapping another.

        Null in any argument gives null.

        Example: `lit("a1b22").regexp_count(r"\\d+")` is `2`.
        """
        return self._call("regexp_count", (self, pattern), (options,))

    def ascii(self) -> Expression:
        """The number of the first code point; 0 of an empty string.

        Null in any argument gives null.

        Example: `lit("añb").ascii()` is `97`.
        """
        return self._call("ascii", (self,))

    def unicode(self) -> Expression:
        """The number of the first code point; -1 of an empty string.

        Null in any argument gives null.

        Example: `lit("ñ").unicode()` is `241`.
        """
        return self._call("unicode", (self,))

    def chr(self) -> Expression:
        """The code point of a number; an error for a number that is none.

        Null in any argument gives null.

        Example: `lit(241).chr()` is `"ñ"`.
        """
        return self._call("chr", (self,))

    def levenshtein(self, y: IntoExpression) -> Expression:
        """The fewest code points to insert, delete or replace to make y of x.

        An error where both have more than 1,024.

        Null in any argument gives null.

        Example: `lit("kitten").levenshtein("sitting")` is `3`.
        """
        return self._call("levenshtein", (self, y))

    def hamming(self, y: IntoExpression) -> Expression:
        """The number of places at which the code points differ.

        An error for strings of two lengths.

        Null in any argument gives null.

        Example: `lit("duck").hamming("luck")` is `1`.
        """
        return self._call("hamming", (self, y))

    def jaccard(self, y: IntoExpression) -> Expression:
        """The share of the distinct code points of both that are in each.

        An error for an empty string.

        Null in any argument gives null.

        Example: `lit("duck").jaccard("luck")` is `0.6`.
        """
        return self._call("jaccard", (self, y))

    def damerau_levenshtein(self, y: IntoExpression) -> Expression:
        """As `levenshtein`, but two neighbours that change places count once.

        An error where a string has more than 256 code points.

        Null in any argument gives null.

        Example: `lit("from").damerau_levenshtein("form")` is `1`.
        """
        return self._call("damerau_levenshtein", (self, y))

    def jaro_similarity(self, y: IntoExpression) -> Expression:
        """The Jaro similarity of the code points, from 0 to 1.

        An error where a string has more than 1,024.

        Null in any argument gives null.

        Example: `lit("duck").jaro_similarity("luck")` is `0.8333333333333334`.
        """
        return self._call("jaro_similarity", (self, y))

    def jaro_winkler_similarity(self, y: IntoExpression) -> Expression:
        """The Jaro similarity, raised for up to 4 equal code points at the start where it is above 0.7.

        An error where a string has more than 1,024.

        Null in any argument gives null.

        Example: `lit("duck").jaro_winkler_similarity("duke")` is `0.8666666666666667`.
        """
        return self._call("jaro_winkler_similarity", (self, y))

    def strip_accents(self) -> Expression:
        """Letters without their accents and other marks, which also go where they stand alone.

        `ø` and `ß` have none.

        Null in any argument gives null.

        Example: `lit("Ñandú").strip_accents()` is `"Nandu"`.
        """
        return self._call("strip_accents", (self,))

    def url_encode(self) -> Expression:
        """The UTF-8 bytes but letters, digits and `-_.~` of ASCII as %XX.

        Null in any argument gives null.

        Example: `lit("a b/ñ").url_encode()` is `"a%20b%2F%C3%B1"`.
        """
        return self._call("url_encode", (self,))

    def url_decode(self) -> Expression:
        """Each %XX replaced by its byte, other text kept.

        An error where this is no UTF-8.

        Null in any argument gives null.

        Example: `lit("a%20b%2F%C3%B1").url_decode()` is `"a b/ñ"`.
        """
        return self._call("url_decode", (self,))

    def regexp_escape(self) -> Expression:
        """A regular expression that matches the text alone.

        Null in any argument gives null.

        Example: `lit("1.5 (a)").regexp_escape()` is `r"1\\.5\\ \\(a\\)"`.
        """
        return self._call("regexp_escape", (self,))

    def parse_filename(self, trim_extension: bool | str | Expression | None = None, separator: str | Expression | None = None) -> Expression:
        """The name behind the last separator.

        With `true` without what begins at its last dot.

        Null in any argument gives null.

        Example: `lit("data/2026/sales.csv").parse_filename(True)` is `"sales"`.
        """
        return self._call("parse_filename", (self,), (trim_extension, separator))

    def parse_dirpath(self, separator: str | Expression | None = None) -> Expression:
        """What stands before the last separator.

        Null in any argument gives null.

        Example: `lit("data/2026/sales.csv").parse_dirpath()` is `"data/2026"`.
        """
        return self._call("parse_dirpath", (self,), (separator,))

    def parse_dirname(self, separator: str | Expression | None = None) -> Expression:
        """The first folder, or the separator where a path begins with one.

        Empty where there is none.

        Null in any argument gives null.

        Example: `lit("data/2026/sales.csv").parse_dirname()` is `"data"`.
        """
        return self._call("parse_dirname", (self,), (separator,))

    def parse_path(self, separator: str | Expression | None = None) -> Expression:
        """The folders and the name, as list<string>.

        A separator at the start is one of them.

        Null in any argument gives null.

        Example: `lit("/data/sales.csv").parse_path()` is `["/", "data", "sales.csv"]`.
        """
        return self._call("parse_path", (self,), (separator,))

    def format_bytes(self) -> Expression:
        """A number of bytes in units of 1,024, with one digit after the point, which is not rounded.

        Null in any argument gives null.

        Example: `lit(16384).format_bytes()` is `"16.0 KiB"`.
        """
        return self._call("format_bytes", (self,))

    def formatreadabledecimalsize(self) -> Expression:
        """A number of bytes in units of 1,000, with one digit after the point, which is not rounded.

        Null in any argument gives null.

        Example: `lit(16000).formatreadabledecimalsize()` is `"16.0 kB"`.
        """
        return self._call("formatreadabledecimalsize", (self,))

    def parse_formatted_bytes(self) -> Expression:
        """The bytes of a text such as `1.5 GiB`.

        B, KB, MB, GB and TB are units of 1,000, KiB to TiB of 1,024, in any case.

        Null in any argument gives null.

        Example: `lit("1.5 KiB").parse_formatted_bytes()` is `1536`.
        """
        return self._call("parse_formatted_bytes", (self,))

    def bar(self, low: float | Expression, high: float | Expression, width: float | Expression | None = None) -> Expression:
        """A bar of eighths of characters, filled up with spaces to `width` (80) where x is `high`.

        Empty at `low`.

        Null in any argument gives null.

        Example: `lit(5).bar(0, 10, 4)` is `"██  "`.
        """
        return self._call("bar", (self, low, high), (width,))

    def format(self, format: str | Expression, *more: IntoExpression) -> Expression:
        """Text with values in the places of `{}`.

        Null in any argument gives null.

        Example: `lit("a").format("{}: {:.2f}", lit(1.5).cast("float64"))` is `"a: 1.50"`.
        """
        return self._call("format", (format, self, *more))

    def printf(self, format: str | Expression, *more: IntoExpression) -> Expression:
        """Text with values in the places of `%s`, `%d` and `%.2f`.

        Null in any argument gives null.

        Example: `lit(42).printf("%05d|%-3s|", "a")` is `"00042|a  |"`.
        """
        return self._call("printf", (format, self, *more))

    def year(self) -> Expression:
        """The year.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).year()` is `2013`.
        """
        return self._call("year", (self,))

    def decade(self) -> Expression:
        """The year by 10, without its fraction.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).decade()` is `201`.
        """
        return self._call("decade", (self,))

    def century(self) -> Expression:
        """The century: 2001 to 2100 are the 21st; that of the year 0 is -1.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).century()` is `21`.
        """
        return self._call("century", (self,))

    def millennium(self) -> Expression:
        """The millennium: 2001 to 3000 are the third; that of the year 0 is -1.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).millennium()` is `3`.
        """
        return self._call("millennium", (self,))

    def era(self) -> Expression:
        """1 from the year 1 on, else 0.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).era()` is `1`.
        """
        return self._call("era", (self,))

    def yearweek(self) -> Expression:
        """The ISO year and week in one number.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).yearweek()` is `201310`.
        """
        return self._call("yearweek", (self,))

    def julian(self) -> Expression:
        """The Julian day number, from midnight, with the day's fraction.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).julian()` is `2456361.0`.
        """
        return self._call("julian", (self,))

    def quarter(self) -> Expression:
        """The quarter, 1 to 4.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).quarter()` is `1`.
        """
        return self._call("quarter", (self,))

    def month(self) -> Expression:
        """The month, 1 to 12.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).month()` is `3`.
        """
        return self._call("month", (self,))

    def week(self) -> Expression:
        """The ISO week, 1 to 53.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).week()` is `10`.
        """
        return self._call("week", (self,))

    def iso_year(self) -> Expression:
        """The year to which the ISO week belongs.

        Null in any argument gives null.

        Example: `lit(date(2012, 12, 31)).iso_year()` is `2013`.
        """
        return self._call("iso_year", (self,))

    def day(self) -> Expression:
        """The day of the month.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).day()` is `9`.
        """
        return self._call("day", (self,))

    def dayofweek(self) -> Expression:
        """The day of the week: Sunday is 0, Saturday 6.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).dayofweek()` is `6`.
        """
        return self._call("dayofweek", (self,))

    def isodow(self) -> Expression:
        """The ISO day of the week: Monday is 1, Sunday 7.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).isodow()` is `6`.
        """
        return self._call("isodow", (self,))

    def dayofyear(self) -> Expression:
        """The day of the year, from 1.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).dayofyear()` is `68`.
        """
        return self._call("dayofyear", (self,))

    def hour(self) -> Expression:
        """The hour, 0 to 23.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).hour()` is `17`.
        """
        return self._call("hour", (self,))

    def minute(self) -> Expression:
        """The minute.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).minute()` is `5`.
        """
        return self._call("minute", (self,))

    def second(self) -> Expression:
        """The second, whole.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).second()` is `30`.
        """
        return self._call("second", (self,))

    def millisecond(self) -> Expression:
        """The whole milliseconds of the second, 0 to 999.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).millisecond()` is `250`.
        """
        return self._call("millisecond", (self,))

    def microsecond(self) -> Expression:
        """The microseconds of the second, 0 to 999,999 (of the millisecond in Arrow).

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).microsecond()` is `250000`.
        """
        return self._call("microsecond", (self,))

    def day_name(self) -> Expression:
        """The English name of the day of the week.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).day_name()` is `"Saturday"`.
        """
        return self._call("day_name", (self,))

    def month_name(self) -> Expression:
        """The English name of the month.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).month_name()` is `"March"`.
        """
        return self._call("month_name", (self,))

    def last_day(self) -> Expression:
        """The last day of the month.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).last_day()` is `date(2013, 3, 31)`.
        """
        return self._call("last_day", (self,))

    def days_in_month(self) -> Expression:
        """How many days the month has.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).days_in_month()` is `31`.
        """
        return self._call("days_in_month", (self,))

    def is_leap_year(self) -> Expression:
        """Whether the year has 366 days.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).is_leap_year()` is `False`.
        """
        return self._call("is_leap_year", (self,))

    def to_date(self) -> Expression:
        """The day of a timestamp.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).to_date()` is `date(2013, 3, 9)`.
        """
        return self._call("to_date", (self,))

    def epoch(self) -> Expression:
        """Seconds since 1970-01-01 (UTC where zoned), of a time or a duration, with their fraction.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")).epoch()` is `60.5`.
        """
        return self._call("epoch", (self,))

    def epoch_ms(self) -> Expression:
        """Milliseconds since 1970-01-01 (UTC where zoned), of a time or a duration, rounded down.

        Of an integer, `from_epoch_ms`.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")).epoch_ms()` is `60500`.
        """
        return self._call("epoch_ms", (self,))

    def epoch_us(self) -> Expression:
        """Microseconds since 1970-01-01 (UTC where zoned), of a time or a duration.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")).epoch_us()` is `60500000`.
        """
        return self._call("epoch_us", (self,))

    def epoch_ns(self) -> Expression:
        """Nanoseconds since 1970-01-01 (UTC where zoned), of a time or a duration.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("1970-01-01 00:01:00.500000")).epoch_ns()` is `60500000000`.
        """
        return self._call("epoch_ns", (self,))

    def make_date(self, month: IntoExpression, day: IntoExpression) -> Expression:
        """The date of the parts; an error if they are not a valid date.

        Null in any argument gives null.

        Example: `lit(2013).make_date(3, 9)` is `date(2013, 3, 9)`.
        """
        return self._call("make_date", (self, month, day))

    def make_timestamp(self, month: IntoExpression, day: IntoExpression, hour: IntoExpression, minute: IntoExpression, second: IntoExpression = None) -> Expression:
        """The naive timestamp of the parts; an error if they are not a valid date and time.

        Seconds may have a fraction.

        Null in any argument gives null.

        Example: `lit(2013).make_timestamp(3, 9, 17, 5)` is `datetime.fromisoformat("2013-03-09 17:05:00")`.
        """
        return self._call("make_timestamp", (self, month, day, hour, minute), (second,))

    def make_time(self, minute: IntoExpression, second: IntoExpression) -> Expression:
        """The time of day of the parts; an error if they are not one.

        Seconds may have a fraction.

        Null in any argument gives null.

        Example: `lit(17).make_time(5, 30.25)` is `time.fromisoformat("17:05:30.250000")`.
        """
        return self._call("make_time", (self, minute, second))

    def to_timestamp(self) -> Expression:
        """The instant, in UTC, of seconds since 1970, as of `from_epoch`.

        Null in any argument gives null.

        Example: `lit(60.5).to_timestamp()` is `datetime.fromisoformat("1970-01-01 00:01:00.500000+00:00")`.
        """
        return self._call("to_timestamp", (self,))

    def from_epoch(self) -> Expression:
        """The naive timestamp, in UTC, of seconds since 1970.

        A fraction is rounded to microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(60.5).from_epoch()` is `datetime.fromisoformat("1970-01-01 00:01:00.500000")`.
        """
        return self._call("from_epoch", (self,))

    def from_epoch_ms(self) -> Expression:
        """The naive timestamp, in UTC, of whole milliseconds since 1970.

        Null in any argument gives null.

        Example: `lit(60500).from_epoch_ms()` is `datetime.fromisoformat("1970-01-01 00:01:00.500000")`.
        """
        return self._call("from_epoch_ms", (self,))

    def from_epoch_us(self) -> Expression:
        """The naive timestamp, in UTC, of microseconds since 1970.

        Null in any argument gives null.

        Example: `lit(60500000).from_epoch_us()` is `datetime.fromisoformat("1970-01-01 00:01:00.500000")`.
        """
        return self._call("from_epoch_us", (self,))

    def date_add(self, interval: timedelta | Expression) -> Expression:
        """`x + INTERVAL '1 month'`: months later, on the month's last day if it has no such day.

        Then the interval's days and hours. Of a date, a timestamp. A zoned one is moved on its clock.

        Null in any argument gives null.

        Example: `lit(date(2013, 1, 31)).date_add(expr("INTERVAL '1 month'"))` is `datetime.fromisoformat("2013-02-28 00:00:00")`.
        """
        return self._call("date_add", (self, interval))

    def add_days(self, n: IntoExpression) -> Expression:
        """n days later, on the clock; a date stays a date.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).add_days(-9)` is `date(2013, 2, 28)`.
        """
        return self._call("add_days", (self, n))

    def add_months(self, n: IntoExpression) -> Expression:
        """n months later, on the clock.

        The month's last day if it has no such day.

        Null in any argument gives null.

        Example: `lit(date(2013, 1, 31)).add_months(1)` is `date(2013, 2, 28)`.
        """
        return self._call("add_months", (self, n))

    def date_diff(self, unit: DateUnit | Expression, b: IntoExpression) -> Expression:
        """How many units (millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond) begin after a and up to b: the `date_trunc` of b less that of a, in units.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).date_diff("month", date(2013, 5, 1))` is `2`.
        """
        return self._call("date_diff", (unit, self, b))

    def date_sub(self, unit: DateUnit | Expression, b: IntoExpression) -> Expression:
        """How many whole units pass from a to b: negative ones if b is before a.

        A month is complete at the same day and time of the next one, or on its last day. Days and longer units of zoned
        timestamps are those of the clock.

        Null in any argument gives null.

        Example: `lit(date(2013, 1, 31)).date_sub("month", date(2013, 2, 28))` is `1`.
        """
        return self._call("date_sub", (unit, self, b))

    def date_trunc(self, unit: DateUnit | Expression) -> Expression:
        """The start of the unit.

        Millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond. On
        a zone's clock a day starts with its first instant; smaller units keep the offset.

        Null in any argument gives null.

        Example: `lit(date(2013, 3, 9)).date_trunc("month")` is `date(2013, 3, 1)`.
        """
        return self._call("date_trunc", (unit, self))

    def time_bucket(self, width: timedelta | Expression, origin: date | Expression | None = None) -> Expression:
        """The start of the bucket: buckets are `width` long and one starts at `origin` (2000-01-03, a Monday.

        In UTC where zoned). A width of months or years counts months on the clock and keeps a date a date; its origin
        is the start of a month (2000-01). In the place of `origin`, an interval moves all buckets by it.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).time_bucket(timedelta(minutes=15))` is `datetime.fromisoformat("2013-03-09 17:00:00")`.
        """
        return self._call("time_bucket", (width, self), (origin,))

    def weeks(self) -> Expression:
        """The duration of x weeks.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(2).weeks()` is `timedelta(days=14)`.
        """
        return self._call("weeks", (self,))

    def days(self) -> Expression:
        """The duration of x days.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(2).days()` is `timedelta(days=2)`.
        """
        return self._call("days", (self,))

    def hours(self) -> Expression:
        """The duration of x hours.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(1.5).hours()` is `timedelta(minutes=90)`.
        """
        return self._call("hours", (self,))

    def minutes(self) -> Expression:
        """The duration of x minutes.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(90).minutes()` is `timedelta(minutes=90)`.
        """
        return self._call("minutes", (self,))

    def seconds(self) -> Expression:
        """The duration of x seconds.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(0.25).seconds()` is `timedelta(seconds=0.25)`.
        """
        return self._call("seconds", (self,))

    def milliseconds(self) -> Expression:
        """The duration of x milliseconds.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(250).milliseconds()` is `timedelta(seconds=0.25)`.
        """
        return self._call("milliseconds", (self,))

    def microseconds(self) -> Expression:
        """The duration of x microseconds.

        A fraction is rounded to whole microseconds, half to even.

        Null in any argument gives null.

        Example: `lit(-1).microseconds()` is `timedelta(seconds=-1e-06)`.
        """
        return self._call("microseconds", (self,))

    def strftime(self, format: str | Expression) -> Expression:
        """x as text; the year must have 4 digits.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-03-09 17:05:30.250000")).strftime("%d.%m.%Y %H:%M")` is `"09.03.2013 17:05"`.
        """
        return self._call("strftime", (self, format))

    def strptime(self, format: str | Sequence[str] | Expression) -> Expression:
        """The timestamp that `strftime` writes as exactly this text, in UTC with %z; an error if there is none.

        Parts that the format lacks are 0; `to_date` takes the day. Of a list of formats, `strptime(x, ['%d.%m.%Y',
        '%Y-%m-%d'])`, the first one that the text has counts.

        Null in any argument gives null.

        Example: `lit("09.03.2013 17:05").strptime("%d.%m.%Y %H:%M")` is `datetime.fromisoformat("2013-03-09 17:05:00")`.
        """
        return self._call("strptime", (self, format))

    def try_strptime(self, format: str | Sequence[str] | Expression) -> Expression:
        """As `strptime`, but null if there is none.

        Null in any argument gives null.

        Example: `lit("29.02.2013").try_strptime("%d.%m.%Y")` is `None`.
        """
        return self._call("try_strptime", (self, format))

    def at_time_zone(self, zone: str | Expression) -> Expression:
        """`x AT TIME ZONE zone`: the instant at which the zone's clock shows a naive x.

        What it shows at a zoned x.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-07-09 12:00:00")).at_time_zone("Europe/Berlin")` is `datetime.fromisoformat("2013-07-09 10:00:00+00:00")`.
        """
        return self._call("at_time_zone", (self, zone))

    def assume_zone(self, zone: str | Expression, *, ambiguous: ZoneChoice | Expression | None = None, nonexistent: ZoneChoice | Expression | None = None) -> Expression:
        """The instant at which the zone's clock shows x.

        Where the clock is turned forward, 'earliest' is the last microsecond before, 'latest' the change itself.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-10-27 02:30:00")).assume_zone("Europe/Berlin", ambiguous="earliest")` is `datetime.fromisoformat("2013-10-27 02:30:00+02:00")`.
        """
        return self._call("assume_zone", (self, zone), ambiguous=ambiguous, nonexistent=nonexistent)

    def make_timestamptz(self, month: IntoExpression, day: IntoExpression, hour: IntoExpression, minute: IntoExpression, second: IntoExpression, zone: str | Expression) -> Expression:
        """The instant at which the zone's clock shows the parts.

        An error as in `make_timestamp`, and where it shows them twice or never.

        Null in any argument gives null.

        Example: `lit(2013).make_timestamptz(7, 9, 12, 0, 0, "Europe/Berlin")` is `datetime.fromisoformat("2013-07-09 12:00:00+02:00")`.
        """
        return self._call("make_timestamptz", (self, month, day, hour, minute, second, zone))

    def local_time(self) -> Expression:
        """What the clock of x's own zone shows, as a naive timestamp.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-07-09 10:00:00+00:00")).convert_zone("Europe/Berlin").local_time()` is `datetime.fromisoformat("2013-07-09 12:00:00")`.
        """
        return self._call("local_time", (self,))

    def convert_zone(self, zone: str | Expression) -> Expression:
        """The same instant in another zone.

        Null in any argument gives null.

        Example: `lit(datetime.fromisoformat("2013-07-09 10:00:00+00:00")).convert_zone("Asia/Tokyo")` is `datetime.fromisoformat("2013-07-09 10:00:00+00:00")`.
        """
        return self._call("convert_zone", (self, zone))

    def range(self, stop: IntoExpression = None, step: IntoExpression = None) -> Expression:
        """`range(stop)`: the whole numbers from 0, or from start, up to stop without it, step apart.

        None where step is 0; 16,777,216 at most.

        Null in any argument gives null.

        Example: `lit(1).range(7, 2)` is `[1, 3, 5]`.
        """
        return self._call("range", (self,), (stop, step))

    def generate_series(self, stop: IntoExpression = None, step: IntoExpression = None) -> Expression:
        """As `range`, and stop is one of them.

        Null in any argument gives null.

        Example: `lit(1).generate_series(3)` is `[1, 2, 3]`.
        """
        return self._call("generate_series", (self,), (stop, step))

    def list_length(self) -> Expression:
        """The number of elements, nulls included, or of entries of a map.

        0 of an empty one.

        Null in any argument gives null.

        Example: `lit("a,b,c").split(",").list_length()` is `3`.
        """
        return self._call("list_length", (self,))

    def list_contains(self, value: IntoExpression) -> Expression:
        """Whether an element is `=` value; null elements are not.

        Null in any argument gives null.

        Example: `lit("a,b,c").split(",").list_contains("b")` is `True`.
        """
        return self._call("list_contains", (self, value))

    def list_position(self, value: IntoExpression) -> Expression:
        """The 1-based place of the first element that is `=` value, of a null that of the first null.

        Null where there is none.

        Example: `lit(["a", "b", "a"]).list_position("b")` is `2`.
        """
        return self._call("list_position", (self, value))

    def list_has_any(self, y: IntoExpression) -> Expression:
        """Whether an element of x, not null, is `=` one of y.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_has_any([2, 3])` is `True`.
        """
        return self._call("list_has_any", (self, y))

    def list_has_all(self, y: IntoExpression) -> Expression:
        """Whether each element of y that is not null is `=` one of x.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_has_all([3, 1])` is `True`.
        """
        return self._call("list_has_all", (self, y))

    def list_get(self, index: IntoExpression) -> Expression:
        """The element at the 0-based index, from the end where it is negative.

        Null beyond the list.

        Null in any argument gives null.

        Example: `lit("a,b,c").split(",").list_get(-1)` is `"c"`.
        """
        return self._call("list_get", (self, index))

    def list_extract(self, index: IntoExpression) -> Expression:
        """`x[index]`: the element at the 1-based index, from the end where it is negative.

        Null beyond the list, and at 0.

        Null in any argument gives null.

        Example: `lit("a,b,c").split(",").list_extract(1)` is `"a"`.
        """
        return self._call("list_extract", (self, index))

    def split(self, separator: str | Expression) -> Expression:
        """The parts between the separators, as list<string>; '' gives a list of ''.

        An empty separator parts all characters.

        Null in any argument gives null.

        Example: `lit("a,b,c").split(",")` is `["a", "b", "c"]`.
        """
        return self._call("split", (self, separator))

    def list_transform(self, function: Callable[..., IntoExpression] | Expression) -> Expression:
        """`list_transform(x, lambda e.

        E + 1)`: what a lambda gives of each element, and with `lambda e, i:` of its 1-based place too; it may read
        columns.

        Example: `lit([1, 2, 3]).list_transform(lambda e: e.multiply(10))` is `[10, 20, 30]`.
        """
        return self._call("list_transform", (self, function))

    def list_filter(self, function: Callable[..., IntoExpression] | Expression) -> Expression:
        """The elements of which a lambda is true.

        Example: `lit([1, 2, 3]).list_filter(lambda e: e.greater(1))` is `[2, 3]`.
        """
        return self._call("list_filter", (self, function))

    def list_slice(self, first: IntoExpression, last: IntoExpression, step: IntoExpression = None) -> Expression:
        """`x[first:last]`: the elements from one 1-based place to another, both included.

        Negative places count from the end; `x[2:]` and `x[:-2]` leave one out. `x[first:last:step]` takes every step-th
        of them. With a negative step, first is the greater place: `x[:-:-1]` is all from the end.

        Null in any argument gives null.

        Example: `lit([1, 2, 3, 4]).list_slice(2, -2)` is `[2, 3]`.
        """
        return self._call("list_slice", (self, first, last), (step,))

    def list_concat(self, *y: IntoExpression) -> Expression:
        """The elements of all lists, one list after the other; a null list has none.

        Never null.

        Example: `lit([1, 2]).list_concat([3])` is `[1, 2, 3]`.
        """
        return self._call("list_concat", (self, *y))

    def list_append(self, value: IntoExpression) -> Expression:
        """The list with value as its last element; a null list has none.

        Never null.

        Example: `lit([1, 2]).list_append(3)` is `[1, 2, 3]`.
        """
        return self._call("list_append", (self, value))

    def list_prepend(self, x: IntoExpression) -> Expression:
        """The list with value as its first element; a null list has none.

        Never null.

        Example: `lit(1).list_prepend([2, 3])` is `[1, 2, 3]`.
        """
        return self._call("list_prepend", (self, x))

    def list_reverse(self) -> Expression:
        """The elements from the last to the first.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_reverse()` is `[3, 2, 1]`.
        """
        return self._call("list_reverse", (self,))

    def list_sort(self, order: str | Expression | None = None, nulls: str | Expression | None = None) -> Expression:
        """The elements in order: 'asc' or 'desc', 'nulls first' or 'nulls last', which are last otherwise.

        NaN is the greatest value.

        Null in any argument gives null.

        Example: `lit([2, 3, 1]).list_sort("desc")` is `[3, 2, 1]`.
        """
        return self._call("list_sort", (self,), (order, nulls))

    def list_reverse_sort(self, nulls: str | Expression | None = None) -> Expression:
        """`list_sort(x, 'desc')`: nulls are last, unless 'nulls first' is given.

        Null in any argument gives null.

        Example: `lit([2, 3, 1]).list_reverse_sort()` is `[3, 2, 1]`.
        """
        return self._call("list_reverse_sort", (self,), (nulls,))

    def list_grade_up(self, order: str | Expression | None = None, nulls: str | Expression | None = None) -> Expression:
        """The 1-based places of the elements in the order of `list_sort`.

        Equal ones as they stand.

        Null in any argument gives null.

        Example: `lit([30, 10, 20]).list_grade_up()` is `[2, 3, 1]`.
        """
        return self._call("list_grade_up", (self,), (order, nulls))

    def list_distinct(self) -> Expression:
        """The distinct elements that are not null, in the order in which they first come.

        NaN is one value.

        Null in any argument gives null.

        Example: `lit([1, 2, 1]).list_distinct()` is `[1, 2]`.
        """
        return self._call("list_distinct", (self,))

    def list_unique(self) -> Expression:
        """The number of distinct elements that are not null.

        Null in any argument gives null.

        Example: `lit([1, 2, 1]).list_unique()` is `2`.
        """
        return self._call("list_unique", (self,))

    def list_intersect(self, y: IntoExpression) -> Expression:
        """The distinct elements of x, not null, that are `=` one of y, in the order of x.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_intersect([3, 2])` is `[2, 3]`.
        """
        return self._call("list_intersect", (self, y))

    def list_select(self, places: IntoExpression) -> Expression:
        """The elements at the 1-based places, from the end where negative.

        Null beyond the list.

        Null in any argument gives null.

        Example: `lit(["a", "b", "c"]).list_select([3, 1])` is `["c", "a"]`.
        """
        return self._call("list_select", (self, places))

    def list_where(self, mask: IntoExpression) -> Expression:
        """The elements beside which mask is true.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_where([True, False, True])` is `[1, 3]`.
        """
        return self._call("list_where", (self, mask))

    def flatten(self) -> Expression:
        """The elements of the lists in a list, one list after the other.

        A null list in it has none.

        Null in any argument gives null.

        Example: `lit([[1, 2], [3]]).flatten()` is `[1, 2, 3]`.
        """
        return self._call("flatten", (self,))

    def list_resize(self, size: IntoExpression, value: IntoExpression = None) -> Expression:
        """The first elements, as many as size; missing ones are value, or null.

        A null list is null, and a null size is 0.

        Example: `lit([1, 2]).list_resize(4, 0)` is `[1, 2, 0, 0]`.
        """
        return self._call("list_resize", (self, size), (value,))

    def list_repeat(self, count: IntoExpression) -> Expression:
        """The elements `count` times, one list after the other: `repeat(x, count)`.

        None where count is negative.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_repeat(2)` is `[1, 2, 1, 2]`.
        """
        return self._call("list_repeat", (self, count))

    def list_of_size(self, size: int | Expression) -> Expression:
        """The list itself.

        Another number of elements is an error: `CAST(x AS FLOAT[3])`.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_of_size(2)` is `[1, 2]`.
        """
        return self._call("list_of_size", (self, size))

    def list_zip(self, *y: IntoExpression) -> Expression:
        """Structs of the elements in the same place, as `row(x[1], y[1])`.

        It is as long as the longest list, and missing elements are null; with `true` as the last argument, as long as
        the shortest. A null list has no elements. Never null.

        Example: `lit([1, 2]).list_zip(["a"])` is `[{"element1": 1, "element2": "a"}, {"element1": 2, "element2": None}]`.
        """
        return self._call("list_zip", (self, *y))

    def list_sum(self) -> Expression:
        """The sum of the elements: int64, float64 or decimal.

        Overflow is an error.

        Null in any argument gives null.

        Example: `lit([1, 2, 4]).list_sum()` is `7`.
        """
        return self._call("list_sum", (self,))

    def list_mean(self) -> Expression:
        """The mean of the elements in float64, of integers and decimals the float64 nearest to the exact mean.

        Of durations a duration.

        Null in any argument gives null.

        Example: `lit([1, 2, 4]).list_mean()` is `2.3333333333333335`.
        """
        return self._call("list_mean", (self,))

    def list_fsum(self) -> Expression:
        """The sum of the elements in float64, one after the other, with what rounding lost added again (Kahan).

        Null in any argument gives null.

        Example: `lit([0.1, 0.2, 0.3]).list_fsum()` is `0.6`.
        """
        return self._call("list_fsum", (self,))

    def list_favg(self) -> Expression:
        """`list_fsum` by the number of elements that are not null.

        Null in any argument gives null.

        Example: `lit([1, 2, 4]).list_favg()` is `2.3333333333333335`.
        """
        return self._call("list_favg", (self,))

    def list_product(self) -> Expression:
        """The product of the elements, in float64.

        Null in any argument gives null.

        Example: `lit([2, 3, 4]).list_product()` is `24.0`.
        """
        return self._call("list_product", (self,))

    def list_min(self) -> Expression:
        """The least element; NaN only if all are.

        Null in any argument gives null.

        Example: `lit([2, 1, 3]).list_min()` is `1`.
        """
        return self._call("list_min", (self,))

    def list_max(self) -> Expression:
        """The greatest element; NaN if any is.

        Null in any argument gives null.

        Example: `lit([2, 3, 1]).list_max()` is `3`.
        """
        return self._call("list_max", (self,))

    def list_count(self) -> Expression:
        """The number of elements that are not null.

        Null in any argument gives null.

        Example: `lit([1, None, 3]).list_count()` is `2`.
        """
        return self._call("list_count", (self,))

    def list_any_value(self) -> Expression:
        """The first element that is not null.

        Null in any argument gives null.

        Example: `lit([None, 2, 3]).list_any_value()` is `2`.
        """
        return self._call("list_any_value", (self,))

    def list_first(self) -> Expression:
        """The first element, which may be null.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_first()` is `1`.
        """
        return self._call("list_first", (self,))

    def list_last(self) -> Expression:
        """The last element, which may be null.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_last()` is `3`.
        """
        return self._call("list_last", (self,))

    def list_reduce(self, function: Callable[..., IntoExpression] | Expression, initial: IntoExpression = None) -> Expression:
        """`list_reduce(x, lambda total, e.

        Total + e)`: what a lambda makes of the first element and the next, of that and the next, and so on. It begins
        with `initial` if that is given. With `lambda total, e, i:` it knows the element's 1-based place. An empty list
        without `initial` is an error.

        Example: `lit([1, 2, 3]).list_reduce(lambda total, e: total.add(e), 10)` is `16`.
        """
        return self._call("list_reduce", (self, function), (initial,))

    def list_bool_and(self) -> Expression:
        """Whether all elements are true.

        Null in any argument gives null.

        Example: `lit([True, False]).list_bool_and()` is `False`.
        """
        return self._call("list_bool_and", (self,))

    def list_bool_or(self) -> Expression:
        """Whether any element is true.

        Null in any argument gives null.

        Example: `lit([True, False]).list_bool_or()` is `True`.
        """
        return self._call("list_bool_or", (self,))

    def array_to_string(self, separator: str | Expression) -> Expression:
        """The strings of a list with the separator between them.

        Nulls are left out.

        Null in any argument gives null.

        Example: `lit(["a", "b"]).array_to_string("-")` is `"a-b"`.
        """
        return self._call("array_to_string", (self, separator))

    def list_string_agg(self, separator: str | Expression | None = None) -> Expression:
        """`array_to_string`, null where no element is a value.

        The separator is ',' unless another one is given.

        Null in any argument gives null.

        Example: `lit(["a", None, "b"]).list_string_agg()` is `"a,b"`.
        """
        return self._call("list_string_agg", (self,), (separator,))

    def list_dot_product(self, y: IntoExpression) -> Expression:
        """The sum of the products of elements in the same place, in float64.

        Lists of other lengths, and nulls in them, are an error.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_dot_product([3, 4])` is `11.0`.
        """
        return self._call("list_dot_product", (self, y))

    def list_negative_dot_product(self, y: IntoExpression) -> Expression:
        """-`list_dot_product`.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_negative_dot_product([3, 4])` is `-11.0`.
        """
        return self._call("list_negative_dot_product", (self, y))

    def array_cross_product(self, y: IntoExpression) -> Expression:
        """The vector product of two lists of three numbers, in float64.

        Other lengths are an error, and null elements give null.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).array_cross_product([4, 5, 6])` is `[-3.0, 6.0, -3.0]`.
        """
        return self._call("array_cross_product", (self, y))

    def list_distance(self, y: IntoExpression) -> Expression:
        """The Euclidean distance of two lists of one length without nulls, in float64.

        Null in any argument gives null.

        Example: `lit([0, 0]).list_distance([3, 4])` is `5.0`.
        """
        return self._call("list_distance", (self, y))

    def list_cosine_similarity(self, y: IntoExpression) -> Expression:
        """The cosine of the angle between two lists of one length without nulls.

        NaN beside zeros alone, null of empty lists.

        Null in any argument gives null.

        Example: `lit([1, 0]).list_cosine_similarity([1, 0])` is `1.0`.
        """
        return self._call("list_cosine_similarity", (self, y))

    def list_cosine_distance(self, y: IntoExpression) -> Expression:
        """1 - `list_cosine_similarity`.

        Null in any argument gives null.

        Example: `lit([1, 0]).list_cosine_distance([0, 1])` is `1.0`.
        """
        return self._call("list_cosine_distance", (self, y))

    def list_median(self) -> Expression:
        """`median` of the elements, in float64.

        Null in any argument gives null.

        Example: `lit([4, 1, 2]).list_median()` is `2.0`.
        """
        return self._call("list_median", (self,))

    def list_quantile(self, q: float | Sequence[float] | Expression) -> Expression:
        """`quantile` of the elements, in float64.

        Null in any argument gives null.

        Example: `lit([1, 2, 4]).list_quantile(0.25)` is `1.5`.
        """
        return self._call("list_quantile", (self, q))

    def list_mode(self) -> Expression:
        """`mode` of the elements: the most frequent, the least of those that tie.

        Null in any argument gives null.

        Example: `lit([2, 1, 2]).list_mode()` is `2`.
        """
        return self._call("list_mode", (self,))

    def list_mad(self) -> Expression:
        """`mad` of the elements.

        Null in any argument gives null.

        Example: `lit([1, 2, 9]).list_mad()` is `1.0`.
        """
        return self._call("list_mad", (self,))

    def list_entropy(self) -> Expression:
        """`entropy` of the elements, in bits; 0 of no values.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_entropy()` is `1.0`.
        """
        return self._call("list_entropy", (self,))

    def list_histogram(self) -> Expression:
        """`histogram` of the elements.

        A map of distinct values to how often each comes.

        Null in any argument gives null.

        Example: `lit([2, 1, 2]).list_histogram().map_values()` is `[1, 2]`.
        """
        return self._call("list_histogram", (self,))

    def list_var(self) -> Expression:
        """`var` of the elements: the sample variance.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_var()` is `1.0`.
        """
        return self._call("list_var", (self,))

    def list_std(self) -> Expression:
        """`std` of the elements: the sample standard deviation.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_std()` is `1.0`.
        """
        return self._call("list_std", (self,))

    def list_var_pop(self) -> Expression:
        """`var_pop` of the elements.

        Null in any argument gives null.

        Example: `lit([1, 3]).list_var_pop()` is `1.0`.
        """
        return self._call("list_var_pop", (self,))

    def list_std_pop(self) -> Expression:
        """`std_pop` of the elements.

        Null in any argument gives null.

        Example: `lit([1, 3]).list_std_pop()` is `1.0`.
        """
        return self._call("list_std_pop", (self,))

    def list_sem(self) -> Expression:
        """`sem` of the elements: list_std_pop(x) / sqrt(list_count(x)).

        Null in any argument gives null.

        Example: `lit([1, 3, 1, 3]).list_sem()` is `0.5`.
        """
        return self._call("list_sem", (self,))

    def list_skewness(self) -> Expression:
        """`skewness` of the elements.

        Null in any argument gives null.

        Example: `lit([1, 2, 3]).list_skewness()` is `0.0`.
        """
        return self._call("list_skewness", (self,))

    def list_kurtosis(self) -> Expression:
        """`kurtosis` of the elements.

        Null in any argument gives null.

        Example: `lit([1, 2]).list_kurtosis()` is `None`.
        """
        return self._call("list_kurtosis", (self,))

    def list_kurtosis_pop(self) -> Expression:
        """`kurtosis_pop` of the elements.

        Null in any argument gives null.

        Example: `lit([1, 3]).list_kurtosis_pop()` is `-2.0`.
        """
        return self._call("list_kurtosis_pop", (self,))

    def list_bit_and(self) -> Expression:
        """The bits that are set in all elements.

        Null in any argument gives null.

        Example: `lit([7, 5]).list_bit_and()` is `5`.
        """
        return self._call("list_bit_and", (self,))

    def list_bit_or(self) -> Expression:
        """The bits that are set in any element.

        Null in any argument gives null.

        Example: `lit([4, 1]).list_bit_or()` is `5`.
        """
        return self._call("list_bit_or", (self,))

    def list_bit_xor(self) -> Expression:
        """The bits that are set in an odd number of elements.

        Null in any argument gives null.

        Example: `lit([7, 2]).list_bit_xor()` is `5`.
        """
        return self._call("list_bit_xor", (self,))

    def struct_extract(self, field: str | Expression) -> Expression:
        """`x.field`: a field of a struct; null where the struct is.

        Null in any argument gives null.

        Example: `struct(a=1, b="x").struct_extract("b")` is `"x"`.
        """
        return self._call("struct_extract", (self, field))

    def row(self, *y: IntoExpression) -> Expression:
        """`(x, y)`, a struct of values without names.

        Its fields are element1, element2 and so on, and `[1]` is the first. Never null.

        Example: `lit(1).row("x")` is `{"element1": 1, "element2": "x"}`.
        """
        return self._call("row", (self, *y))

    def struct_concat(self, *y: IntoExpression) -> Expression:
        """The fields of all structs, in one.

        Never null.

        Example: `struct(a=1).struct_concat(struct(b="x"))` is `{"a": 1, "b": "x"}`.
        """
        return self._call("struct_concat", (self, *y))

    def struct_keys(self) -> Expression:
        """The names of the fields, as a list.

        Null in any argument gives null.

        Example: `struct(a=1, b="x").struct_keys()` is `["a", "b"]`.
        """
        return self._call("struct_keys", (self,))

    def struct_values(self) -> Expression:
        """The values of the fields without names: see `row`.

        Null in any argument gives null.

        Example: `struct(a=1, b="x").struct_values()` is `{"element1": 1, "element2": "x"}`.
        """
        return self._call("struct_values", (self,))

    def struct_extract_at(self, place: int | Expression) -> Expression:
        """The field at a place, from 1.

        Null in any argument gives null.

        Example: `struct(a=1, b="x").struct_extract_at(2)` is `"x"`.
        """
        return self._call("struct_extract_at", (self, place))

    def struct_position(self, value: IntoExpression) -> Expression:
        """The place, from 1, of the first field that is value, or null as it is; null where there is none.

        Fields of types that do not meet the value's are not compared.

        Example: `lit(7).row("a", 5).struct_position(5)` is `3`.
        """
        return self._call("struct_position", (self, value))

    def struct_contains(self, value: IntoExpression) -> Expression:
        """Whether a field is value.

        Null in any argument gives null.

        Example: `lit(7).row("a", 5).struct_contains("a")` is `True`.
        """
        return self._call("struct_contains", (self, value))

    def map(self, values: IntoExpression) -> Expression:
        """`MAP {'a': 1, k: v}`, or a list of keys and one of as many values.

        A null key, and one that stands twice, is an error.

        Null in any argument gives null.

        Example: `lit(["a", "b"]).map([1, 2]).map_values()` is `[1, 2]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map", (self, values))

    def map_from_entries(self) -> Expression:
        """The map of a list of structs, of a key and a value each.

        Null in any argument gives null.

        Example: `lit([struct(k="a", v=1)]).map_from_entries().map_keys()` is `["a"]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_from_entries", (self,))

    def map_entries(self) -> Expression:
        """The entries, as a list of structs of `key` and `value`.

        Null in any argument gives null.

        Example: `col("m").map_entries()` is `[{"key": "a", "value": 1}, {"key": "b", "value": 2}]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_entries", (self,))

    def map_get(self, key: IntoExpression) -> Expression:
        """`x[key]`: the value of the key, of equal keys the first.

        Null where there is none.

        Null in any argument gives null.

        Example: `col("m").map_get("b")` is `2`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_get", (self, key))

    def map_extract(self, key: IntoExpression) -> Expression:
        """A list of the key's value, empty where there is none.

        `x[key]` is the value.

        Example: `col("m").map_extract("b")` is `[2]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_extract", (self, key))

    def map_contains(self, key: IntoExpression) -> Expression:
        """Whether the map has the key.

        Null in any argument gives null.

        Example: `col("m").map_contains("b")` is `True`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_contains", (self, key))

    def map_contains_value(self, value: IntoExpression) -> Expression:
        """Whether a key has this value.

        Null in any argument gives null.

        Example: `col("m").map_contains_value(2)` is `True`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_contains_value", (self, value))

    def map_contains_entry(self, key: IntoExpression, value: IntoExpression) -> Expression:
        """Whether the map has the key with this value.

        A null value is one.

        Example: `col("m").map_contains_entry("b", 2)` is `True`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_contains_entry", (self, key, value))

    def map_concat(self, *y: IntoExpression) -> Expression:
        """The entries of all maps; of a key in several the last value, in the place of the first.

        A null map has none; null where all are.

        Example: `col("m").map_concat(lit(["c", "a"]).map([3, 4])).map_values()` is `[4, 2, 3]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_concat", (self, *y))

    def map_keys(self) -> Expression:
        """The keys, as a list.

        Null in any argument gives null.

        Example: `col("m").map_keys()` is `["a", "b"]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_keys", (self,))

    def map_values(self) -> Expression:
        """The values, as a list.

        Null in any argument gives null.

        Example: `col("m").map_values()` is `[1, 2]`, over a map m of 1 for 'a' and 2 for 'b'.
        """
        return self._call("map_values", (self,))

    def hex(self) -> Expression:
        """The bytes of binary or of a string in hexadecimal digits, in upper case.

        The digits of an integer.

        Null in any argument gives null.

        Example: `lit("añ").hex()` is `"61C3B1"`.
        """
        return self._call("hex", (self,))

    def bit_length(self) -> Expression:
        """The bits of binary or of a string's UTF-8: 8 of each byte.

        Null in any argument gives null.

        Example: `lit("añ").bit_length()` is `24`.
        """
        return self._call("bit_length", (self,))

    def unhex(self) -> Expression:
        """The bytes that hexadecimal digits stand for, in either case.

        An error for other text.

        Null in any argument gives null.

        Example: `lit("61c3B1").unhex()` is `b'a\\xc3\\xb1'`.
        """
        return self._call("unhex", (self,))

    def to_base64(self) -> Expression:
        """The bytes of binary or of a string in base64, with padding.

        Null in any argument gives null.

        Example: `lit("añb").to_base64()` is `"YcOxYg=="`.
        """
        return self._call("to_base64", (self,))

    def from_base64(self) -> Expression:
        """The bytes of base64 with padding; an error for other text.

        Null in any argument gives null.

        Example: `lit("YcOxYg==").from_base64()` is `b'a\\xc3\\xb1b'`.
        """
        return self._call("from_base64", (self,))

    def encode(self) -> Expression:
        """The UTF-8 bytes of a string.

        Null in any argument gives null.

        Example: `lit("ñ").encode()` is `b'\\xc3\\xb1'`.
        """
        return self._call("encode", (self,))

    def decode(self) -> Expression:
        """The string of UTF-8 bytes; an error for others.

        Null in any argument gives null.

        Example: `lit("C3B1").unhex().decode()` is `"ñ"`.
        """
        return self._call("decode", (self,))

    def json_extract(self, path: str | int | Sequence[str] | Expression) -> Expression:
        """`text -> path`: the value at a path, as JSON; null where there is none.

        Null in any argument gives null.

        Example: `lit('{"a": [1, {"b": "x"}]}').json_extract("$.a[1]")` is `'{"b":"x"}'`.
        """
        return self._call("json_extract", (self, path))

    def json_extract_string(self, path: str | int | Sequence[str] | Expression) -> Expression:
        """`text ->> path`: a string at a path without its quotes, any other value as JSON.

        Null for `null`, and where there is none.

        Null in any argument gives null.

        Example: `lit('{"a": {"b": "x"}}').json_extract_string("$.a.b")` is `"x"`.
        """
        return self._call("json_extract_string", (self, path))

    def json_value(self, path: str | int | Sequence[str] | Expression) -> Expression:
        """A string, number or boolean at a path as JSON, a string with its quotes.

        Null for others.

        Null in any argument gives null.

        Example: `lit('{"a": 1.5}').json_value("$.a")` is `"1.5"`.
        """
        return self._call("json_value", (self, path))

    def json_exists(self, path: str | int | Sequence[str] | Expression) -> Expression:
        """Whether there is a value at a path, perhaps `null`.

        Null in any argument gives null.

        Example: `lit('{"a": null}').json_exists("$.a")` is `True`.
        """
        return self._call("json_exists", (self, path))

    def json_type(self, path: str | int | Sequence[str] | Expression | None = None) -> Expression:
        """The type of the value.

        OBJECT, ARRAY, VARCHAR, BOOLEAN, NULL, UBIGINT, BIGINT for negative integers, or DOUBLE; null where there is
        none.

        Null in any argument gives null.

        Example: `lit('{"a": [1]}').json_type("$.a")` is `"ARRAY"`.
        """
        return self._call("json_type", (self,), (path,))

    def json_array_length(self, path: str | int | Sequence[str] | Expression | None = None) -> Expression:
        """The number of elements of an array, 0 of another value.

        Null where there is none.

        Null in any argument gives null.

        Example: `lit("[1, 2, [3, 4]]").json_array_length()` is `3`.
        """
        return self._call("json_array_length", (self,), (path,))

    def json_keys(self, path: str | int | Sequence[str] | Expression | None = None) -> Expression:
        """The keys of an object in their order, no keys of another value.

        Null where there is none.

        Null in any argument gives null.

        Example: `lit('{"b": 1, "a": 2}').json_keys()` is `["b", "a"]`.
        """
        return self._call("json_keys", (self,), (path,))

    def json_valid(self) -> Expression:
        """Whether a string is JSON.

        Null in any argument gives null.

        Example: `lit('{"a": 1').json_valid()` is `False`.
        """
        return self._call("json_valid", (self,))

    def json(self) -> Expression:
        """JSON without blanks.

        Null in any argument gives null.

        Example: `lit('{"a": [1, 2]}').json()` is `'{"a":[1,2]}'`.
        """
        return self._call("json", (self,))

    def to_json(self) -> Expression:
        """A value as JSON.

        JSON that is made in the same expression stays; other strings are quoted. NaN and infinities are an error.

        Null in any argument gives null.

        Example: `struct(a=1, b=["x", None]).to_json()` is `'{"a":1,"b":["x",null]}'`.
        """
        return self._call("to_json", (self,))

    def json_array(self, *more: IntoExpression) -> Expression:
        """The JSON array of values as `to_json` writes them.

        Never null.

        Example: `lit(1).json_array("x", None)` is `'[1,"x",null]'`.
        """
        return self._call("json_array", (self, *more))

    def from_json(self, structure: str | Expression) -> Expression:
        """JSON as values of declared types, such as 'STRUCT(a BIGINT, b VARCHAR[])'.

        Null where a value is missing or does not convert, as by TRY_CAST of its text.

        Example: `lit('{"a": 1, "b": ["x"]}').from_json("STRUCT(a BIGINT, b VARCHAR[])")` is `{"a": 1, "b": ["x"]}`.
        """
        return self._call("from_json", (self, structure))

    def try_from_json(self, structure: str | Expression) -> Expression:
        """As `from_json`, but null where the string is not JSON.

        Example: `lit("{").try_from_json("STRUCT(a BIGINT)")` is `None`.
        """
        return self._call("try_from_json", (self, structure))

    def json_set(self, path: str | Expression, value: IntoExpression) -> Expression:
        """JSON with a value at a path: in place of one that is there, else as a new member or the next element.

        As it is where that cannot be.

        Null in any argument gives null.

        Example: `lit('{"a": 1}').json_set("$.b", "[2]")` is `'{"a":1,"b":[2]}'`.
        """
        return self._call("json_set", (self, path, value))

    def json_insert(self, path: str | Expression, value: IntoExpression) -> Expression:
        """As `json_set`, but a value that is there stays.

        Null in any argument gives null.

        Example: `lit('{"a": 1}').json_insert("$.a", "2")` is `'{"a":1}'`.
        """
        return self._call("json_insert", (self, path, value))

    def json_replace(self, path: str | Expression, value: IntoExpression) -> Expression:
        """As `json_set`, but only in place of a value that is there.

        Null in any argument gives null.

        Example: `lit('{"a": 1}').json_replace("$.b", "2")` is `'{"a":1}'`.
        """
        return self._call("json_replace", (self, path, value))

    def json_remove(self, path: str | Expression) -> Expression:
        """JSON without the value at a path; null where that is all of it.

        Null in any argument gives null.

        Example: `lit('{"a": [1, 2], "b": 3}').json_remove("$.a[0]")` is `'{"a":[2],"b":3}'`.
        """
        return self._call("json_remove", (self, path))

    def json_merge_patch(self, patch: IntoExpression, *more: IntoExpression) -> Expression:
        """JSON changed by a patch, as RFC 7396 has it.

        Members of objects are merged, `null` takes a member out, and any other value takes the old one's place. A null
        text counts as none; a null patch gives null.

        Example: `lit('{"a": 1, "b": {"c": 2}}').json_merge_patch('{"a": null, "b": {"d": 3}}')` is `'{"b":{"c":2,"d":3}}'`.
        """
        return self._call("json_merge_patch", (self, patch, *more))

    def json_merge_patch_diff(self, new: IntoExpression) -> Expression:
        """The patch that makes `old` into `new`, by `json_merge_patch`.

        A null `old` counts as none.

        Example: `lit('{"a": 1, "b": 2}').json_merge_patch_diff('{"b": 3}')` is `'{"a":null,"b":3}'`.
        """
        return self._call("json_merge_patch_diff", (self, new))

    def json_deep_merge(self, patch: IntoExpression, *more: IntoExpression) -> Expression:
        """As `json_merge_patch`, but `null` changes nothing.

        Example: `lit('{"a": 1, "b": {"c": 2}}').json_deep_merge('{"a": null, "b": {"d": 3}}')` is `'{"a":1,"b":{"c":2,"d":3}}'`.
        """
        return self._call("json_deep_merge", (self, patch, *more))

    def json_strip_nulls(self) -> Expression:
        """JSON without the members of objects that are `null`, at any depth.

        Null in any argument gives null.

        Example: `lit('{"a": null, "b": [null]}').json_strip_nulls()` is `'{"b":[null]}'`.
        """
        return self._call("json_strip_nulls", (self,))

    def json_normalize(self) -> Expression:
        """JSON with the members of objects in the order of their keys' bytes, at any depth.

        Null in any argument gives null.

        Example: `lit('{"b": 1, "a": {"d": 2, "c": 3}}').json_normalize()` is `'{"a":{"c":3,"d":2},"b":1}'`.
        """
        return self._call("json_normalize", (self,))

    def json_contains(self, part: IntoExpression) -> Expression:
        """Whether a part is anywhere in JSON.

        An object has its members and perhaps others, an array its elements in any order, a scalar is equal.

        Null in any argument gives null.

        Example: `lit('{"a": [1, {"b": 2, "c": 3}]}').json_contains('{"b": 2}')` is `True`.
        """
        return self._call("json_contains", (self, part))

    def hash(self, *more: IntoExpression) -> Expression:
        """XXH64 of the values, in order, as int64.

        Never null.

        Example: `lit("a").hash()` is `-3292477735350538661`.
        """
        return self._call("hash", (self, *more))

    def bucket(self, n: int | Expression) -> Expression:
        """`hash(x)`, its bits unsigned, modulo n: from 0 to n - 1, never null.

        Several columns: bucket(hash(a, b), n).

        Example: `lit("a").bucket(16)` is `11`.
        """
        return self._call("bucket", (self, n))

    def md5(self) -> Expression:
        """MD5 of the bytes of binary or of a string, in lower-case hexadecimal.

        Null in any argument gives null.

        Example: `lit("a").md5()` is `"0cc175b9c0f1b6a831c399e269772661"`.
        """
        return self._call("md5", (self,))

    def sha1(self) -> Expression:
        """SHA-1 of the bytes of binary or of a string, in lower-case hexadecimal.

        Null in any argument gives null.

        Example: `lit("a").sha1()` is `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`.
        """
        return self._call("sha1", (self,))

    def sha256(self) -> Expression:
        """SHA-256 of the bytes of binary or of a string, in lower-case hexadecimal.

        Null in any argument gives null.

        Example: `lit("a").sha256()` is `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`.
        """
        return self._call("sha256", (self,))

    def typeof(self) -> Expression:
        """The type of x as DuckDB writes it, which CAST takes as well: `DOUBLE`, `VARCHAR[]`.

        Whole numbers in a text are `BIGINT`. Never null.

        Example: `lit([1.5]).typeof()` is `"DOUBLE[]"`.
        """
        return self._call("typeof", (self,))

    def count(self) -> Expression:
        """The number of values that are not null.

        NaN counts.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").count()` is `3`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("count", (self,))

    def count_distinct(self, *more: Expression) -> Expression:
        """`count(DISTINCT x)`: distinct values that are not null; NaN is one value.

        Of several columns, `count(DISTINCT a, b)`: distinct rows without a null.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").count_distinct()` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("count_distinct", (self, *more))

    def sum(self) -> Expression:
        """The sum: int64, float64 or decimal.

        Overflow is an error.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").sum()` is `4`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("sum", (self,))

    def mean(self) -> Expression:
        """The mean in float64.

        Of integers and decimals the float64 nearest to the exact mean, of durations a duration.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").mean()` is `1.3333333333333333`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("mean", (self,))

    def min(self) -> Expression:
        """The least value.

        NaN only if all are.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").min()` is `1`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("min", (self,))

    def max(self) -> Expression:
        """The greatest value.

        NaN if any is.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").max()` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("max", (self,))

    def var(self) -> Expression:
        """The sample variance (ddof 1).

        Null of fewer than 2 values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").var()` is `0.3333333333333333`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("var", (self,))

    def std(self) -> Expression:
        """The sample standard deviation (ddof 1).

        Null of fewer than 2 values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").std()` is `0.5773502691896257`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("std", (self,))

    def var_pop(self) -> Expression:
        """The variance of the values themselves (ddof 0).

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").var_pop()` is `0.2222222222222222`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("var_pop", (self,))

    def std_pop(self) -> Expression:
        """The standard deviation of the values themselves (ddof 0).

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").std_pop()` is `0.4714045207910317`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("std_pop", (self,))

    def covar_samp(self, y: Expression) -> Expression:
        """The sample covariance (ddof 1) of the pairs without a null.

        Null of fewer than 2.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").covar_samp(lit(3).multiply(col("x")))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("covar_samp", (self, y))

    def covar_pop(self, y: Expression) -> Expression:
        """The covariance (ddof 0) of the pairs without a null.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").covar_pop(lit(3).multiply(col("x")))` is `0.6666666666666666`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("covar_pop", (self, y))

    def corr(self, y: Expression) -> Expression:
        """Pearson's correlation of the pairs without a null.

        NaN where x or y is constant, null of fewer than 2 pairs.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").corr(col("x").negate())` is `-1.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("corr", (self, y))

    def median(self) -> Expression:
        """The exact median, linear between the middle two.

        NaN is the greatest value.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").median()` is `1.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("median", (self,))

    def quantile(self, q: float | Sequence[float] | Expression) -> Expression:
        """The exact quantile, linear between the two values next to q·(count - 1).

        NaN is the greatest value.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").quantile(0.75)` is `1.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("quantile", (self, q))

    def mode(self) -> Expression:
        """The most frequent value, the least of those that tie.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").mode()` is `1`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("mode", (self,))

    def first(self, *, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
        """x of the group's first row in the order of order_by.

        Of the rows where `only` is true, which FILTER sets; nulls are kept unless `ignore_nulls`.

        An aggregate, and a window function.

        Example: `col("x").first()` is `1`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("first", (self,), ignore_nulls=ignore_nulls, only=only)

    def last(self, *, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
        """x of the group's last row, as in first.

        An aggregate, and a window function.

        Example: `col("x").last(ignore_nulls=True)` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("last", (self,), ignore_nulls=ignore_nulls, only=only)

    def min_by(self, y: Expression) -> Expression:
        """x of the row where y is least.

        Rows where x or y is null are skipped; of rows that tie, the least x.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").min_by(col("x").negate())` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("min_by", (self, y))

    def max_by(self, y: Expression) -> Expression:
        """x of the row where y is greatest.

        Rows where x or y is null are skipped; of rows that tie, the least x.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").max_by(col("x").negate())` is `1`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("max_by", (self, y))

    def arg_min_null(self, y: Expression) -> Expression:
        """x, null or not, of the row where y is least.

        Of rows that tie, the least x, null last.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").arg_min_null(col("x").negate().coalesce(-5)).is_null()` is `True`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("arg_min_null", (self, y))

    def arg_max_null(self, y: Expression) -> Expression:
        """x, null or not, of the row where y is greatest.

        Of rows that tie, the least x, null last.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").arg_max_null(col("x").coalesce(5)).is_null()` is `True`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("arg_max_null", (self, y))

    def count_if(self) -> Expression:
        """The number of rows where the condition is true.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").equal(1).count_if()` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("count_if", (self,))

    def any(self) -> Expression:
        """Whether any value is true.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").greater(1).any()` is `True`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("any", (self,))

    def all(self) -> Expression:
        """Whether all values are true.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").greater(1).all()` is `False`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("all", (self,))

    def any_value(self) -> Expression:
        """One of the values that are not null.

        Always the least, so that every run gives the same.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").any_value()` is `1`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("any_value", (self,))

    def product(self) -> Expression:
        """The product in float64.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").product()` is `2.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("product", (self,))

    def bitwise_and(self) -> Expression:
        """The bits that are set in all integers.

        `bit_and(x)` in SQL.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").bitwise_and()` is `0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("bitwise_and", (self,))

    def bitwise_or(self) -> Expression:
        """The bits that are set in any integer.

        `bit_or(x)` in SQL.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").bitwise_or()` is `3`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("bitwise_or", (self,))

    def bitwise_xor(self) -> Expression:
        """The bits that are set in an odd number of integers.

        `bit_xor(x)` in SQL.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").bitwise_xor()` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("bitwise_xor", (self,))

    def skewness(self) -> Expression:
        """The skewness of a sample.

        Null of fewer than 3 values, and of equal ones.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").skewness()` is `1.7320508075688767`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("skewness", (self,))

    def kurtosis(self) -> Expression:
        """The excess kurtosis of a sample.

        Null of fewer than 4 values, and of equal ones.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").abs().kurtosis()` is `None`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("kurtosis", (self,))

    def kurtosis_pop(self) -> Expression:
        """The excess kurtosis of the values themselves.

        Null of equal ones.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").kurtosis_pop()` is `-1.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("kurtosis_pop", (self,))

    def quantile_disc(self, q: float | Sequence[float] | Expression) -> Expression:
        """The value at the quantile, one of the values themselves.

        Of n values the one at max(1, n - floor(n - n·q)), the least is 1.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").quantile_disc(0.75)` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("quantile_disc", (self, q))

    def mad(self) -> Expression:
        """The median of the absolute deviations from the median.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").mad()` is `0.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("mad", (self,))

    def sem(self) -> Expression:
        """The standard error of the mean, as DuckDB has it.

        Std_pop(x) / sqrt(count(x)).

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").sem()` is `0.2721655269759087`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("sem", (self,))

    def geometric_mean(self) -> Expression:
        """The geometric mean.

        Exp(mean(ln(x))), so 0 if any value is 0, NaN if one is negative.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").geometric_mean()` is `1.2599210498948732`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("geometric_mean", (self,))

    def weighted_avg(self, weight: Expression) -> Expression:
        """The mean of x by weight, of the pairs without a null.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").weighted_avg(col("x"))` is `1.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("weighted_avg", (self, weight))

    def regr_count(self, x: Expression) -> Expression:
        """The number of pairs without a null.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").regr_count(lit(2).multiply(col("x")))` is `3`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_count", (self, x))

    def regr_avgx(self, x: Expression) -> Expression:
        """The mean of x over pairs.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").regr_avgx(lit(3).multiply(col("x")))` is `4.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_avgx", (self, x))

    def regr_avgy(self, x: Expression) -> Expression:
        """The mean of y over pairs.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `lit(3).multiply(col("x")).regr_avgy(col("x"))` is `4.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_avgy", (self, x))

    def regr_sxx(self, x: Expression) -> Expression:
        """The sum of squared deviations of x over pairs.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").regr_sxx(lit(3).multiply(col("x")))` is `6.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_sxx", (self, x))

    def regr_syy(self, x: Expression) -> Expression:
        """The sum of squared deviations of y over pairs.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `lit(3).multiply(col("x")).regr_syy(col("x"))` is `6.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_syy", (self, x))

    def regr_sxy(self, x: Expression) -> Expression:
        """The sum of products of deviations over pairs.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `lit(3).multiply(col("x")).regr_sxy(col("x"))` is `2.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_sxy", (self, x))

    def regr_slope(self, x: Expression) -> Expression:
        """The slope of the least squares line y = a + b·x.

        NaN where x is constant.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `lit(3).multiply(col("x")).regr_slope(col("x"))` is `3.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_slope", (self, x))

    def regr_intercept(self, x: Expression) -> Expression:
        """The intercept of the least squares line.

        Null where x is constant.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `lit(3).multiply(col("x")).add(1).regr_intercept(col("x"))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_intercept", (self, x))

    def regr_r2(self, x: Expression) -> Expression:
        """The coefficient of determination: corr(y, x) squared.

        Null where x is constant, 1 where only y is.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").regr_r2(lit(3).multiply(col("x")))` is `1.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("regr_r2", (self, x))

    def approx_count_distinct(self) -> Expression:
        """About how many distinct values there are that are not null.

        HyperLogLog with 4,096 registers, a standard error of 1.6 %. The same on every engine, for every order and split
        of the rows.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").approx_count_distinct()` is `2`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("approx_count_distinct", (self,))

    def approx_quantile(self, q: float | Sequence[float] | Expression) -> Expression:
        """`quantile(x, q)` of the values rounded to 8 significant bits, so within 1/256 (0.4 %) of it where the two values next to it have one sign; integers up to 256 are exact.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").approx_quantile(0.75)` is `1.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("approx_quantile", (self, q))

    def histogram(self) -> Expression:
        """A map of the distinct values, ascending, to how often each comes.

        Null of no values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").histogram().map_values()` is `[2, 1]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("histogram", (self,))

    def entropy(self) -> Expression:
        """The entropy of the distinct values in bits: the sum of p·log2(1 / p).

        0 of no values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").entropy()` is `0.9182958340544896`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("entropy", (self,))

    def approx_top_k(self, k: int | Expression) -> Expression:
        """A list of the k most frequent values, exact, in the order of `values_by_frequency`.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").approx_top_k(1)` is `[1]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("approx_top_k", (self, k))

    def values_by_frequency(self) -> Expression:
        """A list of the distinct values, the most frequent first, of those that tie the least.

        Null of no values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").values_by_frequency()` is `[1, 2]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("values_by_frequency", (self,))

    def min_n(self, n: int | Expression) -> Expression:
        """`min(x, n)`: a list of the n least values, ascending.

        Null of no values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").min_n(2)` is `[1, 1]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("min_n", (self, n))

    def max_n(self, n: int | Expression) -> Expression:
        """`max(x, n)`: a list of the n greatest values, descending.

        Null of no values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").max_n(2)` is `[2, 1]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("max_n", (self, n))

    def min_by_n(self, y: Expression, n: int | Expression) -> Expression:
        """`min_by(x, y, n)`: a list of x of the n rows where y is least.

        Rows where x or y is null are skipped; of rows that tie, the least x first.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").min_by_n(col("x").negate(), 2)` is `[2, 1]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("min_by_n", (self, y, n))

    def max_by_n(self, y: Expression, n: int | Expression) -> Expression:
        """`max_by(x, y, n)`.

        A list of x of the n rows where y is greatest, as in `min_by`.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").max_by_n(col("x").negate(), 2)` is `[1, 1]`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("max_by_n", (self, y, n))

    def array_agg(self, *, only: Expression | None = None, order_by: OrderBy | None = None) -> Expression:
        """A list of the values with the nulls, of the rows where `only` is true, which FILTER sets.

        Null of no rows.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").array_agg().list_length()` is `4`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("array_agg", (self,), only=only, order_by=order_by)

    def array_agg_distinct(self, *, only: Expression | None = None, order_by: OrderBy | None = None) -> Expression:
        """`array_agg(DISTINCT x)`: a list of the distinct values.

        Null is one.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").array_agg_distinct().list_length()` is `3`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("array_agg_distinct", (self,), only=only, order_by=order_by)

    def string_agg(self, separator: str | Expression | None = None, *, order_by: OrderBy | None = None) -> Expression:
        """The strings that are not null, with a separator between them: a comma if none is given.

        Null of none.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").cast("string").string_agg("-")` is `"1-1-2"`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("string_agg", (self,), (separator,), order_by=order_by)

    def string_agg_distinct(self, separator: str | Expression | None = None, *, order_by: OrderBy | None = None) -> Expression:
        """`string_agg(DISTINCT x)`.

        The same of distinct strings.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").cast("string").string_agg_distinct()` is `"1,2"`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("string_agg_distinct", (self,), (separator,), order_by=order_by)

    def sum_distinct(self) -> Expression:
        """`sum(DISTINCT x)`.

        The sum of the distinct values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").sum_distinct()` is `3`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("sum_distinct", (self,))

    def mean_distinct(self) -> Expression:
        """`mean(DISTINCT x)`.

        The mean of the distinct values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").mean_distinct()` is `1.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("mean_distinct", (self,))

    def product_distinct(self) -> Expression:
        """`product(DISTINCT x)`.

        The product of the distinct values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").product_distinct()` is `2.0`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("product_distinct", (self,))

    def median_distinct(self) -> Expression:
        """`median(DISTINCT x)`.

        The median of the distinct values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").median_distinct()` is `1.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("median_distinct", (self,))

    def var_distinct(self) -> Expression:
        """`var(DISTINCT x)`.

        The sample variance of the distinct values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").var_distinct()` is `0.5`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("var_distinct", (self,))

    def std_distinct(self) -> Expression:
        """`std(DISTINCT x)`.

        The sample standard deviation of the distinct values.

        An aggregate: for `aggregate`, `agg`, and `over` of groups.

        Example: `col("x").std_distinct()` is `0.7071067811865476`, over x = 1, 1, 2, null, in the order of x.
        """
        return self._call("std_distinct", (self,))

    def lag(self, offset: int | Expression | None = None, *, default: IntoExpression = None, ignore_nulls: bool | Expression | None = None) -> Expression:
        """x of the row `offset` (1) rows before, `default` (null) where there is none.

        Nulls are kept, or, with `ignore_nulls` or IGNORE NULLS, their rows not counted.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").lag()` is `[None, 1, 2, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("lag", (self,), (offset,), default=default, ignore_nulls=ignore_nulls)

    def lead(self, offset: int | Expression | None = None, *, default: IntoExpression = None, ignore_nulls: bool | Expression | None = None) -> Expression:
        """x of the row `offset` (1) rows after, as in lag.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").lead(ignore_nulls=True)` is `[2, 4, 4, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("lead", (self,), (offset,), default=default, ignore_nulls=ignore_nulls)

    def nth_value(self, n: int | Expression, *, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
        """x of the group's row with number n, from 1, null where there is none.

        Nulls and `only` as in first.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").nth_value(2)` is `[2, 2, 2, 2]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("nth_value", (self, n), ignore_nulls=ignore_nulls, only=only)

    def ffill(self) -> Expression:
        """The last x up to here that is not null.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").ffill()` is `[1, 2, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("ffill", (self,))

    def bfill(self) -> Expression:
        """The next x from here on that is not null.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").bfill()` is `[1, 2, 4, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("bfill", (self,))

    def interpolate(self, by: Expression | None = None) -> Expression:
        """x in float64, and in place of a null what lies on the line from the last value to the next.

        Null before the first value and after the last. Distances are those of rows, or of `by`, a time or number, as in
        interpolate(x, by => ts).

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").interpolate()` is `[1.0, 2.0, 3.0, 4.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("interpolate", (self,), (by,))

    def diff(self, offset: int | Expression | None = None) -> Expression:
        """x minus the x of `offset` (1) rows before.

        Of timestamps, a duration, and of dates, days.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").diff()` is `[None, 1, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("diff", (self,), (offset,))

    def pct_change(self, offset: int | Expression | None = None) -> Expression:
        """x / x' - 1 in float64, with the x' of `offset` (1) rows before.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").pct_change()` is `[None, 1.0, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("pct_change", (self,), (offset,))

    def cum_count(self, nulls: str | Expression | None = None) -> Expression:
        """The number of values so far.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").cum_count()` is `[1, 2, None, 3]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("cum_count", (self,), (nulls,))

    def cum_sum(self, nulls: str | Expression | None = None) -> Expression:
        """The sum so far.

        Overflow is an error.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").cum_sum()` is `[1, 3, None, 7]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("cum_sum", (self,), (nulls,))

    def cum_prod(self, nulls: str | Expression | None = None) -> Expression:
        """The product so far: int64 or float64.

        Overflow of int64 is an error.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").cum_prod()` is `[1, 2, None, 8]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("cum_prod", (self,), (nulls,))

    def cum_mean(self, nulls: str | Expression | None = None) -> Expression:
        """The mean so far, as of `mean`.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").cum_mean()` is `[1.0, 1.5, None, 2.3333333333333335]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("cum_mean", (self,), (nulls,))

    def cum_min(self, nulls: str | Expression | None = None) -> Expression:
        """The least value so far.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").cum_min()` is `[1, 1, None, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("cum_min", (self,), (nulls,))

    def cum_max(self, nulls: str | Expression | None = None) -> Expression:
        """The greatest value so far.

        NaN once one is NaN.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").cum_max()` is `[1, 2, None, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("cum_max", (self,), (nulls,))

    def rolling_sum(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The sum over the frame.

        Overflow is an error.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_sum(2)` is `[1, 3, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_sum", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_mean(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The mean over the frame, as of `mean`.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_mean(2)` is `[1.0, 1.5, 2.0, 4.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_mean", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_min(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The least value of the frame.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_min(2)` is `[1, 1, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_min", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_max(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The greatest value of the frame.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_max(2)` is `[1, 2, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_max", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_count(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The number of values in the frame.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_count(2)` is `[1, 2, 1, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_count", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_std(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The sample standard deviation (ddof 1) over the frame.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_std(2)` is `[None, 0.7071067811865476, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_std", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_var(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The sample variance (ddof 1) over the frame.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_var(2)` is `[None, 0.5, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_var", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_median(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The exact median over the frame, as of `median`.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_median(3)` is `[1.0, 1.5, 1.5, 3.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_median", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_quantile(self, q: float | Sequence[float] | Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The exact quantile over the frame, as of `quantile`.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_quantile(0.75, 3)` is `[1.0, 1.75, 1.75, 3.5]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_quantile", (self, q), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_count_distinct(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The number of distinct values in the frame, nulls not counted.

        NaN is one value.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").greater(1).rolling_count_distinct(3)` is `[1, 2, 2, 1]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_count_distinct", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_covar_samp(self, y: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The sample covariance (ddof 1) of the frame's pairs without a null.

        Null of fewer than 2.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_covar_samp(lit(3).multiply(col("x")), 2)` is `[None, 1.5, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_covar_samp", (self, y), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_covar_pop(self, y: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The covariance (ddof 0) of the frame's pairs without a null.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_covar_pop(lit(3).multiply(col("x")), 2)` is `[0.0, 0.75, 0.0, 0.0]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_covar_pop", (self, y), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_corr(self, y: Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """Pearson's correlation of the frame's pairs without a null.

        NaN where x or y is constant, null of fewer than 2 pairs.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_corr(col("x").negate(), 2)` is `[None, -1.0, None, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_corr", (self, y), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods)

    def rolling_first(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
        """x of the frame's first row, or of those where `only` is true, which FILTER sets.

        Nulls are kept unless `ignore_nulls`.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_first(2)` is `[1, 1, 2, None]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_first", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods, ignore_nulls=ignore_nulls, only=only)

    def rolling_last(self, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
        """x of the frame's last row, as in rolling_first.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_last(2, ignore_nulls=True)` is `[1, 2, 2, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_last", (self,), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods, ignore_nulls=ignore_nulls, only=only)

    def rolling_nth_value(self, n: int | Expression, frame: int | timedelta | Expression | None = None, *, rows: Rows | Expression | None = None, range: Range | Expression | None = None, centered: bool | Expression | None = None, min_periods: int | Expression | None = None, ignore_nulls: bool | Expression | None = None, only: Expression | None = None) -> Expression:
        """x of the frame's row with number n, from 1, null where there is none.

        Nulls and `only` as in rolling_first.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").rolling_nth_value(2, rows=(-1, 1))` is `[2, 2, None, 4]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("rolling_nth_value", (self, n), (frame,), rows=rows, range=range, centered=centered, min_periods=min_periods, ignore_nulls=ignore_nulls, only=only)

    def ewm_mean(self, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None, com: float | Expression | None = None, adjust: bool | Expression | None = None, ignore_nulls: bool | Expression | None = None, min_periods: int | Expression | None = None) -> Expression:
        """The exponentially weighted mean: y = (1 - a)·y' + a·x, and the first y is x.

        Give one of four: `alpha` is a, `span` sets a = 2 / (span + 1), `com` sets a = 1 / (com + 1), and `half_life`
        sets a = 1 - 2^(-d / half_life). d is the distance from the last value, in seconds if order_by is a timestamp,
        else in rows. `adjust` divides the decayed sum of the values by the sum of their weights, as pandas and Polars
        do by default. With `adjust`, `ignore_nulls => false` counts rows of nulls. Null before `min_periods` values.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").ewm_mean(half_life=timedelta(hours=1))` is `[1.0, 1.5, None, 3.375]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("ewm_mean", (self,), half_life=half_life, span=span, alpha=alpha, com=com, adjust=adjust, ignore_nulls=ignore_nulls, min_periods=min_periods)

    def ewm_var(self, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None, com: float | Expression | None = None, adjust: bool | Expression | None = None, ignore_nulls: bool | Expression | None = None, min_periods: int | Expression | None = None, bias: bool | Expression | None = None) -> Expression:
        """The variance of the values so far, weighted as in ewm_mean, with its options.

        It is unbiased, as that of a sample; `bias => true` leaves that correction out. Null where one value has all of
        the weight, as the first has; 0 with bias.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").ewm_var(alpha=0.5)` is `[None, 0.5, None, 2.7]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("ewm_var", (self,), half_life=half_life, span=span, alpha=alpha, com=com, adjust=adjust, ignore_nulls=ignore_nulls, min_periods=min_periods, bias=bias)

    def ewm_std(self, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None, com: float | Expression | None = None, adjust: bool | Expression | None = None, ignore_nulls: bool | Expression | None = None, min_periods: int | Expression | None = None, bias: bool | Expression | None = None) -> Expression:
        """The root of ewm_var.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").ewm_std(alpha=0.5, bias=True)` is `[0.0, 0.5, None, 1.299038105676658]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("ewm_std", (self,), half_life=half_life, span=span, alpha=alpha, com=com, adjust=adjust, ignore_nulls=ignore_nulls, min_periods=min_periods, bias=bias)

    def decayed_sum(self, *, half_life: float | timedelta | Expression | None = None, span: float | Expression | None = None, alpha: float | Expression | None = None) -> Expression:
        """y = 2^(-d / half_life)·y' + x, or (1 - a)·y' + x, with d and a as in ewm_mean.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").decayed_sum(half_life=timedelta(hours=1))` is `[1.0, 2.5, None, 4.625]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("decayed_sum", (self,), half_life=half_life, span=span, alpha=alpha)

    def qcut(self, quantiles: int | Sequence[float] | Expression, labels: Sequence[Scalar] | Expression | None = None, left_closed: bool | Expression | None = None) -> Expression:
        """The label of the bin of x between quantiles of the group.

        `quantiles` is a number of bins of about equal counts, or the list of shares at which to cut, such as [0.25,
        0.5, 0.75]. Breaks are as of `quantile`, labels and bins as of `cut`. It needs no order. Bins between equal
        quantiles are empty; no value is below a quantile of NaN.

        A window function: for `window`, and `over` of groups in order.

        Example: `col("x").qcut(2, ["low", "high"])` is `["low", "low", None, "high"]`, over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.
        """
        return self._call("qcut", (self, quantiles), (labels, left_closed))

"""Arithmetic.

Integer arithmetic is done in int64 and checked, that of decimals is exact and checked, floats follow IEEE 754.

Of decimal(p,s) and decimal(q,t), a sum has the greater scale and room for a carry, a product has p + q digits, s + t of
them after the point; beyond 38 digits in all, a value that needs more is an error.  Beside a decimal, integers are
decimals (int64 of 19 digits), and a number in the text is a decimal of the digits it is written with: `price * 1.1`
and `price >= 100.50` are exact.  Arithmetic of such numbers alone is exact, too: `price * (1 + 0.19)` is `price * 1.19`.
Floats of columns and parameters make the decimal a float64, and so does a fraction beside an integer column.  Decimals
of any scales and integers of any types compare exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa

from gpuetl.expressions.functions.function import (
    Function,  # fmt: skip
    Rule,  # fmt: skip
    TypeMismatch,  # fmt: skip
    Typing,  # fmt: skip
    code_of_types,  # fmt: skip
    fixed,  # fmt: skip
    takes_one,  # fmt: skip
)
from gpuetl.expressions.functions.meeting import exact_types, meet, mixed, types_beside
from gpuetl.expressions.ir import Expr
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    TIME,
    DataType,
    common_type,
    is_exact,
    is_floating,
    is_integer,
    is_number,
    is_temporal,
    type_name,
)
from gpuetl.types.decimal_types import integer_decimal, is_decimal, product_type, quotient_type, rounded_type, sum_type

# The rules of operators between durations and numbers.


def or_durations(numbers: Rule, **results: DataType) -> Rule:
    """The rule of numbers, and where an argument is a duration the result by shape: `di` is a duration and an integer."""

    def rule(args: Sequence[Expr]) -> Typing:
        shape = "".join(map(_letter, args))
        if shape not in results:
            return numbers(args)
        return [DURATION if letter == "d" else INT64 for letter in shape], results[shape]

    return rule


def _letter(arg: Expr) -> str:
    return "d" if arg.dtype == DURATION else "i" if is_integer(arg.dtype) or arg.dtype == NULL else "-"


number = takes_one(is_number, "a number")


def calculated(operator: str) -> Rule:
    """Integers in int64, decimals and integers in decimals, floats and anything beside them in the wider float."""

    def rule(args: Sequence[Expr]) -> Typing:
        types = types_beside(args)
        if all(is_integer(t) or t == NULL for t in types):
            return [INT64] * len(args), INT64
        if all(is_exact(t) or t == NULL for t in types):
            return decimal_arithmetic(operator, types)
        if all(is_number(t) or t == NULL for t in types):
            narrow = all(t in (pa.float32(), NULL) for t in types)
            dtype = pa.float32() if narrow else FLOAT64
            return [dtype] * len(args), dtype
        raise TypeMismatch(
            coded(code_of_types(*types), f"cannot {operator} {' and '.join(type_name(t) for t in types)}")
        )

    return rule


def decimal_arithmetic(operator: str, types: Sequence[DataType]) -> Typing:
    """Decimals and integers, at least one a decimal: the types that SQL gives, to 38 digits."""
    known = next(filter(is_decimal, types))
    operands = [known if t == NULL else integer_decimal(t) for t in types]
    if len(operands) == 1:
        return operands, known
    result = product_type(*operands) if operator == "multiply" else sum_type(*operands)
    if result is None:
        names = " and ".join(map(type_name, operands))
        raise TypeMismatch(coded("GE1116", f"of {names} has more than 38 digits after the point"))
    return operands, result


def shifted(operator: str) -> Rule:
    """Numbers as in `calculated`; a timestamp or date and a duration; two timestamps, whose difference is a duration.

    A time of day and a duration go on after midnight.  Dates and integers are days: `date + 1` is a date, and the difference of two dates an integer.
    """
    numbers = calculated(operator)

    def rule(args: Sequence[Expr]) -> Typing:
        left, right = (arg.dtype for arg in args)
        if TIME in (left, right) and DURATION in (left, right) and not (operator == "subtract" and right == TIME):
            return [left, right], TIME
        if right == DURATION and (is_temporal(left) or left == DURATION):
            temporal = pa.timestamp("us") if left == DATE else left
            return [temporal, DURATION], temporal
        if operator == "add" and left == DURATION and is_temporal(right):
            temporal = pa.timestamp("us") if right == DATE else right
            return [DURATION, temporal], temporal
        if left == DATE and is_integer(right):
            return [DATE, INT64], DATE
        if operator == "add" and is_integer(left) and right == DATE:
            return [INT64, DATE], DATE
        if operator == "subtract" and left == right == DATE:
            return [DATE, DATE], INT64
        if operator == "subtract" and is_temporal(left) and is_temporal(right):
            return [meet(args, operator)] * 2, DURATION
        return numbers(args)

    return rule


def rounded(args: Sequence[Expr]) -> Typing:
    """A number, perhaps with a number of digits; integers and floats stay as they are, decimals may need a digit more."""
    types, result = truncated(args)
    if is_decimal(result) and (result.scale > 0 or len(args) > 1):
        result = rounded_type(result)
    return types, result


def truncated(args: Sequence[Expr]) -> Typing:
    """A number, which stays as it is, perhaps with a number of digits."""
    types, result = number(args)
    fixed(INT64, returns=INT64)(args[1:])
    return [types[0], INT64][: len(args)], result


def sign_of(args: Sequence[Expr]) -> Typing:
    """Integers and decimals give int64, floats keep their type."""
    dtype = number(args)[1]
    result = dtype if is_floating(dtype) else INT64
    return [dtype if is_decimal(dtype) else result], result


def whole(args: Sequence[Expr]) -> Typing:
    """Integers only: the quotient of floats has no exact integer."""
    for arg in args:
        if arg.dtype != NULL and not is_integer(arg.dtype):
            hint = "Write AND, OR and NOT between conditions." if arg.dtype == BOOL else ""
            raise TypeMismatch(f"takes integers, got {type_name(arg.dtype)}", hint)
    return [INT64] * len(args), INT64


def without_decimals(rule: Rule) -> Rule:
    """Return the rule for integers and floats alone."""

    def checked(args: Sequence[Expr]) -> Typing:
        types, result = rule(args)
        if is_decimal(result):
            raise TypeMismatch("takes integers or floats, got a decimal", "CAST it to float64.")
        return types, result

    return checked


def truncating(quotient: bool) -> Rule:
    """Integers, or decimals that meet in one type: the quotient of floats has no exact integer, but they have a rest."""
    of_floats = calculated("take the rest of")

    def rule(args: Sequence[Expr]) -> Typing:
        types = exact_types(args)
        if not quotient and any(map(is_floating, types)):
            return of_floats(args)
        for dtype in types:
            if dtype != NULL and not is_exact(dtype):
                raise TypeMismatch(f"takes integers or decimals, got {type_name(dtype)}")
        if not any(map(is_decimal, types)):
            return [INT64, INT64], INT64
        meeting = reduce(common_type, types)
        if meeting is None:
            raise TypeMismatch(coded("GE1116", f"cannot divide {' and '.join(map(type_name, types))}"))
        return [meeting, meeting], quotient_type(meeting) if quotient else meeting

    return rule


FUNCTIONS = (
    Function("add", "x y", shifted("add"), "`x + y`; of decimals, exactly; `date + n` is n days later.", "1 + 2", 3, can_fail=True),
    Function("subtract", "x y", shifted("subtract"), "`x - y`; of two timestamps, a duration; of two dates, days.", "1 - 2", -1, can_fail=True),
    Function("multiply", "x y", or_durations(calculated("multiply"), di=DURATION, id=DURATION), "`x * y`; of decimals, exactly.", "3 * 4", 12, can_fail=True),
    Function("divide", "x y", or_durations(fixed(FLOAT64, FLOAT64, returns=FLOAT64), dd=FLOAT64), "`x / y` in float64: 1/0 is inf, 0/0 is NaN.",
             "7 / 2", 3.5),
    Function("int_divide", "x y", or_durations(truncating(True), di=DURATION, dd=INT64), "`x // y`, truncated toward zero; null where y is 0.", "-7 // 2", -3, can_fail=True),
    Function("modulo", "x y", or_durations(truncating(False), dd=DURATION), "`x % y` with the sign of x; null where y is 0, of floats NaN.", "-7 % 2", -1, can_fail=True),
    Function("negate", "x", or_durations(calculated("negate"), d=DURATION), "`-x`.", "-(1 + 1)", -2, can_fail=True),
    Function("abs", "x", or_durations(calculated("take abs of"), d=DURATION), "The absolute value.", "abs(-3)", 3, can_fail=True),
    Function("sign", "x", sign_of, "-1, 0 or 1; NaN of NaN; int64 of a decimal.", "sign(-3)", -1),
    Function("round", "x digits?~", rounded, "To `digits` places after the point (0), half to even; a decimal may get a digit more.",
             "round(2.5)", 2.0, can_fail=True),
    Function("floor", "x", rounded, "The greatest whole number not above x, in x's type; a decimal may get a digit more.",
             "floor(-1.5)", -2.0, can_fail=True),
    Function("ceil", "x", rounded, "The least whole number not below x, in x's type; a decimal may get a digit more.",
             "ceil(-1.5)", -1.0, can_fail=True),
    Function("trunc", "x digits?~", truncated, "x without what is behind `digits` places after the point (0), in x's type.", "trunc(-1.57, 1)", -1.5),
    Function("try_add", "x y", without_decimals(calculated("add")), "`x + y`; null where integers overflow.",
             "try_add(9223372036854775807, 1)", None),
    Function("try_subtract", "x y", without_decimals(calculated("subtract")), "`x - y`; null where integers overflow.", "try_subtract(1, 2)", -1),
    Function("try_multiply", "x y", without_decimals(calculated("multiply")), "`x * y`; null where integers overflow.",
             "try_multiply(9223372036854775807, 2)", None),
    Function("bit_and", "x y", whole, "`x & y`: the bits that are set in both integers.", "bit_and(12, 10)", 8),
    Function("bit_or", "x y", whole, "`x | y`: the bits that are set in either integer.", "bit_or(12, 10)", 14),
    Function("bit_xor", "x y", whole, "The bits that are set in one of the integers only.", "bit_xor(12, 10)", 6),
    Function("bit_not", "x", whole, "`~x`: every bit of the int64 turned over, -x - 1.", "bit_not(12)", -13),
    Function("shift_left", "x bits", whole, "`x << bits`: the bits of the int64 moved up, those that leave lost; null unless 0 <= `bits` <= 63.",
             "shift_left(3, 2)", 12),
    Function("shift_right", "x bits", whole, "`x >> bits`: the bits moved down, the sign kept; null unless 0 <= `bits` <= 63.",
             "shift_right(-8, 1)", -4),
    Function("clip", "x low high", mixed, "x limited to the range from `low` to `high`; NaN stays NaN.",
             "clip(7, 1, 5)", 5),
)  # fmt: skip

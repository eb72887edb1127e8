"""Mathematics and bits at the edges: extremes of int64, NaN, infinities, both zeros, nulls."""

from datetime import date
from math import copysign, e, inf, isnan, nan, pi

import numpy as np
import pytest

from expressions.evaluation import table, value, values
from gpuetl.errors import EvaluationError, InvalidExpression

LEAST, GREATEST = -(2**63), 2**63 - 1


def same(got, expected):
    """Types and values are equal, floats but for rounding; NaN is NaN, and -0.0 is not 0.0."""
    if not isinstance(expected, float) or not isinstance(got, float):
        return type(got) is type(expected) and got == expected
    if isnan(expected):
        return isnan(got)
    return got == pytest.approx(expected, rel=1e-15, abs=0) and copysign(1, got) == copysign(1, expected)


def assert_values(got, expected):
    assert len(got) == len(expected)
    assert all(map(same, got, expected)), f"got {got}, expected {expected}"


FLOATS = table(x=("float64", [0.0, -0.0, inf, -inf, nan, None, 1.0]))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("cbrt(x)", [0.0, -0.0, inf, -inf, nan, None, 1.0]),
        ("sinh(x)", [0.0, -0.0, inf, -inf, nan, None, (e - 1 / e) / 2]),
        ("cosh(x)", [1.0, 1.0, inf, inf, nan, None, (e + 1 / e) / 2]),
        ("tanh(x)", [0.0, -0.0, 1.0, -1.0, nan, None, (e * e - 1) / (e * e + 1)]),
        ("asinh(x)", [0.0, -0.0, inf, -inf, nan, None, float(np.arcsinh(1))]),
        ("acosh(x)", [nan, nan, inf, nan, nan, None, 0.0]),
        ("atanh(x)", [0.0, -0.0, nan, nan, nan, None, inf]),
        ("expm1(x)", [0.0, -0.0, inf, -1.0, nan, None, e - 1]),
        ("log1p(x)", [0.0, -0.0, inf, nan, nan, None, float(np.log(2))]),
        ("cot(x)", [inf, -inf, nan, nan, nan, None, float(1 / np.tan(1.0))]),
        ("hypot(x, 0)", [0.0, 0.0, inf, inf, nan, None, 1.0]),
        ("hypot(x, 1 / 0)", [inf, inf, inf, inf, inf, None, inf]),
        ("is_finite(x)", [True, True, False, False, False, None, True]),
        ("is_infinite(x)", [False, False, True, True, False, None, False]),
        ("isinf(x)", [False, False, True, True, False, None, False]),
        ("clip(x, -0.5, 0.5)", [0.0, -0.0, 0.5, -0.5, nan, None, 0.5]),
        ("clip(x, 0.0, 1 / 0)", [0.0, -0.0, inf, 0.0, nan, None, 1.0]),
        ("clip(x, 0, NULL)", [None] * 7),
    ],
)  # fmt: skip
def test_floats_at_the_edges(sql, expected):
    assert_values(values(sql, FLOATS), expected)
    assert_values(values(sql, FLOATS.slice(4, 2)), expected[4:6])
    assert values(sql, FLOATS.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [("cbrt(27)", 3.0), ("cbrt(-8)", -2.0), ("cbrt(NULL)", None), ("hypot(3e200, 4e200)", 5e200), ("pi()", pi), ("pi() * 2", 2 * pi), ("expm1(1e-300)", 1e-300),
     ("log1p(1e-300)", 1e-300), ("sinh(1000)", inf), ("atanh(2)", nan), ("log1p(-1)", -inf), ("log1p(-2)", nan)],
)  # fmt: skip
def test_constants(sql, expected):
    assert_values([value(sql)], [expected])


def test_float32_alone_stays_float32():
    frame = table(f=("float32", [8.0, None]))
    assert values("cbrt(f)", frame) == [2.0, None]
    assert values("clip(f, 0, 1)", frame) == [1.0, None]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("try_add(x, 1)", [None, LEAST + 1, 1, 0, None]),
        ("try_add(x, -1)", [GREATEST - 1, None, -1, -2, None]),
        ("try_subtract(x, 1)", [GREATEST - 1, None, -1, -2, None]),
        ("try_subtract(0, x)", [-GREATEST, None, 0, 1, None]),
        ("try_subtract(x, -1)", [None, LEAST + 1, 1, 0, None]),
        ("try_multiply(x, -1)", [-GREATEST, None, 0, 1, None]),
        ("try_multiply(-1, x)", [-GREATEST, None, 0, 1, None]),
        ("try_multiply(x, x)", [None, None, 0, 1, None]),
        ("try_multiply(x, 2)", [None, None, 0, -2, None]),
        ("try_multiply(x, 0)", [0, 0, 0, 0, None]),
        ("try_add(x, 0)", [GREATEST, LEAST, 0, -1, None]),
        ("try_add(x, NULL)", [None] * 5),
        ("bit_and(x, 3)", [3, 0, 0, 3, None]),
        ("bit_or(x, 1)", [GREATEST, LEAST + 1, 1, -1, None]),
        ("bit_xor(x, -1)", [LEAST, GREATEST, -1, 0, None]),
        ("bit_not(x)", [LEAST, GREATEST, -1, 0, None]),
        ("shift_left(x, 1)", [-2, 0, 0, -2, None]),
        ("shift_left(x, 63)", [LEAST, 0, 0, LEAST, None]),
        ("shift_right(x, 63)", [0, -1, 0, -1, None]),
        ("shift_right(x, 0)", [GREATEST, LEAST, 0, -1, None]),
        ("shift_right(x, 64)", [None] * 5),
        ("shift_left(x, -1)", [None] * 5),
        ("clip(x, -5, 5)", [5, -5, 0, -1, None]),
        ("clip(x, 5, -5)", [-5, 5, 5, 5, None]),
    ],
)  # fmt: skip
def test_integers_at_the_edges(sql, expected):
    assert values(sql, table(x=("int64", [GREATEST, LEAST, 0, -1, None]))) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [("try_add(9223372036854775807, 1)", None), ("try_add(1, 2)", 3), ("try_multiply(4611686018427387904, -2)", LEAST), ("try_multiply(3037000500, 3037000500)", None),
     ("try_add(1.5, 1)", 2.5), ("try_multiply(1e308, 10)", inf), ("shift_left(1, 62)", 2**62), ("shift_left(1, 63)", LEAST), ("clip('m', 'a', 'f')", "f"),
     ("clip(DATE '2020-01-01', DATE '2021-01-01', DATE '2022-01-01')", date(2021, 1, 1))],
)  # fmt: skip
def test_integers_of_constants(sql, expected):
    assert_values([value(sql)], [expected])


def test_a_shift_by_a_column_is_null_where_there_are_no_such_bits():
    frame = table(x=("int64", [1, 1, 1, 1, None, 1]), n=("int64", [0, 63, 64, -1, 1, None]))
    assert values("shift_left(x, n)", frame) == [1, LEAST, None, None, None, None]


def test_try_arithmetic_cannot_fail_so_filters_on_it_move():
    frame = table(x=("int64", [GREATEST]))
    assert values("try_add(x, 1) IS NULL", frame) == [True]
    with pytest.raises(EvaluationError):
        values("x + 1 IS NULL", frame)


@pytest.mark.parametrize(
    "sql", ["bit_and(1.5, 1)", "shift_left('a', 1)", "is_finite(1)", "clip(1, 'a', 2)", "cbrt('x')", "pi(1)"]
)
def test_other_types_are_refused(sql):
    with pytest.raises(InvalidExpression):
        value(sql)


@pytest.mark.parametrize(("sql", "result"), [
    ("round(0.123456789012345678, 11)", 0.12345678901), ("round(5.0, -400)", 0.0), ("round(5.0, -1)", 0.0),
    ("round(15.0, -1)", 20.0), ("round(25.0, -1)", 20.0), ("round(2.5)", 2.0), ("round(0.5, 300)", 0.5),
])  # fmt: skip
def test_floats_are_rounded_by_exact_powers_of_ten(sql, result):
    assert value(sql) == result

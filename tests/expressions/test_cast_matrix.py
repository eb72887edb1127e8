"""Casts between all types of numbers: a value at every edge, held exactly or refused, or null where the cast is lenient."""

from decimal import Context, Decimal
from fractions import Fraction
from math import inf, isfinite, isnan, nan

import numpy as np
import pyarrow as pa
import pytest

from expressions.evaluation import table, values
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import is_floating, is_integer, parse_type

EXACT = Context(prec=200)
TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "decimal(5,2)", "decimal(20,0)", "decimal(38,10)", "decimal(38,38)",
]  # fmt: skip
CANDIDATES = [
    True, False, nan, inf, -inf, -0.0, 0.5, 0.25, 0.1, 0.005, 1.5, 127.5, 999.99, 999.995, 1e-7, 1e-40, 2.0**53, 2.0**63, 2.0**64, -(2.0**63), 1e37, 1e38, 3e38, 3.5e38,
    *(sign * (1 << bits) + step for bits in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64) for sign in (1, -1) for step in (-1, 0, 1)),
    0, 1, 2, -1, 999, 1000, 300, *(Decimal(text) for text in ("0.5", "-999.99", "0.01", "1E-10", "1E-38", "-0.1", "10", "9" * 20, "9" * 28, "-" + "9" * 28 + ".9999999999", "0." + "9" * 38)),
]  # fmt: skip


def decimal_of(value):
    """The decimal that a number is written as."""
    return Decimal(str(value)) if isinstance(value, float | np.float32) else Decimal(value)


def is_of(value, dtype):
    """Whether a test value is one of the type: floats for floats, any exact number for the others."""
    if isinstance(value, bool) or dtype == pa.bool_():
        return isinstance(value, bool) and dtype == pa.bool_()
    if is_floating(dtype):
        return not isinstance(value, Decimal) and held(value, dtype, value) is not None
    return not isinstance(value, float) and held(value, dtype, value) is not None


def of_type(value, dtype):
    """The test value as Python has one of the type."""
    if is_floating(dtype):
        return float(np.float32(value)) if dtype == pa.float32() else float(value)
    return Decimal(value) if pa.types.is_decimal(dtype) else value


def held(value, dtype, written):
    """What `dtype` has of a number that is `written` so: the same, the nearest float of a decimal or float, or None."""
    if is_floating(dtype):
        kind = np.float32 if dtype == pa.float32() else np.float64
        with np.errstate(over="ignore"):
            nearest = float(kind(value))
        if isinstance(value, float) and isfinite(value) != isfinite(nearest):
            return None
        return nearest if isinstance(value, float | Decimal) or Fraction(nearest) == value else None
    if isinstance(value, float) and not isfinite(value):
        return None
    if dtype == pa.bool_():
        return bool(value) if value in (0, 1) else None
    if is_integer(dtype):
        whole, low = int(Fraction(value)), -(1 << (dtype.bit_width - 1)) if pa.types.is_signed_integer(dtype) else 0
        return whole if whole == Fraction(value) and low <= whole < low + (1 << dtype.bit_width) else None
    units = decimal_of(written).scaleb(dtype.scale, EXACT)
    fits = units == units.to_integral_value() and units.copy_abs() < 10**dtype.precision
    return decimal_of(written) if fits else None


def same(got, expected):
    if isinstance(expected, float) and isinstance(got, float):
        return got == expected or (isnan(got) and isnan(expected))
    return type(got) is type(expected) and got == expected


@pytest.mark.part(3)
@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_a_cast_holds_the_value_exactly_or_is_refused(source, target):
    before, after = parse_type(source), parse_type(target)
    given = [of_type(value, before) for value in CANDIDATES if is_of(value, before)]
    written = [np.float32(v) if source == "float32" else v for v in given]
    expected = [held(value, after, text) for value, text in zip(given, written, strict=True)]
    assert all(map(same, values(f"TRY_CAST(x AS {target})", table(x=(before, [*given, None]))), [*expected, None]))
    for value, result in zip(given, expected, strict=True):
        frame = table(x=(before, [None, value]))
        if result is None:
            with pytest.raises(EvaluationError, match=r"^CAST\(x AS .*\) has no result in row 1, for "):
                values(f"CAST(x AS {target})", frame)
        else:
            assert same(values(f"CAST(x AS {target})", frame)[1], result)


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("1.25", "decimal(3,2)", "1.25"), ("-1.250", "decimal(3,2)", "-1.25"), ("1e3", "decimal(6,2)", "1000.00"), ("-0", "decimal(3,2)", "0.00"), ("25e-1", "decimal(2,1)", "2.5"),
        ("1.255", "decimal(5,2)", None), ("1000", "decimal(5,2)", None), ("", "decimal(5,2)", None), (" 1", "decimal(5,2)", "1.00"), ("1 \n", "decimal(5,2)", "1.00"), ("1 1", "decimal(5,2)", None),
        ("nan", "decimal(5,2)", None), ("inf", "decimal(5,2)", None), ("1e400", "decimal(38,0)", None), ("300", "decimal(38,38)", None), ("1e60", "decimal(38,38)", None),
        ("9" * 38, "decimal(38,0)", "9" * 38), ("1" + "0" * 38, "decimal(38,0)", None), ("0." + "9" * 38, "decimal(38,38)", "0." + "9" * 38), ("1e-39", "decimal(38,38)", None),
    ],
)  # fmt: skip
def test_text_is_a_decimal_exactly_or_refused(text, target, expected):
    frame = table(x=("string", [None, text]))
    assert values(f"TRY_CAST(x AS {target})", frame) == [None, expected and Decimal(expected)]
    assert values(f"TRY_CAST('{text}' AS {target})") == [expected and Decimal(expected)]
    if expected is None:
        with pytest.raises(EvaluationError, match="in row 1"):
            values(f"CAST(x AS {target})", frame)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("CAST(0.125 AS decimal(10,2))", "more than 2 decimals"), ("CAST('0.125' AS decimal(10,2))", "more than 2 decimals"),
        ("CAST(1e10 AS decimal(10,2))", "overflow of decimal(10,2)"), ("CAST(CAST('inf' AS float64) AS decimal(10,2))", "not a number"),
        ("CAST(CAST('12.34' AS decimal(4,2)) AS decimal(4,3))", "overflow of decimal(4,3)"), ("CAST(CAST('12.34' AS decimal(4,2)) AS decimal(4,1))", "more than 1 decimals"),
        ("CAST(16777217 AS float32)", "float32 cannot hold it exactly"),
    ],
)  # fmt: skip
def test_the_reason_of_a_refusal_is_reported(sql, reason):
    with pytest.raises(EvaluationError) as error:
        values(sql)
    assert str(error.value).endswith(f": {reason}")


def test_a_number_beside_float32_columns_is_the_nearest_float32_and_others_compare_in_float64():
    frame = table(
        f=("float32", [0.1, 0.5]), g=("float32", [0.5, 0.25]), d=("decimal(3,1)", [Decimal("0.1"), Decimal("0.5")])
    )
    assert values("f = 0.1", frame) == [True, False]
    assert values("f = 0.5", frame) == [False, True]
    assert values("f = d", frame) == [False, True]
    assert values("CAST(f * g AS float32) = f * g", frame) == [True, True]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("u > -1", [True, True, True, None]), ("u = i", [False, True, False, None]), ("u > i", [True, False, True, None]), ("i < u", [True, False, True, None]),
        ("u IN (-1, 5)", [False, True, False, None]), ("u = 9223372036854775807", [False, False, False, None]), ("u > s", [True, True, True, None]),
        ("greatest(u, i)", [2**64 - 1, 5, 2**63, -1]), ("coalesce(u, i)", [2**64 - 1, 5, 2**63, -1]), ("u BETWEEN -5 AND 5", [False, True, False, None]),
    ],
)  # fmt: skip
def test_unsigned_64_bit_integers_beyond_int64_compare_with_negative_ones(sql, expected):
    frame = table(
        u=("uint64", [2**64 - 1, 5, 2**63, None]), i=("int64", [-1, 5, -(2**63), -1]), s=("int8", [-1, -1, -1, -1])
    )
    assert values(sql, frame) == expected


@pytest.mark.parametrize(
    ("dtype", "given", "places", "expected"),
    [
        ("int8", [120, -128, 25, 35], -1, [120, -130, 20, 40]), ("int8", [127, -128, 50, None], -2, [100, -100, 0, None]), ("int8", [127, -128], -3, [0, 0]),
        ("int64", [2**63 - 1, -(2**63)], -18, [9 * 10**18, -9 * 10**18]), ("int64", [4 * 10**18, -5 * 10**18], -19, [0, 0]), ("int64", [2**63 - 1], -30, [0]),
        ("uint64", [2**64 - 1, 5], -19, [2 * 10**19, 0]), ("uint16", [50000, 49999], -5, [0, 0]), ("uint64", [2**64 - 1], -99, [0]), ("int32", [7, -7], 5, [7, -7]),
    ],
)  # fmt: skip
def test_integers_round_to_tens_or_overflow_with_an_error(dtype, given, places, expected):
    for number, result in zip(given, expected, strict=True):
        frame, fits = table(x=(dtype, [number])), result is None or held(result, parse_type(dtype), result) is not None
        if fits:
            assert values(f"round(x, {places})", frame) == [result]
        else:
            with pytest.raises(EvaluationError, match="in row 0"):
                values(f"round(x, {places})", frame)

"""What expressions mean, in literal answers: logic, arithmetic, casts, text and time on the CPU backend."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from math import copysign, inf, isnan, nan

import pytest

from expressions.evaluation import table, value, values
from gpuetl.errors import EvaluationError

LEAST, GREATEST = -(2**63), 2**63 - 1
TRUTH = (True, False, None)


def same(got, expected):
    """Types and values are equal; NaN is NaN, and -0.0 is not 0.0."""
    if isinstance(expected, float) and isinstance(got, float):
        return isnan(got) if isnan(expected) else (got == expected and copysign(1, got) == copysign(1, expected))
    return type(got) is type(expected) and got == expected


def assert_values(got, expected):
    assert len(got) == len(expected)
    assert all(map(same, got, expected)), f"got {got}, expected {expected}"


# Kleene logic


@pytest.mark.parametrize("x", TRUTH)
@pytest.mark.parametrize("y", TRUTH)
def test_and_or_follow_kleene(x, y):
    frame = table(x=("bool", [x]), y=("bool", [y]))
    both = False if x is False or y is False else None if x is None or y is None else True
    either = True if x or y else None if x is None or y is None else False
    assert values("x AND y", frame) == [both]
    assert values("x OR y", frame) == [either]


def test_not_of_null_is_null():
    assert values("NOT x", table(x=("bool", [True, False, None]))) == [False, True, None]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("n IN (1, 2)", [True, True, False, None]),
        ("n NOT IN (1, 2)", [False, False, True, None]),
        ("n IN (1, NULL)", [True, None, None, None]),
        ("n NOT IN (1, NULL)", [False, None, None, None]),
        ("n IN (NULL)", [None, None, None, None]),
        ("n IN (m, 3)", [True, None, True, None]),
        ("n IN (1, 2.5)", [True, False, False, None]),
        ("n IN (300)", [False, False, False, None]),
    ],
)
def test_in_is_null_where_it_is_null_or_not_found_beside_a_null(sql, expected):
    assert values(sql, table(n=("int8", [1, 2, 3, None]), m=("int8", [1, None, 4, 5]))) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("x IS NULL", [False, False, True, True]),
        ("x IS NOT NULL", [True, True, False, False]),
        ("x IS DISTINCT FROM y", [False, True, True, False]),
        ("x IS NOT DISTINCT FROM y", [True, False, False, True]),
        ("x = y", [True, None, None, None]),
        ("x <> y", [False, None, None, None]),
        ("(x > 1) IS TRUE", [False, True, False, False]),
        ("(x > 1) IS NOT TRUE", [True, False, True, True]),
        ("coalesce(x, y, 7)", [1, 2, 1, 7]),
        ("nullif(x, y)", [None, 2, None, None]),
        ("x BETWEEN 1 AND y", [True, None, None, None]),
    ],
)
def test_comparisons_with_null(sql, expected):
    assert values(sql, table(x=("int64", [1, 2, None, None]), y=("int64", [1, None, 1, None]))) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("x = y", [False, False, None, True, False]),
        ("x <> y", [True, True, None, False, True]),
        ("x < y", [False, False, None, False, False]),
        ("x >= y", [False, False, None, True, True]),
        ("x IN (1.0, 0.0)", [False, True, None, True, False]),
        ("x IN (y)", [False, False, None, True, False]),
        ("is_nan(x)", [True, False, None, False, False]),
        ("x IS NULL", [False, False, True, False, False]),
    ],
)
def test_nan_equals_nothing_and_minus_zero_is_zero(sql, expected):
    frame = table(x=("float64", [nan, 1.0, None, -0.0, inf]), y=("float64", [nan, nan, nan, 0.0, -inf]))
    assert values(sql, frame) == expected


def test_greatest_and_least_skip_null_and_take_nan_as_the_greatest():
    frame = table(x=("float64", [nan, nan, 1.0, None, None]), y=("float64", [1.0, None, 2.0, 3.0, None]))
    assert_values(values("greatest(x, y)", frame), [nan, nan, 2.0, 3.0, None])
    assert_values(values("least(x, y)", frame), [1.0, nan, 1.0, 3.0, None])


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("bool", False, True),
        ("int8", -1, 1),
        ("string", "B", "a"),
        ("date", date(1969, 1, 1), date(1970, 1, 1)),
        ("timestamp", datetime(1969, 1, 1), datetime(1970, 1, 1)),
    ],
)
def test_greatest_and_least_of_every_type(dtype, low, high):
    frame = table(x=(dtype, [low, None, None]), y=(dtype, [high, low, None]))
    assert values("greatest(x, y)", frame) == [high, low, None]
    assert values("least(x, y)", frame) == [low, low, None]


@pytest.mark.parametrize(
    "sql",
    ["NULL = NULL", "NULL IN (NULL)", "greatest(NULL, NULL)", "coalesce(NULL, NULL)", "NULL + 1", "-NULL", "year(NULL)",
     "upper(NULL)", "to_date(NULL)", "round(NULL)", "'a' || NULL", "NULL LIKE 'a'", "CAST(NULL AS date)", "CASE WHEN NULL THEN 1 END"],
)  # fmt: skip
def test_null_constants_give_null(sql):
    assert value(sql) is None


# Arithmetic


@pytest.mark.parametrize(
    ("sql", "row", "shown"),
    [
        ("x + 1", 1, "9223372036854775807, 1"),
        ("x - 1", 2, "-9223372036854775808, 1"),
        ("x * 2", 1, "9223372036854775807, 2"),
        ("-x", 2, "-9223372036854775808"),
        ("abs(x)", 2, "-9223372036854775808"),
        ("x // -1", 2, "-9223372036854775808, -1"),
    ],
)
def test_integer_overflow_names_the_expression_the_row_and_the_values(sql, row, shown):
    with pytest.raises(EvaluationError) as error:
        values(sql, table(x=("int64", [None, GREATEST, LEAST])))
    assert str(error.value) == f"{sql} has no result in row {row}, for {shown}: overflow of int64"


@pytest.mark.parametrize("sql", ["u + 1", "u - 1", "u % 2", "u // 2", "sign(u)", "-u"])
def test_unsigned_integers_beyond_int64_do_not_wrap(sql):
    with pytest.raises(EvaluationError, match="in row 1, for 18446744073709551615"):
        values(sql, table(u=("uint64", [1, 2**64 - 1])))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [("a + a", 254), ("a * a", 16129), ("-b", 128), ("abs(b)", 128), ("a - b", 255)],
)
def test_narrow_integers_are_computed_in_int64(sql, expected):
    assert values(sql, table(a=("int8", [127]), b=("int8", [-128]))) == [expected]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("7 // 2", 3), ("-7 // 2", -3), ("7 // -2", -3), ("-7 // -2", 3), ("7 // 0", None), ("0 // 0", None),
        ("7 % 3", 1), ("-7 % 3", -1), ("7 % -3", 1), ("-7 % -3", -1), ("7 % 0", None),
        ("(-9223372036854775807 - 1) % -1", 0), ("9223372036854775807 // -1", -GREATEST),
    ],
)  # fmt: skip
def test_integer_division_truncates_and_by_zero_is_null(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("1 / 0", inf), ("-1 / 0", -inf), ("0 / 0", nan), ("1 / -0.0", -inf), ("7 / 2", 3.5), ("6 / 2", 3.0),
        ("-0.0", -0.0), ("abs(-0.0)", 0.0), ("0.0 * -1", -0.0), ("1e308 * 10", inf), ("sqrt(-1)", nan), ("ln(0)", -inf),
        ("CAST(0.1 AS float64) + 0.2", 0.30000000000000004), ("0.1 + 0.2", 0.3),
    ],
)  # fmt: skip
def test_floats_follow_ieee(sql, expected):
    assert_values([value(sql)], [expected])


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("round(0.5)", 0.0), ("round(1.5)", 2.0), ("round(2.5)", 2.0), ("round(-0.5)", -0.0), ("round(-2.5)", -2.0),
        ("round(0.125, 2)", 0.12), ("round(0.375, 2)", 0.38), ("round(25, -1)", 20), ("round(35, -1)", 40), ("round(7)", 7),
        ("floor(-0.5)", -1.0), ("ceil(-0.5)", -0.0), ("trunc(-1.9)", -1.0),
    ],
)  # fmt: skip
def test_round_goes_half_to_even(sql, expected):
    assert_values([value(sql)], [expected])


def test_float32_stays_float32_among_its_own_and_widens_beside_others():
    frame = table(f=("float32", [1e38]), i=("int8", [10]))
    assert_values(values("f + f + f + f", frame), [inf])
    assert values("f * i", frame)[0] == pytest.approx(1e39, rel=1e-6)


# Casts


@pytest.mark.parametrize(
    ("sql", "shown", "reason"),
    [
        ("CAST(1.5 AS int64)", "1.5", "int64 cannot hold it exactly"),
        ("CAST(CAST('nan' AS float64) AS int64)", "nan", "int64 cannot hold it exactly"),
        ("CAST(1e300 AS int64)", "1e+300", "int64 cannot hold it exactly"),
        ("CAST('12x' AS int64)", "12x", "not a valid int64"),
        ("CAST('' AS int64)", "", "not a valid int64"),
        ("CAST(300 AS int8)", "300", "int8 cannot hold it exactly"),
        ("CAST(-1 AS uint8)", "-1", "uint8 cannot hold it exactly"),
        ("CAST(9007199254740993 AS float64)", "9007199254740993", "float64 cannot hold it exactly"),
        ("CAST(1e300 AS float32)", "1e+300", "beyond"),
        ("CAST(TIMESTAMP '2020-01-01 00:00:01' AS date)", "2020-01-01 00:00:01", "it has a time of day; use to_date"),
        ("CAST(2 AS bool)", "2", "neither 0 nor 1"),
        ("CAST(0.5 AS bool)", "0.5", "neither 0 nor 1"),
        ("CAST('yep' AS bool)", "yep", "not a valid bool"),
        ("CAST(1.25 AS decimal(10,1))", "1.25", "decimals"),
        ("CAST(123 AS decimal(3,1))", "123", "overflow of decimal(3,1)"),
        ("CAST(CAST('1.50' AS decimal(10,2)) AS int64)", "1.50", "int64 cannot hold it exactly"),
    ],
)
def test_cast_that_loses_is_an_error_naming_the_value_and_try_cast_is_null(sql, shown, reason):
    with pytest.raises(EvaluationError) as error:
        value(sql)
    assert f"has no result, for {shown}: " in str(error.value)
    assert reason in str(error.value)
    assert value(sql.replace("CAST", "TRY_CAST", 1)) is None


def test_a_constant_of_more_digits_than_float64_has_is_no_bool():
    assert value("TRY_CAST(1000.0 * 9007199254740993.5 AS bool)") is None
    assert value("TRY_CAST(1.00000000000000000001 AS bool)") is None
    with pytest.raises(EvaluationError, match=r"for 9007199254740993\.5: neither 0 nor 1"):
        value("CAST(9007199254740993.5 AS bool)")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CAST(2.0 AS int64)", 2), ("CAST(-0.0 AS int64)", 0), ("CAST('-12' AS int8)", -12), ("CAST(127 AS int8)", 127),
        ("CAST(9007199254740992 AS float64)", 9007199254740992.0), ("CAST(true AS int64)", 1), ("CAST(1 AS bool)", True),
        ("CAST('true' AS bool)", True), ("CAST(12 AS string)", "12"), ("CAST(true AS string)", "true"),
        ("CAST('1e3' AS float64)", 1000.0), ("CAST('inf' AS float64)", inf), ("CAST(1.25 AS decimal(10,2))", Decimal("1.25")),
        ("CAST(12 AS decimal(10,2))", Decimal("12.00")), ("CAST('1.5' AS decimal(4,2))", Decimal("1.50")),
        ("CAST(DATE '2020-02-29' AS timestamp)", datetime(2020, 2, 29)), ("CAST(DATE '2020-02-29' AS string)", "2020-02-29"),
        ("CAST(TIMESTAMP '2020-02-29' AS date)", date(2020, 2, 29)), ("TRY_CAST('2020-02-30' AS date)", None),
        ("TRY_CAST('2020-02-29' AS date)", date(2020, 2, 29)), ("TRY_CAST('x' AS timestamp)", None),
        ("TRY_CAST('2020-02-29 10:00:00' AS timestamp)", datetime(2020, 2, 29, 10)),
    ],
)  # fmt: skip
def test_exact_casts(sql, expected):
    assert_values([value(sql)], [expected])


def test_cast_names_the_first_row_that_fails_and_its_reason():
    frame = table(t=("string", ["1", None, "12x", "1.5"]))
    with pytest.raises(
        EvaluationError, match=r"^CAST\(t AS int64\) has no result in row 2, for 12x: not a valid int64"
    ):
        values("CAST(t AS int64)", frame)
    assert values("TRY_CAST(t AS int64)", frame) == [1, None, None, None]


# CASE


def test_case_takes_the_first_true_branch_and_null_without_else():
    frame = table(n=("int64", [1, 2, 3, None]))
    assert values("CASE WHEN n < 2 THEN 'a' WHEN n < 3 THEN 'b' ELSE 'c' END", frame) == ["a", "b", "c", "c"]
    assert values("CASE n WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", frame) == ["one", "two", None, None]


def test_case_evaluates_a_branch_that_can_fail_only_on_its_rows():
    frame = table(x=("int64", [GREATEST, 1, None]), t=("string", ["x", "7", None]))
    assert values("CASE WHEN x < 10 THEN x + 1 ELSE 0 END", frame) == [0, 2, 0]
    assert values("CASE WHEN t <> 'x' THEN CAST(t AS int64) END", frame) == [None, 7, None]
    assert values("CASE WHEN x >= 10 THEN -1 ELSE x + 1 END", frame) == [-1, 2, None]


def test_case_names_the_row_of_the_whole_input():
    frame = table(b=("bool", [False, False, True, True]), t=("string", ["x", "y", "1", "z"]))
    with pytest.raises(EvaluationError, match=r"CAST\(t AS int64\) has no result in row 3, for z"):
        values("CASE WHEN b THEN CAST(t AS int64) END", frame)


@pytest.mark.parametrize(
    "sql", ["coalesce(n, CAST('x' AS int64))", "CASE WHEN n > 5 THEN CAST('x' AS int64) ELSE n END"]
)
def test_a_constant_without_a_result_fails_where_a_row_takes_its_branch(sql):
    """No row takes it of those that are not null, or of none."""
    assert values(sql, table(n=("int64", [1, 2]))) == [1, 2]
    assert values(sql, table(n=("int64", []))) == []
    with pytest.raises(EvaluationError, match="CAST"):
        values(sql, table(n=("int64", [1, None if "coalesce" in sql else 6])))


def test_a_constant_that_all_rows_take_fails_without_rows_too():
    """It is found where there is nothing to compute, as one outside of branches is."""
    for sql in ("CASE WHEN CAST('x' AS int64) > 0 THEN n END", "coalesce(CAST('x' AS int64), n)"):
        with pytest.raises(EvaluationError, match="CAST"):
            values(sql, table(n=("int64", [])))


def test_if_is_case():
    frame = table(n=("int64", [1, 2, None]))
    assert values("if(n > 1, 'more', 'less')", frame) == ["less", "more", "less"]
    assert values("iff(n > 1, n, NULL)", frame) == [None, 2, None]


# COALESCE


def test_coalesce_evaluates_what_can_fail_only_where_all_before_is_null():
    frame = table(x=("int64", [1, None, None]), y=("int64", [GREATEST, 2, None]), t=("string", ["x", "y", "3"]))
    assert values("coalesce(x, y + 1)", frame) == [1, 3, None]
    assert values("coalesce(x, y + 1, CAST(t AS int64))", frame) == [1, 3, 3]
    assert values("ifnull(x, nvl(y, 0) + 1)", frame) == [1, 3, 1]
    assert values("coalesce(7, CAST(t AS int64))", frame) == [7, 7, 7]
    assert values("coalesce(NULL, CAST(t AS int64), 1)", frame.slice(2)) == [3]


def test_coalesce_names_the_row_of_the_whole_input():
    frame = table(x=("int64", [1, None, None]), t=("string", ["x", "2", "z"]))
    with pytest.raises(EvaluationError, match=r"CAST\(t AS int64\) has no result in row 2, for z"):
        values("coalesce(x, CAST(t AS int64))", frame)


# Text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("length('añ日😀')", 4), ("upper('añé')", "AÑÉ"), ("lower('AÑÉ')", "añé"), ("reverse('añ😀')", "😀ña"),
        ("substring('añ日b', 2, 2)", "ñ日"), ("substring('añb', 0, 2)", "a"), ("substring('añb', -1, 4)", "b"), ("substring('añb', -2)", "ñb"),
        ("substring('añb', -3, 2)", "añ"), ("substring('añb', -5, 3)", "a"), ("substring('añb', -9)", "añb"),
        ("substring('añb', 9)", ""), ("substring('añb', 2, 0)", ""),
        ("left('añb', 2)", "añ"), ("left('añb', 9)", "añb"), ("left('añb', -1)", "añ"), ("left('añb', -9)", ""),
        ("right('añb', -1)", "ñb"), ("right('añb', -9)", ""), ("right('añb', 2)", "ñb"), ("right('añb', 0)", ""),
        ("lpad('ñ', 3, '·')", "··ñ"), ("rpad('ñ', 3)", "ñ  "), ("lpad('abc', 2)", "abc"),
        ("replace('aaa', 'aa', 'b')", "ba"), ("replace('abc', '', 'x')", "abc"), ("replace('a.c', '.', '')", "ac"),
        ("'é' LIKE '_'", True), ("'abc' LIKE 'a%'", True), ("'abc' LIKE 'b%'", False), ("'abc' NOT LIKE 'a%'", False),
        ("'a.c' LIKE 'a_c'", True), ("'abc' LIKE 'a.c'", False), ("'' LIKE '%'", True), ("'a\nb' LIKE 'a%b'", True),
        ("contains('a%b', '%')", True), ("starts_with('abc', '')", True), ("ends_with('añ', 'ñ')", True),
        ("'é' > 'z'", True), ("'a' > 'B'", True), ("'' = ' '", False), ("trim(' a b ')", "a b"),
    ],
)  # fmt: skip
def test_text_is_counted_in_code_points_and_compared_by_bytes(sql, expected):
    assert_values([value(sql)], [expected])


@pytest.mark.parametrize(
    "sql", ["t || 'x'", "length(t)", "upper(t)", "t LIKE '%'", "t NOT LIKE 'a'", "substring(t, 1)", "t > ''"]
)
def test_text_functions_of_null_are_null(sql):
    assert values(sql, table(t=("string", [None]))) == [None]


def test_a_fill_of_several_characters_is_cut():
    assert value("lpad('a', 4, 'xy')") == "xyxa"


# Time

BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 59, 999999)
LEAP_DAY = datetime(2024, 2, 29, 12, 30, 15, 250000)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("year(ts)", [1969, 2024, None]), ("quarter(ts)", [4, 1, None]), ("month(ts)", [12, 2, None]), ("day(ts)", [31, 29, None]),
        ("hour(ts)", [23, 12, None]), ("minute(ts)", [59, 30, None]), ("second(ts)", [59, 15, None]),
        ("dayofyear(ts)", [365, 60, None]), ("dayofweek(ts)", [3, 4, None]), ("to_date(ts)", [date(1969, 12, 31), date(2024, 2, 29), None]),
        ("epoch(ts)", [-1e-06, 1709209815.25, None]), ("epoch(to_date(ts))", [-86400.0, 1709164800.0, None]),
        ("extract(year FROM to_date(ts))", [1969, 2024, None]),
        ("date_trunc('year', ts)", [datetime(1969, 1, 1), datetime(2024, 1, 1), None]),
        ("date_trunc('quarter', ts)", [datetime(1969, 10, 1), datetime(2024, 1, 1), None]),
        ("date_trunc('week', ts)", [datetime(1969, 12, 29), datetime(2024, 2, 26), None]),
        ("date_trunc('day', ts)", [datetime(1969, 12, 31), datetime(2024, 2, 29), None]),
        ("date_trunc('hour', ts)", [datetime(1969, 12, 31, 23), datetime(2024, 2, 29, 12), None]),
        ("date_trunc('second', ts)", [datetime(1969, 12, 31, 23, 59, 59), datetime(2024, 2, 29, 12, 30, 15), None]),
        ("date_trunc('hour', to_date(ts))", [date(1969, 12, 31), date(2024, 2, 29), None]),
        ("ts + interval '1 second'", [datetime(1970, 1, 1, 0, 0, 0, 999999), datetime(2024, 2, 29, 12, 30, 16, 250000), None]),
        ("ts - TIMESTAMP '1970-01-01'", [timedelta(microseconds=-1), timedelta(days=19782, seconds=45015, microseconds=250000), None]),
        ("to_date(ts) + interval '1 hour'", [datetime(1969, 12, 31, 1), datetime(2024, 2, 29, 1), None]),
        ("to_date(ts) < ts", [True, True, None]),
    ],
)  # fmt: skip
def test_parts_and_arithmetic_of_timestamps_before_and_after_1970(sql, expected):
    assert_values(values(sql, table(ts=("timestamp", [BEFORE_1970, LEAP_DAY, None]))), expected)


@pytest.mark.parametrize(("day", "monday"), [(4, 4), (5, 4), (9, 4), (10, 4), (11, 11)])
def test_weeks_begin_on_monday(day, monday):
    assert value(f"date_trunc('week', DATE '2013-03-{day:02}')") == date(2013, 3, monday)


def test_parts_of_a_zoned_timestamp_are_those_of_its_clock():
    frame = table(ts=("timestamp[Europe/Berlin]", [datetime(2024, 6, 30, 22, 30)]))  # 22:30 UTC
    assert values("hour(ts)", frame) == [0]
    assert values("to_date(ts)", frame) == [date(2024, 7, 1)]
    assert values("month(ts)", frame) == [7]
    assert values("epoch(ts)", frame) == [1719786600.0]
    assert values("ts = TIMESTAMPTZ '2024-06-30 22:30:00+00:00'", frame) == [True]


@pytest.mark.parametrize(
    "parts", ["2023, 2, 29, 0, 0", "2023, 13, 1, 0, 0", "2023, 1, 1, 24, 0", "2023, 1, 1, 0, 60", "2023, 1, 0, 0, 0"]
)
def test_make_timestamp_refuses_what_is_no_date_and_time(parts):
    with pytest.raises(EvaluationError, match="not a valid date and time"):
        value(f"make_timestamp({parts})")


def test_constants_that_are_no_date_and_time_are_no_error_beside_no_rows():
    assert values("make_timestamp(1, 5, 127, y, 12)", table(y=("int64", []))) == []


def test_make_timestamp_is_null_where_a_part_is():
    frame = table(y=("int64", [2024, None, 1969]), d=("int64", [29, 31, 28]))
    assert values("make_timestamp(y, 2, d, 23, 59)", frame) == [
        datetime(2024, 2, 29, 23, 59),
        None,
        datetime(1969, 2, 28, 23, 59),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "x + 1",
        "x IN (1, NULL)",
        "CASE WHEN x > 1 THEN x + 1 END",
        "CAST(x AS string)",
        "coalesce(x, 1)",
        "1 + 1",
        "round(x, 1)",
    ],
)
def test_expressions_over_no_rows_give_no_rows(sql):
    assert values(sql, table(x=("int64", []))) == []

"""Operators on bits, and powers: in SQL as DuckDB has them, in Python, and refused where languages differ."""

from datetime import date

import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl import col
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.unparse import to_sql

duckdb = pytest.importorskip("duckdb")
SAME = (
    "'abc' ~ 'b'", "'abc' !~ '^b'", "NOT 'a' ~ 'b'", "'aqx' ~ 'q' || 'x'", "'a' || 'q' ~ 'q$'", "'a' ~ 'b' IS NULL", "'abc' SIMILAR TO 'b'", "'abc' NOT SIMILAR TO 'a.c'",
    "'a%' SIMILAR TO 'a%'", "5 & 3", "5 | 3", "~5", "1 << 3", "-8 >> 1", "2 ** 10", "2 ** -1", "1 + 2 & 3", "1 << 1 + 1", "8 >> 1 >> 1", "5 & 1 = 1", "~(5 + 1)",
    "(~5) + 1", "(-2) ** 2", "(1 | 2) & 4", "xor(5, 3)", "NOT 5 & 1 = 1", "2 * 3 ** 2", "-(3 ** 2)",
    "gcd(12, -18)", "gcd(0, 0)", "lcm(4, -6)", "lcm(0, 5)", "factorial(20)", "bit_count(255)", "bin(5)", "bin(-5)", "hex(255)", "hex(-1)", "hex(0)", "hex('ab')",
    "to_base(255, 16, 4)", "to_base(5, 2)", "log(2, 8)", "gamma(5)", "fdiv(7, -2)", "fmod(-7, 2)", "even(2.1)", "even(-2.1)", "even(3)",
    "nextafter(CAST(1 AS double), 2)", "signbit(CAST('-0.0' AS double))", "round_even(2.5, 0) = 2", "bit_length('añ')",
    "century(DATE '2000-12-31')", "century(DATE '2001-01-01')", "decade(DATE '1999-01-01')", "millennium(DATE '2001-01-01')", "era(DATE '2000-01-01')",
    "julian(TIMESTAMP '2000-01-01 12:00:00')", "yearweek(DATE '2024-12-30')", "extract(century FROM DATE '2024-02-03')", "date_part('year', DATE '2024-02-03')",
    "datepart('doy', DATE '2024-02-03')", "date_diff('century', DATE '1999-12-31', DATE '2000-01-01')", "datediff('decade', DATE '1999-12-31', DATE '2000-01-01')",
    "date_sub('month', TIMESTAMP '2024-01-31 12:00:00', TIMESTAMP '2024-02-29 11:00:00')", "date_sub('month', TIMESTAMP '2024-02-29 12:00:00', TIMESTAMP '2024-01-31 13:00:00')",
    "date_sub('month', TIMESTAMP '2024-03-31 12:00:00', TIMESTAMP '2024-02-29 12:00:00')", "date_sub('quarter', DATE '2024-01-31', DATE '2024-04-30')",
    "datesub('day', TIMESTAMP '2024-01-01 12:00:00', TIMESTAMP '2024-01-03 11:00:00')", "date_sub('week', DATE '2024-01-15', DATE '2024-01-01')",
    "make_time(17, 5, 30.25)", "epoch_ns(TIMESTAMP '2000-01-01 12:00:00')", "epoch_us(to_timestamp(1.5))", "epoch_us(timezone('UTC', TIMESTAMP '2000-01-01 00:00:00'))",
    "dayname(DATE '2024-02-03')", "monthname(DATE '2024-02-03')", "dayofmonth(DATE '2024-02-03')", "DATE '2024-02-03' + to_weeks(2)",
)  # fmt: skip


@pytest.mark.parametrize("sql", SAME)
def test_operators_and_functions_are_duckdbs(sql):
    theirs = duckdb.sql(f"SELECT {sql}").fetchall()[0][0]
    assert value(sql) == (pytest.approx(theirs) if isinstance(theirs, float) else theirs)


def test_operators_of_columns_and_of_python():
    frame = table(x=("int64", [12, None, -1]), y=("int64", [10, 1, 1]))
    assert values("x & y", frame) == [8, None, 1]
    assert values("x | y", frame) == [14, None, -1]
    assert values("~x", frame) == [-13, None, 0]
    assert values("y << 2", frame) == [40, 4, 4]
    assert values("y ** 2", frame) == [100.0, 1.0, 1.0]
    x, y = col("x"), col("y")
    python: list[tuple[Expression, str]] = [
        (x**2, "power(x, 2)"), (2**x, "power(2, x)"), (x << 1, "shift_left(x, 1)"), (x >> y, "shift_right(x, y)"), (x ^ y, "bit_xor(x, y)"),
        (1 << x, "shift_left(1, x)"), (8 >> x, "shift_right(8, x)"), (5 ^ x, "bit_xor(5, x)"), (-(x**2), "-power(x, 2)"),
        ((x > 1) & (y > 1), "x > 1 AND y > 1"), ((x > 1) | (y > 1), "x > 1 OR y > 1"), (~(x > 1), "NOT x > 1"),
    ]  # fmt: skip
    for made, sql in python:
        assert to_sql(made.syntax) == sql


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("~x + 1", "Write (~x) + y, or ~(x + y)."), ("1 + ~x", "Write (~x) + y, or ~(x + y)."), ("-x ** 2", "Write (-x) ** y, or -(x ** y)."),
        ("x ** 2 ** 3", "Write (x ** y) ** z, or x ** (y ** z)."), ("x | y & 1", "Write (x & y) | z, or x & (y | z)."), ("x << 1 & y", "Write (x & y) | z, or x & (y | z)."),
        ("x ^ 2", "Databases differ on what it is: write a ** b for the power, or xor(a, b)."), ("s ~* 'a'", "Write regexp_like(text, pattern, 'i')."),
        ("x && y", "Write AND."), ("x !~* y", "Write NOT regexp_like(text, pattern, 'i')."), ("s !~~ 'a'", "Write NOT LIKE."),
    ],
)  # fmt: skip
def test_what_languages_read_in_two_ways_is_refused(sql, hint):
    with pytest.raises(InvalidExpression) as error:
        parse_expression(sql)
    assert error.value.hint == hint


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("(1 = 1) & (2 = 2)", "bit_and takes integers, got bool"), ("1.5 & 2", "bit_and takes integers, got float64"),
        ("to_base(1, 37)", "to_base takes a base from 2 to 36, got 37"), ("width_bucket(1, 5, 5, 2)", "width_bucket takes a least value below the greatest, got 5 and 5"),
        ("width_bucket(1, 0, 5, 0)", "width_bucket takes a number of buckets from 1 to 2,147,483,647, got 0"), ("log(10)", "log got 1 argument"),
        ("date_part('yer', DATE '2024-01-01')", "date_part takes the name of a part and a date or timestamp, got 'yer'"), ("timezone('UTC')", "timezone takes a zone and a timestamp"),
        ("to_timestamp('2024')", "to_timestamp takes seconds since 1970, got string"), ("qcut(1, 4)", "qcut is a window function and cannot stand here"),
    ],
)  # fmt: skip
def test_other_arguments_are_refused(sql, message):
    with pytest.raises(InvalidExpression) as error:
        typed(sql)
    assert error.value.message == message


def test_buckets_and_null():
    frame = table(x=("float64", [-1.0, 0.0, 5.35, 9.99, 10.0, None, float("nan"), float("inf")]))
    assert values("width_bucket(x, 0, 10, 5)", frame) == [0, 1, 3, 5, 6, None, 6, 6]
    assert values("bin(x)", table(x=("int64", [0, None, -(2**63)]))) == ["0", None, "1" + "0" * 63]
    assert value("to_base(-255, 16)") == "-FF"
    assert value("to_base(-9223372036854775807 - 1, 2)") == "-1" + "0" * 63
    assert values("date_sub('year', d, DATE '2024-02-28')", table(d=("date", [date(2000, 2, 29), None]))) == [23, None]

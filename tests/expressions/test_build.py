"""Python expressions build the syntax that SQL text builds."""

from datetime import date, timedelta

import pytest

import gpuetl.functions
from gpuetl import (
    Expression,
    InvalidExpression,
    col,
    count,
    cume_dist,
    dense_rank,
    expr,
    lag,
    lead,
    lit,
    ntile,
    param,
    percent_rank,
    rank,
    row_number,
    session_id,
    when,
)
from gpuetl.expressions.expression import apply
from gpuetl.expressions.parse import parse_expression

a, b = col("a"), col("b")


@pytest.mark.parametrize(
    ("built", "sql"),
    [
        (a + b, "a + b"), (a - 1, "a - 1"), (1 - a, "1 - a"), (2 * a, "2 * a"), (a / b, "a / b"), (1 / a, "1 / a"), (a // 2, "a // 2"), (7 // a, "7 // a"),
        (a % b, "a % b"), (7 % a, "7 % a"), (-a, "-a"), (1 + a, "1 + a"),
        (a == b, "a = b"), (a != 1, "a <> 1"), (a < b, "a < b"), (a <= b, "a <= b"), (a > b, "a > b"), (a >= 1.5, "a >= 1.5"),
        (1 < a, "a > 1"),  # noqa: SIM300
        ((a > 1) & (b < 2), "a > 1 AND b < 2"), ((a > 1) | (b < 2), "a > 1 OR b < 2"), (~(a > 1), "NOT a > 1"), (True & a, "true AND a"), (False | a, "false OR a"),
        (a.is_in([1, 2]), "a IN (1, 2)"), (a.is_null(), "a IS NULL"), (a.is_not_null(), "a IS NOT NULL"), (a.between(1, b), "a BETWEEN 1 AND b"),
        (a.fill_null(0), "coalesce(a, 0)"), (a.cast("int8"), "CAST(a AS int8)"), (a.try_cast("date"), "TRY_CAST(a AS date)"),
        (a.cast("timestamp[Europe/Berlin]"), 'CAST(a AS "timestamp[Europe/Berlin]")'), (a.cast("list<string>"), "CAST(a AS list<string>)"),
        (lit("2024-02-29").cast("date"), "DATE '2024-02-29'"), (lit("2024-02-29 12:30").cast("timestamp"), "TIMESTAMP '2024-02-29 12:30:00'"),
        (lit("-inf").cast("float64"), "CAST('-inf' AS float64)"), (lit("1.5").cast("decimal(2,1)"), "CAST('1.5' AS decimal(2,1))"),
        (lit("1.5").cast("decimal(9,2)"), "CAST('1.5' AS decimal(9,2))"), (lit("x").try_cast("date"), "TRY_CAST('x' AS date)"),
        (a.cast("list<decimal(9,2)>"), "CAST(a AS list<decimal(9,2)>)"), (a.cast("list<timestamp[+05:30]>"), 'CAST(a AS "list<timestamp[+05:30]>")'),
        (a.dt.hour(), "hour(a)"), (a.dt.date_trunc("month"), "date_trunc('month', a)"), (a.dt.date_diff("day", b), "date_diff('day', a, b)"),
        (a.dt.time_bucket(timedelta(minutes=15)), "time_bucket(interval '15 minutes', a)"), (a.dt.at_time_zone("Asia/Tokyo"), "a AT TIME ZONE 'Asia/Tokyo'"),
        (a.dt.assume_zone("Asia/Tokyo", ambiguous="latest"), "assume_zone(a, 'Asia/Tokyo', ambiguous => 'latest')"), (a.str.strptime("%Y%m%d"), "strptime(a, '%Y%m%d')"),
        (a.seconds(), "seconds(a)"), (a.make_date(b, 1), "make_date(a, b, 1)"), (a.dt.add_months(-1), "add_months(a, -1)"), (a.str.upper(), "upper(a)"), (a.round(2), "round(a, 2)"), (a.substring(2, length=3), "substring(a, 2, 3)"),
        (a.cum_sum(), "cum_sum(a)"), (a.rolling_sum(timedelta(hours=1)), "rolling_sum(a, interval '1 hour')"), (a.ewm_mean(half_life=2), "ewm_mean(a, half_life => 2)"),
        (a.sum() / count(), "sum(a) / count(*)"), (count(a), "count(a)"), (a.count_distinct(), "count(DISTINCT a)"), (a.mean(), "mean(a)"),
        (when(a > 1, "x").when(a > 0, "y").otherwise("z"), "CASE WHEN a > 1 THEN 'x' WHEN a > 0 THEN 'y' ELSE 'z' END"), (when(a, b).end(), "CASE WHEN a THEN b END"),
        (lag(a), "lag(a)"), (lag(a, 2), "lag(a, 2)"), (lead(a), "lead(a)"), (lead(a, 3), "lead(a, 3)"), (row_number() - 1, "row_number() - 1"),
        (lag(a, default=0), "lag(a, default => 0)"), (lead(a, 2, ignore_nulls=True), "lead(a, 2, ignore_nulls => true)"),
        (rank(), "rank()"), (dense_rank(), "dense_rank()"), (percent_rank(), "percent_rank()"), (cume_dist(), "cume_dist()"), (ntile(4), "ntile(4)"),
        (a.first(ignore_nulls=True), "first(a, ignore_nulls => true)"), (a.corr(b), "corr(a, b)"), (a.quantile(0.9), "quantile(a, 0.9)"), (a.ewm_mean(span=5), "ewm_mean(a, span => 5)"),
        (session_id(timedelta(minutes=30)), "session_id(interval '30 minutes')"), (a > param("min"), "a > $min"), (lit(date(2020, 1, 1)), "DATE '2020-01-01'"),
        (lit(None), "NULL"), (lit("x") == a, "'x' = a"), (expr("a + 1") * 2, "(a + 1) * 2"), (apply("abs", a), "abs(a)"), (a.like("x%"), "a LIKE 'x%'"),
        (a.like("x!%", "!"), "a LIKE 'x!%' ESCAPE '!'"), (a.str.ilike("x"), "a ILIKE 'x'"), (a.str.regexp_like(r"\d+"), r"regexp_like(a, '\d+')"),
        (a.str.split_part("/", -1), "split_part(a, '/', -1)"), (a.clip(0, b), "clip(a, 0, b)"),
        (apply("pi"), "pi()"), (apply("concat_ws", "-", a, b), "concat_ws('-', a, b)"),
        (col("a b") + 1, '"a b" + 1'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_python_builds_what_sql_builds(built, sql):
    assert built.syntax == parse_expression(sql)


def test_an_expression_is_no_python_boolean():
    with pytest.raises(TypeError, match=r"use & \| ~ instead of and, or, not"):
        bool(a > 1)
    with pytest.raises(TypeError, match="cannot be used as a Python boolean"):
        assert 1 < a < 3


def test_an_unknown_function_is_an_attribute_error():
    with pytest.raises(AttributeError, match="an expression has no method 'frobnicate'"):
        a.frobnicate()
    with pytest.raises(AttributeError, match="has no method 'arcsin'\nWrite asin"):
        a.arcsin()
    with pytest.raises(AttributeError, match=r"gpuetl\.functions has no function 'stddev'\nWrite std"):
        gpuetl.functions.stddev  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'gpuetl' has no attribute 'uper'\nDid you mean 'upper'\?"):
        gpuetl.uper  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no method 'uper'\nDid you mean 'upper'\?"):
        a.uper()
    with pytest.raises(AttributeError, match=r"has no method 'isnull'\nWrite x IS NULL, or x\.is_null\(\) in Python\."):
        a.isnull()
    assert not hasattr(a, "__array__")


def test_expressions_are_not_hashable_since_equality_builds():
    with pytest.raises(TypeError, match="unhashable"):
        _ = {a}


def test_an_unknown_type_is_a_value_error():
    with pytest.raises(ValueError, match="unknown type 'int46'"):
        a.cast("int46")


def test_a_constant_that_is_no_date_is_refused_at_once():
    with pytest.raises(InvalidExpression, match="'2023-02-29' is not a valid date"):
        lit("2023-02-29").cast("date")


def test_text_that_does_not_parse_is_refused_at_once():
    with pytest.raises(InvalidExpression, match="unexpected '>'"):
        expr("a > > 3")


def test_building_changes_no_operand():
    base = col("a")
    _ = base + 1
    assert isinstance(base, Expression)
    assert base.syntax == parse_expression("a")

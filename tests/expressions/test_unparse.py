"""Syntax to SQL text, and back to an equal syntax."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions.evaluation import typed
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.scope import WINDOWS
from gpuetl.expressions.syntax import Apply, CastTo, Constant, Name, ParameterName
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import FLOAT64, INT64, parse_type
from left_to_full import in_full


@pytest.mark.parametrize(
    "sql",
    [
        "a", '"a b"', '"select"', '"Ärger"', "$p", "1", "-1", "1.5", "1e+300", "'it''s'", "NULL", "true", "DATE '2013-03-09'",
        "TIMESTAMP '2013-03-09 17:05:30.250000'", "TIMESTAMPTZ '2013-03-09 17:05:30+02:00'", "INTERVAL '90 minutes'", "INTERVAL '1 day'",
        "INTERVAL '-1 hour'", "INTERVAL '1500001 microseconds'", "a + b * c", "(a + b) * c", "a - (b - c)", "a - b - c", "a / (b * c)", "-(a + b)", "-(-a)",
        "-a // -b", "a - -1", "NOT a", "NOT (a AND b)", "NOT a = b", "a AND b AND c", "a AND (b OR c)", "a OR b AND c", "(NOT a) = b",
        "(a = b) = (c = a)", "(a < b) < c", "(a = b) < c", "a IS NULL", "NOT a IS NULL", "(a = b) IS NULL", "(a IS NULL) IS NULL", "a + b IS NULL", "a IN (1, 2)",
        "NOT a IN ('x', NULL)", "(a IN (b)) IN (true)", "a LIKE 'x%'", "NOT a LIKE b || c", "a LIKE 'x!%' ESCAPE '!'", "NOT a ILIKE 'x'", "a ILIKE b || c ESCAPE '!'", "like(a, b, $p)", "(a LIKE 'x' ESCAPE '!') IS NULL",
        "regexp_like(a, '\\d+')", "concat(a, b, c)", "a || b || c", "a || (b || c)",
        "a IS DISTINCT FROM b", "a IS NOT DISTINCT FROM NULL", "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END", "CASE WHEN a THEN 1 END + 1",
        "CAST(a AS int8)", "TRY_CAST(a + 1 AS decimal(10,2))", "CAST(a AS timestamptz)", 'CAST(a AS "timestamp[Europe/Berlin]")', "CAST(a AS interval)", 'CAST(a AS "timestamp[-03:30]")', 'TRY_CAST(a AS "timestamp[Etc/GMT+5]")',
        'CAST(a AS "timestamp[America/Port-au-Prince]")',
        "count(*)", "count(DISTINCT a)", "sum(CASE WHEN a THEN b END)", "lag(a, 2)", "ewm_mean(a, half_life => INTERVAL '1 day')", "row_number() - 1",
        "substring(a, 1, 2)", "left(a, 2)", "extracted", "date_trunc('month', a)",
    ],
)  # fmt: skip
def test_canonical_text_is_read_and_written_unchanged(sql):
    assert to_sql(parse_expression(sql)) == sql


@pytest.mark.parametrize(
    ("sql", "canonical"),
    [
        ("a IS NOT NULL", "NOT a IS NULL"), ("a NOT IN (1)", "NOT a IN (1)"), ("a NOT LIKE 'x'", "NOT a LIKE 'x'"),
        ("a BETWEEN 1 AND 2", "a >= 1 AND a <= 2"), ("a != b", "a <> b"), ("extract(hour FROM a)", "hour(a)"),
        ("sum(a) FILTER (WHERE b)", "sum(CASE WHEN b THEN a END)"), ("CASE a WHEN 1 THEN 2 END", "CASE WHEN a = 1 THEN 2 END"),
        ("interval '1 day 12 hours'", "INTERVAL '36 hours'"), ("CAST('2013-03-09' AS date)", "DATE '2013-03-09'"), ("ABS ( a )", "abs(a)"),
        ("if(a, b, c)", "CASE WHEN a THEN b ELSE c END"), ("a RLIKE 'x'", "regexp_like(a, 'x')"), ("a NOT LIKE 'x' ESCAPE '!'", "NOT a LIKE 'x' ESCAPE '!'"),
        ("a AND (b AND c)", "a AND b AND c"), ("a OR (b OR (c OR a))", "a OR b OR c OR a"), ("a AND (b OR (c OR a))", "a AND (b OR c OR a)"),
        ("like(a, 'x')", "a LIKE 'x'"), ("like(a, 'x', '!')", "a LIKE 'x' ESCAPE '!'"),
    ],
)  # fmt: skip
def test_other_spellings_become_the_canonical_one(sql, canonical):
    assert to_sql(parse_expression(sql)) == canonical


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("i > 1.5", "i > 1.5"),
        ("i + f", "i + f"),
        ("CAST(i AS float64) > f", "CAST(i AS float64) > f"),
        ("coalesce(i, 2)", "coalesce(i, 2)"),
    ],
)
def test_casts_that_typing_put_in_are_left_out(sql, written):
    assert to_sql(typed(sql, {"i": INT64, "f": FLOAT64})) == written


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 5, -5, -(2**63), 1.5, -0.0])
@pytest.mark.parametrize("around", [lambda x: x, lambda x: Apply("negate", (x,))], ids=["alone", "negated"])
def test_a_number_is_read_again_as_the_same_constant(value, around):
    """Neither becomes a cast or another constant, so that a pipeline's fingerprint stays."""
    syntax = around(Constant(value))
    again = parse_expression(to_sql(syntax))
    assert to_sql(again) == to_sql(syntax)
    assert type(again) is type(syntax)
    number = again if isinstance(again, Constant) else again.args[0]
    assert repr(number.value) == repr(value)


def unfolded(moment):
    """Clocks that are turned back have no place in the language."""
    return moment.replace(fold=0)


NAMES = st.sampled_from(
    ["a", "b", "Txn", "a b", "select", "it's", 'say "x"', "ñ", "x.y", "$x", "1a", "date", "end", "interval", "left"]
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5), st.dates(), st.datetimes().map(unfolded),
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-3, minutes=-30))])).map(unfolded),
    st.timedeltas(timedelta(days=-1000), timedelta(days=1000)),
    st.decimals(-(10**12), 10**12, places=3), st.decimals(-1, 1, places=12), st.integers(-(10**27), 10**27).map(Decimal),
)  # fmt: skip
TYPES = st.sampled_from(
    [
        "bool",
        "int8",
        "uint64",
        "float32",
        "string",
        "date",
        "timestamp",
        "timestamp[UTC]",
        "timestamp[Asia/Tokyo]",
        "duration",
        "decimal(12,3)",
    ]
)
BINARY = ["or", "and", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "like", "ilike", "is_distinct", "is_not_distinct",
          "concat", "add", "subtract", "multiply", "divide", "int_divide", "modulo"]  # fmt: skip
LEAVES = st.one_of(
    st.builds(Name, NAMES),
    st.builds(Constant, SCALARS),
    st.builds(ParameterName, st.sampled_from(["p", "half_life_s"])),
)


def chained(name, left, right):
    """A chain of AND or OR leans to the left, wherever its brackets were."""
    if name in ("and", "or") and isinstance(right, Apply) and right.function == name:
        return Apply(name, (chained(name, left, right.args[0]), right.args[1]))
    return Apply(name, (left, right))


def negated(operand):
    """A negative number is a constant of its own."""
    number = isinstance(operand, Constant) and type(operand.value) in (int, float)
    return Apply("not" if number else "negate", (operand,))


def cast(operand, dtype, lenient):
    """A constant text cast to a date is a date, so its cast is lenient here."""
    return CastTo(operand, parse_type(dtype), lenient or isinstance(operand, Constant))


def trees(inner):
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(chained, st.sampled_from(BINARY), inner, inner),
        st.builds(
            lambda name, x: Apply(name, (x,)),
            st.sampled_from(["not", "is_null", "abs", "count_distinct", "sum"]),
            inner,
        ),
        st.builds(
            lambda name, x, y, z: Apply(name, (x, y, z)),
            st.sampled_from(["like", "ilike", "concat"]),
            inner,
            inner,
            inner,
        ),
        st.builds(negated, inner),
        st.builds(lambda x, more: Apply("in", (x, *more)), inner, several),
        st.builds(lambda x, y, more: Apply("case", (x, y, *more)), inner, inner, several),
        st.builds(lambda more, value: Apply("ewm_mean", more, (("half_life", value),)), several, inner),
        st.builds(cast, inner, TYPES, st.booleans()),
        st.just(Apply("count_rows")),
    )


@settings(max_examples=in_full(500, 250), deadline=None, derandomize=True)
@given(st.recursive(LEAVES, trees, max_leaves=12))
def test_any_syntax_is_read_back_equal(syntax):
    assert parse_expression(to_sql(syntax)) == syntax


@pytest.mark.parametrize(
    "sql",
    [
        "lag(x, 2, 0.5)", "lag(x, ignore_nulls => true)", "lag(x, 1, NULL)", "ewm_mean(x, alpha => 0.5)",
        "ewm_mean(x, 2.0)", "first(x, only => x > 1.0)", "first(x, only => NULL)", "last(x, true, x > 1.0)",
    ],
)  # fmt: skip
def test_a_typed_call_is_written_so_that_it_is_typed_again(sql):
    expression = typed(sql, {"x": FLOAT64}, kinds=WINDOWS)
    assert typed(to_sql(expression), {"x": FLOAT64}, kinds=WINDOWS) == expression


def test_arguments_that_are_left_out_are_not_written():
    assert to_sql(typed("ewm_mean(x, alpha => 0.5)", {"x": FLOAT64}, kinds=WINDOWS)) == "ewm_mean(x, alpha => 0.5)"
    assert to_sql(typed("lag(x, default => 1)", {"x": FLOAT64}, kinds=WINDOWS)) == "lag(x, default => 1.0)"


def test_times_keep_their_microseconds():
    for value in (
        date.min,
        date.max,
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
        timedelta(microseconds=-1),
    ):
        assert parse_expression(to_sql(Constant(value))) == Constant(value)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_floats_that_sql_cannot_write_become_casts(value):
    assert to_sql(parse_expression(to_sql(Constant(value)))) == f"CAST('{value}' AS float64)"


@pytest.mark.parametrize(
    "text",
    [
        "array_agg(DISTINCT x) FILTER (WHERE y)",
        "array_agg(x ORDER BY z DESC) FILTER (WHERE y > 1)",
    ],
)
def test_a_filter_beside_distinct_and_order_by_is_read_back(text):
    syntax = parse_expression(text)
    assert to_sql(syntax) == text
    assert parse_expression(to_sql(syntax)) == syntax

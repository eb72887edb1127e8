"""with_columns: columns added or replaced."""

import re

import pytest

from gpuetl import RunFailed, col, expr, when
from tables import INF, NAN, table

pytestmark = pytest.mark.single_rows

TYPES = {"a": "int64", "b": "float64"}
ROWS = [(1, 0.0), (None, NAN), (3, None), (-7, -0.0), (7, 2.0)]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def test_a_new_column_comes_last_and_an_old_one_stays_in_place(t, check):
    expected = table({"a": "string", "b": "float64", "c": "int64"}, *((f"{a}" if a else None, b, a) for a, b in ROWS))
    check(t.with_columns(c=col("a"), a=col("a").cast("string")), expected, ordered=True)


def test_all_columns_see_the_input_and_none_each_other(source, check):
    t = source(table({"a": "int64", "b": "int64"}, (1, 10), (2, 20), (3, 30)))
    check(t.with_columns(a=col("b"), b=col("a")), table({"a": "int64", "b": "int64"}, (10, 1), (20, 2), (30, 3)))


def test_division_is_ieee_and_integer_division_truncates_and_is_null_by_zero(source, check):
    t = source(table({"a": "int64", "b": "int64"}, (7, 2), (-7, 2), (7, 0), (0, 0), (None, 1)))
    expected = table(
        {"a": "int64", "b": "int64", "q": "float64", "d": "int64", "m": "int64"},
        (7, 2, 3.5, 3, 1), (-7, 2, -3.5, -3, -1), (7, 0, INF, None, None), (0, 0, NAN, None, None),
        (None, 1, None, None, None),
    )  # fmt: skip
    check(t.with_columns(q=expr("a / b"), d=expr("a // b"), m=expr("a % b")), expected, ordered=True)


def test_case_takes_the_first_true_branch(t, check):
    band = when(col("a") > 5, "high").when(col("a") > 0, "low").otherwise("other")
    bands = ["low", "other", "low", "other", "high"]
    expected = table({**TYPES, "band": "string"}, *((*row, band) for row, band in zip(ROWS, bands, strict=True)))
    check(t.with_columns(band=band), expected, ordered=True)


@pytest.mark.parametrize("rows", [[], [(1, 1.0)]])
def test_with_columns_of_zero_rows_or_one(source, check, rows):
    expected = table({**TYPES, "c": "bool"}, *((*row, True) for row in rows))
    check(source(table(TYPES, *rows)).with_columns(c=col("a") == col("b")), expected)


def test_an_all_null_column_gives_nulls(source, check):
    t = source(table({"n": "null", "x": "int64"}, (None, 1), (None, 2), (None, 3)))
    expected = table({"n": "null", "x": "int64", "y": "int64"}, (None, 1, None), (None, 2, None), (None, 3, None))
    check(t.with_columns(y=col("n") + col("x")), expected)


def test_a_cast_that_loses_is_an_error_with_the_value(t, failure):
    message = failure(t.with_columns(c=expr("CAST(b + 0.5 AS int64)")), RunFailed)
    assert re.search(r"for [02]\.5: ", message)  # workers that are other processes may fail first in either partition


def test_aggregates_cannot_stand_in_a_row(t, problem):
    assert "sum is an aggregate function and cannot stand here" in problem(t.with_columns(s=expr("sum(a)")))


def test_text_functions_take_patterns_from_parameters_on_any_partitions(pipeline, source, check):
    pattern, sought = pipeline.param("pattern", "string", default=r"(\w+)@(\w+)"), pipeline.param("sought", "string")
    t = source(table({"s": "string"}, ("ann@home, bob@work",), (None,), ("",), ("ÀÉ@x",), ("ANN",)))
    result = t.select(
        n=col("s").regexp_count(pattern), user=col("s").regexp_extract(pattern, 1), swapped=col("s").regexp_replace(pattern, r"\2@\1"),
        found=col("s").ilike(sought), upper=col("s").upper(), part=col("s").split_part(", ", -1),
    )  # fmt: skip
    expected = table(
        {"n": "int64", "user": "string", "swapped": "string", "found": "bool", "upper": "string", "part": "string"},
        (2, "ann", "home@ann, work@bob", True, "ANN@HOME, BOB@WORK", "bob@work"), (None,) * 6, (0, None, "", False, "", ""),
        (0, None, "ÀÉ@x", False, "ÀÉ@X", "ÀÉ@x"), (0, None, "ANN", True, "ANN", "ANN"),
    )  # fmt: skip
    check(result, expected, ordered=True, params={"sought": "aNN%"})


def test_a_pattern_outside_the_language_is_a_problem_of_the_plan(source, problem):
    t = source(table({"s": "string"}, ("a",)))
    text = problem(t.with_columns(b=col("s").regexp_like("a(?=b)")))
    assert "regexp_like cannot take the pattern 'a(?=b)'" in text


def test_coalesce_does_not_compute_what_no_row_needs(source, check):
    t = source(table({"s": "string", "n": "int64"}, ("x", 1), ("2", None), (None, None)))
    expected = table({"s": "string", "n": "int64"}, ("x", 1), ("2", 2), (None, None))
    check(t.with_columns(n=expr("coalesce(n, CAST(s AS int64))")), expected, ordered=True)


def test_a_constant_without_a_result_does_not_matter_where_no_row_takes_its_branch(source, check):
    """On every engine, in every partition."""
    rows = source(table({"x": "int64"}, (1,), (2,), (7,)))
    steps = rows.with_columns(
        y=expr("coalesce(x, CAST('no number' AS int64))"), z=expr("CASE WHEN x > 9 THEN CAST('x' AS int64) ELSE x END")
    )
    check(steps, table({"x": "int64", "y": "int64", "z": "int64"}, (1, 1, 1), (2, 2, 2), (7, 7, 7)))

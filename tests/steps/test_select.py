"""select: exactly these columns."""

import pytest

from gpuetl import RunFailed, col, expr
from tables import INT64_MAX, table

pytestmark = pytest.mark.single_rows

TYPES = {"a": "int64", "b": "string", "c": "null"}


@pytest.fixture
def t(source):
    return source(table(TYPES, (1, "x", None), (None, None, None), (3, "", None)))


def test_select_keeps_the_named_columns_in_the_order_given(t, check):
    check(
        t.select("b", "a"),
        table({"b": "string", "a": "int64"}, ("x", 1), (None, None), ("", 3)),
        ordered=True,
    )


def test_select_computes_columns_in_place_of_others(t, check):
    expected = table({"b": "string", "a": "int64", "n": "int32"}, ("x", 2, 1), (None, None, None), ("", 4, 0))
    check(t.select("b", a=col("a") + 1, n=expr("length(b)").cast("int32")), expected, ordered=True)


def test_select_of_constants_keeps_the_number_of_rows(t, check):
    expected = table({"one": "int64", "none": "null"}, *[(1, None)] * 3)
    check(t.select(one=expr("1"), none=expr("NULL")), expected)


def test_select_of_an_all_null_column(t, check):
    check(t.select("c"), table({"c": "null"}, (None,), (None,), (None,)))


@pytest.mark.parametrize("rows", [[], [(7, "s", None)]])
def test_select_of_zero_rows_or_one(source, check, rows):
    expected = table({"twice": "int64"}, *((2 * a,) for a, _, _ in rows))
    check(source(table(TYPES, *rows)).select(twice=col("a") * 2), expected)


def test_overflow_names_stage_step_and_column(source, failure):
    steps = source(table({"a": "int64"}, (1,), (2,), (INT64_MAX,))).select(b=col("a")).select(c=col("b") + 1)
    message = failure(steps, RunFailed)
    assert message.startswith(f"stage 'result', step 2: column 'c': b + 1 has no result, for {INT64_MAX}, 1: overflow")
    assert "\nRow 3 of " in message


def test_all_unknown_names_are_reported_at_once(t, problem):
    text = problem(t.select("d", e=col("f")))
    assert "unknown column 'd'" in text
    assert "unknown column 'f'" in text

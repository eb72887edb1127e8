"""filter: rows where the predicate is true."""

import re

import pytest

from gpuetl import InvalidPipeline, RunFailed, expr, param
from tables import NAN, table

pytestmark = pytest.mark.single_rows

TYPES = {"id": "int64", "x": "float64", "s": "string"}
ROWS = [(1, 1.0, "a"), (2, None, "b"), (3, NAN, None), (4, -0.0, "A"), (5, 5.0, "")]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def kept(*ids):
    return table(TYPES, *(row for row in ROWS if row[0] in ids))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("predicate", "ids"),
    [
        ("x > 0.5", [1, 5]),
        ("NOT (x > 0.5)", [3, 4]),
        ("x > 0.5 OR s = 'b'", [1, 2, 5]),
        ("x > 0.5 AND s IS NOT NULL", [1, 5]),
        ("x = 0", [4]),
        ("x IS NULL", [2]),
        ("x IN (1.0, NULL)", [1]),
        ("x NOT IN (1.0, nullif(1.0, 1.0))", []),
        ("NOT (s IN ('a', 'b'))", [4, 5]),
        ("s = ''", [5]),
        ("is_nan(x)", [3]),
        ("true", [1, 2, 3, 4, 5]),
        ("false", []),
        ("NULL", []),
        ("1 + 1 = 2", [1, 2, 3, 4, 5]),
        ("id % 2 = 1 AND true", [1, 3, 5]),
    ],
)
def test_filter_keeps_rows_where_the_predicate_is_true_in_their_order(t, check, predicate, ids):
    check(t.filter(expr(predicate)), kept(*ids), ordered=True)


def test_filter_drops_rows_where_the_predicate_is_null_for_all(source, check):
    t = source(table({"x": "int64"}, (None,), (None,), (None,)))
    check(t.filter(expr("x > 0 OR x <= 0")), table({"x": "int64"}))


@pytest.mark.parametrize("rows", [[], [(1, 1.0, "a")]])
def test_filter_of_zero_rows_or_one(source, check, rows):
    check(source(table(TYPES, *rows)).filter(expr("x >= 1")), table(TYPES, *rows))


def test_filters_follow_each_other(t, check):
    steps = t.filter(expr("x > -1")).filter(expr("id < 5")).filter(expr("s <> 'a'"))
    check(steps, kept(4))


def test_a_parameter_is_a_value_of_its_type(t, check, pipeline):
    pipeline.param("least", "float64", default=2.0)
    check(t.filter(expr("x > $least")), kept(5))
    check(t.filter(expr("x > $least")), kept(1, 5), params={"least": 0.5})


def test_a_filter_that_is_no_condition_is_refused(t, problem):
    assert "a filter takes a condition, and x is float64" in problem(t.filter(expr("x")))


def test_an_unknown_column_is_reported_with_the_nearest(t, problem):
    assert "unknown column 'idd'\nColumns: id, s, x. Did you mean 'id'?" in problem(t.filter(expr("idd > 1")))


def test_an_overflow_names_the_step_and_the_row(t, failure):
    message = failure(t.filter(expr("id * 9223372036854775807 > 0")), RunFailed)
    assert message.startswith("stage 'result', step 1")
    assert re.search(r"has no result, for ([2-6]), .*(?s:.*)\nRow \1 of .*: id = \1\n", message)  # of any partition


def test_a_filter_sees_only_what_an_earlier_one_left(t, check):
    check(t.filter(expr("id <= 1")).filter(expr("id * 9223372036854775807 > 0")), kept(1))


def test_a_required_parameter_must_be_given(t, pipeline):
    pipeline.param("least", "float64", required=True)
    t.filter(param("least") > 0).stage("s")
    with pytest.raises(InvalidPipeline, match="least"):
        pipeline.run(engine="pandas")


@pytest.mark.parametrize("text", ["x = CAST('one' AS int64)", "coalesce(x + CAST('one' AS int64), x) > 0"])
def test_a_constant_without_a_result_is_reported_where_there_are_no_rows(source, failure, text):
    """As it is where there are some: it is computed for each."""
    message = failure(source(table({"x": "int64"})).filter(expr(text)), RunFailed)
    assert "CAST('one' AS int64) has no result, for one" in message

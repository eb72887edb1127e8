"""join: cross puts every row of one side beside every row of the other."""

import pytest

from gpuetl import RunFailed, expr
from gpuetl.engines.cudf.relational import join as cudf_checks
from gpuetl.engines.pandas.relational import join as join_checks
from tables import table

LEFT, RIGHT = {"a": "int64", "s": "string"}, {"b": "float64"}
LEFT_ROWS = [(1, "x"), (None, None), (3, "z")]


@pytest.fixture
def sides(source):
    return lambda left, right: (source(table(LEFT, *left), "left"), source(table(RIGHT, *right), "right"))


@pytest.mark.parametrize("values", [[], [1.5], [1.5, None, float("nan")]])
@pytest.mark.parametrize("rows", [[], LEFT_ROWS])
def test_every_row_meets_every_row(sides, check, rows, values):
    left, right = sides(rows, [(value,) for value in values])
    check(left.join(right, how="cross"), table({**LEFT, **RIGHT}, *((*row, value) for row in rows for value in values)))


def test_a_name_on_both_sides_needs_a_suffix(source, check, problem):
    t = source(table({"k": "int64"}, (1,), (2,)))
    expected = table({"k": "int64", "k_r": "int64"}, (1, 1), (1, 2), (2, 1), (2, 2))
    check(t.join(t, how="cross", suffix="_r"), expected)
    assert "both sides have k\nSet suffix: _t" in problem(t.join(t, how="cross"))


def test_rows_are_counted_where_no_column_is_wanted(sides, check):
    left, right = sides(LEFT_ROWS, [(1.5,), (2.5,)])
    check(left.join(right, how="cross").aggregate(n=expr("count(*)")), table({"n": "int64"}, (6,)))


def test_columns_of_one_side_alone_repeat(sides, check):
    left, right = sides(LEFT_ROWS, [(1.5,), (2.5,)])
    check(left.join(right, how="cross").select("b"), table(RIGHT, *[(1.5,), (2.5,)] * 3))


@pytest.mark.parametrize(
    "some",
    [
        lambda t: t.filter(expr("a = 1 OR s IS NULL")),
        lambda t: t.sort("a").limit(2),
        lambda t: t.distinct("s").limit(2),
    ],
)
def test_rows_of_a_side_none_of_whose_columns_is_wanted_are_counted(sides, check, some):
    left, right = sides(LEFT_ROWS, [(1.5,), (2.5,)])
    check(some(left).join(right, how="cross").select("b"), table(RIGHT, *[(1.5,), (2.5,)] * 2))
    check(right.join(some(left), how="cross").select("b"), table(RIGHT, *[(1.5,), (2.5,)] * 2))


def test_a_result_that_is_too_large_is_refused_before_it_is_built(engine, sides, failure, monkeypatch):
    if engine == "dask-cuda":
        pytest.skip("the limit is lowered in this process, and its workers are others")
    monkeypatch.setattr(join_checks, "physical_memory", lambda: 10)
    monkeypatch.setattr(cudf_checks, "device_memory", lambda machine: 10)
    left, right = sides([(1, "x")], [(1.5,), (2.5,)])
    message = failure(left.join(right, how="cross"), RunFailed)
    assert message.startswith("stage 'result', step 1: the join would have 2 rows (about 0.0 GB)")
    assert "Each of 1 rows on the left side meets each of 2 on the right.  Filter or aggregate" in message

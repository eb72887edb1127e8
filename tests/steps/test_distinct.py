"""distinct: one row for each value of the columns."""

from dataclasses import replace

import pytest

from gpuetl import Pipeline, col, loads
from tables import NAN, table

TYPES = {"k": "float64", "x": "int64"}


def test_null_equals_null_nan_equals_nan_and_zero_minus_zero(source, check):
    t = source(table({"k": "float64"}, (NAN,), (None,), (0.0,), (-0.0,), (NAN,), (None,), (1.0,)))
    check(t.distinct("k"), table({"k": "float64"}, (NAN,), (None,), (0.0,), (1.0,)))


def test_distinct_keeps_one_whole_row_for_each_key(source, answer):
    t = source(table(TYPES, (1.0, 1), (2.0, 2), (1.0, 3), (None, 4), (2.0, 5), (None, 6)))
    rows = answer(t.distinct("k")).to_pylist()
    assert sorted(str(row["k"]) for row in rows) == ["1.0", "2.0", "None"]
    assert {(row["k"], row["x"]) for row in rows} <= {
        (1.0, 1),
        (2.0, 2),
        (1.0, 3),
        (None, 4),
        (2.0, 5),
        (None, 6),
    }


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        ("x", [1, 2, None]),
        ("x desc", [7, 5, None]),
        ("x nulls first", [1, None, None]),
        ("x desc nulls first", [7, None, None]),
    ],
)
def test_keep_first_takes_the_first_by_the_order(source, check, order, kept):
    t = source(table(TYPES, (1.0, 3), (2.0, None), (1.0, 1), (None, None), (2.0, 2), (1.0, 7), (2.0, 5)))
    expected = table(TYPES, *zip([1.0, 2.0, None], kept, strict=True))
    check(t.distinct("k", keep="first", order_by=order), expected)


@pytest.mark.parametrize("rows", [[], [(1.0, 1)], [(None, None)] * 3])
def test_distinct_of_zero_rows_one_or_nulls(source, check, rows):
    check(source(table(TYPES, *rows)).distinct("k", "x"), table(TYPES, *rows[:1]))


def test_distinct_on_an_all_null_column_of_unknown_type(source, check):
    t = source(table({"n": "null"}, (None,), (None,), (None,)))
    check(t.distinct("n"), table({"n": "null"}, (None,)))


def test_several_columns_tell_rows_apart(source, check):
    types = {"a": "int64", "s": "string"}
    t = source(table(types, (1, "x"), (1, None), (None, "x"), (1, "x"), (None, "x"), (1, "y")))
    check(t.distinct("a", "s"), table(types, (1, "x"), (1, None), (None, "x"), (1, "y")))


def test_a_filter_on_other_columns_sees_the_kept_rows(source, check):
    t = source(table(TYPES, (1.0, 3), (1.0, 1), (2.0, 2), (2.0, 5)))
    check(t.distinct("k", keep="first", order_by="x").filter(col("x") > 1), table(TYPES, (2.0, 2)))


@pytest.mark.parametrize("keys", [{"keep": "first"}, {"order_by": "x"}])
def test_keep_first_and_an_order_go_together(source, problem, keys):
    assert "distinct with keep: first needs order_by" in problem(source(table(TYPES)).distinct("k", **keys))


ALL = {"a": "int64", "k": "float64", "s": "string"}


def test_without_columns_all_of_them_tell_rows_apart(source, check):
    """Null equals null, NaN equals NaN and -0.0 equals 0.0 there too."""
    rows = [(1, NAN, "x"), (1, NAN, "x"), (1, -0.0, None), (1, 0.0, None), (2, NAN, "x"), (None, None, None)]
    t = source(table(ALL, *rows, (None, None, None), (1, NAN, "y")))
    expected = [(1, NAN, "x"), (1, 0.0, None), (2, NAN, "x"), (None, None, None), (1, NAN, "y")]
    check(t.distinct(), table(ALL, *expected))


def test_without_columns_it_is_the_distinct_of_all_of_them_by_name(source):
    """All columns are those that the step before leaves, whatever later steps read."""
    t = source(table(ALL, (1, 1.0, "x")))
    plans = []
    for step in (t.drop("s").distinct(), t.drop("s").distinct("a", "k")):
        pipeline = Pipeline("p", root=t.pipeline.root)
        rows = pipeline.read_parquet("t", "t.parquet")
        plans.append(replace(rows, steps=step.steps).select("a").stage("out").pipeline.plan().fingerprint)
    assert plans[0] == plans[1]


@pytest.mark.parametrize("written", ["distinct: {}", "distinct:"])
def test_yaml_says_it_without_arguments(pipeline, source, written):
    """It is written back as `distinct: {}`."""
    source(table(ALL, (1, 1.0, "x"))).distinct().stage("out")
    text = pipeline.to_yaml()
    assert "      - distinct: {}\n" in text
    again = loads(text.replace("distinct: {}", written), root=pipeline.root)
    assert again.plan().fingerprint == pipeline.plan().fingerprint


def test_rows_that_are_equal_in_all_columns_have_no_first(source, problem):
    """An order needs the columns that identify a row."""
    message = problem(source(table(ALL)).distinct(keep="first", order_by="a"))
    assert "rows that are equal in all columns have no first" in message
    assert message.endswith("Add on: the columns that identify a row.")

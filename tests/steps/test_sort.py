"""sort: rows in order, stably."""

from datetime import date
from decimal import Decimal
from math import isnan

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuetl import InvalidPipeline, Pipeline, col, loads, row_number
from gpuetl.testing import assert_same
from tables import INF, INT64_MAX, INT64_MIN, NAN, table, write_source


def numbered(dtype, values):
    return table({"x": dtype, "row": "int64"}, *((value, i) for i, value in enumerate(values)))


FLOATS = [1.0, NAN, None, -0.0, INF, 0.0, -INF, NAN, None, 1.0]
TEXTS = ["b", None, "", "é", "B", "z", "b", "\U0001f600", "\uffff"]
INTEGERS = [0, None, INT64_MAX, INT64_MIN, None, 0]


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("dtype", "values", "order", "rows"),
    [
        ("float64", FLOATS, "x", [6, 3, 5, 0, 9, 4, 1, 7, 2, 8]),
        ("float64", FLOATS, "x desc", [1, 7, 4, 0, 9, 3, 5, 6, 2, 8]),
        ("float64", FLOATS, "x nulls first", [2, 8, 6, 3, 5, 0, 9, 4, 1, 7]),
        ("float64", FLOATS, "x desc nulls first", [2, 8, 1, 7, 4, 0, 9, 3, 5, 6]),
        ("float32", FLOATS, "x", [6, 3, 5, 0, 9, 4, 1, 7, 2, 8]),
        ("string", TEXTS, "x", [2, 4, 0, 6, 5, 3, 8, 7, 1]),
        ("string", TEXTS, "x desc", [7, 8, 3, 5, 0, 6, 4, 2, 1]),
        ("int64", INTEGERS, "x", [3, 0, 5, 2, 1, 4]),
        ("int64", INTEGERS, "x desc", [2, 0, 5, 3, 1, 4]),
        ("int64", INTEGERS, "x asc nulls first", [1, 4, 3, 0, 5, 2]),
        ("int64", INTEGERS, "x desc nulls first", [1, 4, 2, 0, 5, 3]),
        ("uint64", [1, 2**64 - 1, None, 0, 2**63], "x", [3, 0, 4, 1, 2]),
        ("uint64", [1, 2**64 - 1, None, 0, 2**63], "x desc", [1, 4, 0, 3, 2]),
        ("bool", [True, None, False, True], "x", [2, 0, 3, 1]),
        ("date", [date.max, None, date.min, date(1970, 1, 1)], "x desc", [0, 3, 2, 1]),
        ("decimal(38,2)", [Decimal("1.50"), None, Decimal("-1.50"), Decimal(10)], "x", [2, 0, 3, 1]),
        ("int64", [None, None, None], "x", [0, 1, 2]),
        ("string", [None, None, None], "x desc", [0, 1, 2]),
        ("null", [None, None, None], "x", [0, 1, 2]),
        ("int64", [], "x", []),
        ("string", ["a"], "x desc nulls first", [0]),
    ],
)
def test_sort_is_stable_with_nulls_last_and_nan_greatest(source, check, dtype, values, order, rows):
    t = numbered(dtype, values)
    check(source(t).sort(order), t.take(pa.array(rows, pa.int64())), ordered=True)


def test_several_keys_each_have_their_way(source, check):
    types = {"a": "string", "b": "float64", "c": "int64"}
    rows = [
        ("y", 1.0, 0),
        (None, 2.0, 1),
        ("x", NAN, 2),
        ("x", None, 3),
        ("y", 5.0, 4),
        ("x", 1.0, 5),
        (None, None, 6),
    ]
    last = [rows[i] for i in (1, 6, 2, 5, 3, 4, 0)]
    first = [rows[i] for i in (6, 1, 3, 2, 5, 4, 0)]
    t = source(table(types, *rows))
    check(t.sort("a nulls first", "b desc", "c"), table(types, *last), ordered=True)
    check(t.sort("a nulls first", "b desc nulls first"), table(types, *first), ordered=True)


def test_keys_of_full_range_do_not_fit_one_integer(source, check):
    types = {"a": "int64", "b": "int64"}
    rows = [
        (INT64_MAX, INT64_MIN),
        (INT64_MIN, INT64_MAX),
        (None, 0),
        (INT64_MIN, INT64_MIN),
        (INT64_MAX, None),
    ]
    check(
        source(table(types, *rows)).sort("a", "b desc"),
        table(types, *(rows[i] for i in [1, 3, 0, 4, 2])),
        ordered=True,
    )


def test_sorting_twice_keeps_the_first_order_among_ties(source, check):
    types = {"a": "int64", "b": "int64"}
    t = source(table(types, (1, 1), (0, 2), (1, 3), (0, 4), (1, 5)))
    check(t.sort("b desc").sort("a"), table(types, (0, 4), (0, 2), (1, 5), (1, 3), (1, 1)), ordered=True)


def test_an_order_that_is_there_already_is_kept(source, check):
    types = {"a": "int64", "b": "int64"}
    t = source(table(types, (2, 1), (1, 2), (2, 0), (1, 1)))
    check(t.sort("a", "b").sort("a"), table(types, (1, 1), (1, 2), (2, 0), (2, 1)), ordered=True)


def test_an_unknown_column_is_refused(source, problem):
    assert "unknown column 'z'" in problem(source(table({"x": "int64"})).sort("z desc"))


keys = st.tuples(
    st.none() | st.sampled_from([NAN, -INF, INF, 0.0, -0.0, 1.0]),
    st.none() | st.sampled_from([INT64_MIN, INT64_MAX, 0, 1]),
    st.none() | st.text("aé\U0001f600", max_size=2),
)


def is_nan(value):
    return isinstance(value, float) and isnan(value)


def rank(value, descending, nulls_first):
    """The contract's order of one value, as a tuple that Python compares."""
    if value is None:
        return (-1,) if nulls_first else (1,)
    whole = value.encode() if isinstance(value, str) else (1, 0.0) if is_nan(value) else (0, value)
    return (0, Reversed(whole) if descending else whole)


class Reversed:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return other.value < self.value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(keys, max_size=8),
    ways=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=3),
)
def test_every_order_is_python_s_stable_sort(tmp_path, rows, ways):
    types = {"a": "float64", "b": "int64", "c": "string", "row": "int64"}
    rows = [(*row, i) for i, row in enumerate(rows)]
    order = [f"{name}{' desc' * desc}{' nulls first' * first}" for name, (desc, first) in zip("abc", ways, strict=True)]
    pipeline = Pipeline("random", root=tmp_path)
    write_source(pipeline, "t", table(types, *rows)).sort(*order).stage("sorted")
    got = assert_same(pipeline, ordered=True)["sorted"].column("row").to_pylist()
    expected = sorted(rows, key=lambda row: [rank(row[i], *ways[i]) for i in range(3)])
    assert got == [row[3] for row in expected]


def test_a_minus_before_a_column_of_a_window_is_an_expression(source, check):
    t = source(table({"x": "int64"}, (1,), (None,), (2,)))
    found = t.window(order_by="-x", n=row_number())
    check(found, table({"x": "int64", "n": "int64"}, (2, 1), (1, 2), (None, 3)))


def test_a_minus_before_a_column_is_an_expression(source, check):
    t = source(table({"x": "int64"}, (1,), (None,), (2,)))
    check(t.sort("-x"), table({"x": "int64"}, (2,), (1,), (None,)), ordered=True)


def test_a_column_whose_name_begins_with_a_minus_sorts(source, check):
    """It is a name like any other."""
    t = source(table({"-x": "int64", "x": "int64"}, (2, 1), (1, 2)))
    check(t.sort("-x"), table({"-x": "int64", "x": "int64"}, (1, 2), (2, 1)), ordered=True)


EXPRESSIONS = table(
    {"x": "int64", "s": "string", "a-b": "int64"}, (-3, "b", 1), (2, "A", 3), (None, "c", 2), (3, "a", 0)
)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("order", "rows"),
    [
        (["abs(x) desc", "s"], [3, 0, 1, 2]),
        (["abs(x) desc nulls first", "s desc"], [2, 0, 3, 1]),
        (["lower(s)", "x"], [1, 3, 0, 2]),
        (["CASE WHEN x > 0 THEN 1 ELSE 0 END desc", "x"], [1, 3, 0, 2]),
        (["a-b"], [3, 0, 2, 1]),  # the column of this name
        (['"a-b" desc'], [1, 2, 0, 3]),
        (["x % 2", "x"], [0, 1, 3, 2]),
        ([col("x").abs(), "x desc"], [1, 3, 0, 2]),
    ],
)
def test_keys_are_expressions(source, check, order, rows):
    check(source(EXPRESSIONS).sort(*order), EXPRESSIONS.take(pa.array(rows, pa.int64())), ordered=True)


def test_the_first_rows_in_the_order_of_an_expression(source, check):
    check(source(EXPRESSIONS).sort("abs(x) desc", "s").limit(1), EXPRESSIONS.slice(3, 1), ordered=True)


def test_the_first_row_of_a_key_in_the_order_of_an_expression(source, check):
    rows = source(table({"k": "int64", "x": "int64"}, (1, -5), (1, 3), (2, 0), (1, None)))
    check(rows.distinct("k", keep="first", order_by="abs(x)"), table({"k": "int64", "x": "int64"}, (1, 3), (2, 0)))


def test_the_rows_of_a_sink_s_file_are_in_the_order_of_expressions(source, pipeline, engine, layout, tmp_path):
    source(EXPRESSIONS).write_csv("out", "out.csv", sort_by=["abs(x) desc", col("s").lower()], mode="overwrite")
    pipeline.run(engine=engine, options=layout)
    rows = (tmp_path / "out.csv").read_text().replace('"', "")
    assert rows == "x,s,a-b\n3,a,0\n-3,b,1\n2,A,3\n,c,2\n"
    again = loads(pipeline.to_yaml(), tmp_path)
    assert again.plan().fingerprint == pipeline.plan().fingerprint


def test_an_upsert_sorts_by_columns_only(source, pipeline):
    source(EXPRESSIONS).write_parquet("out", "out", sort_by="abs(x)", mode="upsert", on="x")
    with pytest.raises(InvalidPipeline, match=r"mode upsert sorts by columns, and abs\(x\) is an expression"):
        pipeline.plan()


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("1 desc", "a key reads a column, and 1 reads none\n"
         "Name a column: SQL's places of columns, as in ORDER BY 1, are not supported."),
        ("abs(y)", "unknown column 'y'\nColumns: a-b, s, x."),
        ("sum(x)", "sum is an aggregate function and cannot stand here\nUse it directly in an aggregate step."),
        ("my column", "unknown column 'my column'\nColumns: a-b, s, x."),
    ],
)  # fmt: skip
def test_expressions_that_order_nothing_are_refused(source, problem, order, message):
    assert problem(source(EXPRESSIONS).sort(order)) == f"stage 'wrong_1', step 1: {message}"

"""aggregate: first and last in the order of order_by, and the value beside the least or greatest of another column."""

from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpuetl as ge
from gpuetl import Pipeline, col, expr
from gpuetl.testing import assert_same
from tables import INT64_MAX, INT64_MIN, NAN, table, write_source

TYPES = {"k": "string", "t": "int64", "x": "int64"}
ROWS = [
    ("a", 3, None),
    ("b", 1, 10),
    ("a", 1, None),
    (None, 5, 7),
    ("a", 2, 20),
    ("b", None, 30),
    ("c", 4, None),
]


def exprs(**calls):
    return {name: expr(text) for name, text in calls.items()}


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def test_first_and_last_keep_nulls_unless_they_are_ignored(t, check):
    calls = exprs(
        f="first(x)",
        l="last(x)",
        fi="first(x, ignore_nulls => true)",
        li="last(x, ignore_nulls => true)",
        ft="first(t)",
    )
    expected = table(
        {"k": "string", "f": "int64", "l": "int64", "fi": "int64", "li": "int64", "ft": "int64"},
        ("a", None, None, 20, 20, 1),
        ("b", 10, 30, 10, 30, 1),
        ("c", None, None, None, None, 4),
        (None, 7, 7, 7, 7, 5),
    )
    check(t.aggregate("k", "t", **calls), expected)


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [
        ("t", 10, 30),
        ("t desc", 10, 30),
        ("t nulls first", 30, 10),
        ("t desc nulls first", 30, 10),
    ],
)
def test_null_order_keys_come_last_unless_stated(t, check, order, first, last):
    steps = t.filter(col("k") == "b").aggregate("k", order, **exprs(f="first(x)", l="last(x)"))
    check(steps, table({"k": "string", "f": "int64", "l": "int64"}, ("b", first, last)))


def test_a_later_key_decides_where_the_earlier_ones_tie(source, check):
    rows = [(1, "b", 1), (1, "a", 2), (2, None, 3), (2, "é", 4), (1, "a\u0301", 5)]
    t = source(table({"d": "int64", "s": "string", "x": "int64"}, *rows))
    steps = t.aggregate(order_by=["d desc", "s"], **exprs(f="first(x)", l="last(x)"))
    check(steps, table({"f": "int64", "l": "int64"}, (4, 1)))


def test_nan_is_the_last_key_and_both_zeros_are_one(source, check):
    t = source(table({"t": "float64", "u": "int64"}, (NAN, 1), (0.0, 3), (-0.0, 2), (5.0, 4)))
    check(
        t.aggregate(order_by=["t", "u"], **exprs(f="first(u)", l="last(u)")),
        table({"f": "int64", "l": "int64"}, (2, 1)),
    )


def test_filter_takes_rows_out_and_makes_none_null(t, check):
    calls = exprs(
        f="first(x) FILTER (WHERE t > 1)",
        l="last(x, ignore_nulls => true) FILTER (WHERE t < 3)",
        none="first(x) FILTER (WHERE NULL)",
        m="max_by(x, t) FILTER (WHERE x < 30)",
    )
    expected = table(
        {"k": "string", "f": "int64", "l": "int64", "none": "int64", "m": "int64"},
        ("a", 20, 20, None, 20),
        ("b", None, 10, None, 10),
        ("c", None, None, None, None),
        (None, 7, None, None, 7),
    )
    check(t.aggregate("k", "t", **calls), expected)


def test_expressions_stand_around_and_inside_first_and_beside_other_aggregates(t, check):
    calls = exprs(change="last(t * 2) - first(t * 2)", n="count(*)", total="sum(x) + first(t)")
    expected = table(
        {"k": "string", "change": "int64", "n": "int64", "total": "int64"},
        ("a", 4, 3, 21),
        ("b", None, 2, 41),
        ("c", 0, 1, None),
        (None, 0, 1, 12),
    )
    check(t.aggregate("k", "t", **calls), expected)


def test_without_keys_first_of_no_rows_is_null(source, check):
    t = source(table(TYPES, *ROWS)).filter(expr("t > 3 OR t = 1"))
    calls = exprs(f="first(x)", l="last(t)", m="min_by(x, t)", n="count(*)")
    types = {"f": "int64", "l": "int64", "m": "int64", "n": "int64"}
    check(t.aggregate(order_by="t", **calls), table(types, (10, 5, 10, 4)))
    check(t.filter(expr("t < 0")).aggregate(order_by="t", **calls), table(types, (None, None, None, 0)))


def test_with_keys_no_rows_give_no_group(source, check):
    steps = source(table(TYPES)).aggregate("k", "t", **exprs(f="first(x)", m="min_by(x, t)"))
    check(steps, table({"k": "string", "f": "int64", "m": "int64"}))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("string", ["b", None, "é", ""]),
        ("bool", [False, None, True, False]),
        ("date", [date(1969, 1, 1), None, date(2025, 1, 1), date(1900, 1, 1)]),
        ("timestamp[UTC]", [datetime(1969, 1, 1), None, datetime(2025, 1, 1), datetime(1900, 1, 1)]),
        ("decimal(38,2)", [Decimal("1.50"), None, Decimal("2.00"), Decimal("-1.00")]),
        ("int64", [0, None, INT64_MAX, INT64_MIN]),
        ("float32", [0.5, None, NAN, -1.0]),
    ],
)
def test_values_and_keys_of_every_type(source, check, dtype, values):
    t = source(table({"i": "int64", "x": dtype, "n": "null"}, *((i, x, None) for i, x in enumerate(values))))
    d = values[3]
    steps = t.aggregate(
        order_by=["x", "i"],
        **exprs(f="first(x)", fi="first(i)", li="last(i)", low="min_by(i, x)", high="max_by(x, i)", top="max_by(i, x)"),
    )
    least = 0 if dtype == "bool" else 3
    expected = {"f": dtype, "fi": "int64", "li": "int64", "low": "int64", "high": dtype, "top": "int64"}
    check(steps, table(expected, (d, least, 1, least, d, 2)))
    nothing = t.aggregate(order_by="n", **exprs(f="first(n)", low="min_by(i, n)", high="max_by(n, i)"))
    check(nothing, table({"f": "null", "low": "int64", "high": "null"}, (None, None, None)))


def test_of_rows_that_tie_min_by_and_max_by_give_the_least_x(source, check):
    rows = [(1, 5.0, "b"), (1, 5.0, "a"), (1, 5.0, None), (1, None, ""), (2, NAN, "z"), (2, 1.0, None), (3, None, "q")]
    t = source(table({"k": "int64", "y": "float64", "x": "string"}, *rows))
    calls = {"lo": "min_by(x, y)", "hi": "arg_max(x, y)", "kept": "arg_min_null(x, y)"}
    expected = table(
        {"k": "int64", **dict.fromkeys(calls, "string")},
        (1, "a", "a", "a"),
        (2, "z", "z", None),
        (3, None, None, None),
    )
    check(t.aggregate("k", **exprs(**calls)), expected)


def test_ties_are_noted_only_where_one_of_the_rows_is_chosen(source, pipeline):
    types = {"k": "string", "t:u": "int64", "x": "int64"}
    t = source(table(types, ("a", 1, 1), ("a", 2, 2), ("a", 3, 4), ("a", 2, 3)), "s")
    t.aggregate("k", "t:u", **exprs(f="first(x)", l="last(x)")).stage("clear")
    assert pipeline.run(engine="pandas").report.notes == ()
    calls = exprs(g='first("t:u") FILTER (WHERE x > 1)', f="first(x) FILTER (WHERE x > 1)")
    t.aggregate("k", "t:u", **calls).stage("tied")
    note = "stage 'tied', step 1: some rows tie in (k, t:u); add a column to the order that tells them apart"
    for rows in (1_000_000, 2):
        options = ge.RunOptions(partition_rows=rows)
        assert pipeline.run(engine="pandas", keep=["tied"], options=options).report.notes == (note,)


def test_notes_name_an_order_as_it_is_written(source, pipeline, local_engine):
    """Rows that tie in the value that is chosen are equal; those that tie in the key of another call are not."""
    types = {"k": "int64", "a": "int64", "s": "struct<a: int64>", "l": "list<int64>"}
    t = source(table(types, (1, 1, {"a": 1}, [1]), (2, -1, {"a": 1}, [1]), (3, 2, None, None)))
    cases = {
        "abs(a)": t.sort("abs(a)"), "s": t.sort("s"), "ORDER BY of x": t.aggregate(**exprs(x="first(k ORDER BY abs(a))")),
        "ORDER BY of y": t.aggregate(**exprs(y="first(k ORDER BY s)", z="min(s)", w="first(s ORDER BY s DESC)")),
        "abs(a) % 2, l": t.window(ge.expr("abs(a) % 2"), "l", n=ge.row_number()),
        "s, abs(a)": t.distinct("s", keep="first", order_by="abs(a)"),
    }  # fmt: skip
    no_ties = {
        "alone": t.aggregate(**exprs(z="max(s)", l="min(l)")),
        "first": t.distinct("s", keep="first", order_by="k"),
    }
    names = {f"stage{place}": steps for place, steps in enumerate((*cases.values(), *no_ties.values()))}
    for name, steps in names.items():
        steps.stage(name)
    notes = pipeline.run(engine=local_engine, keep=[*names]).report.notes
    wanted = {f"stage 'stage{place}', step 1: some rows tie in ({text});" for place, text in enumerate(cases)}
    assert {note.partition(" add a column")[0] for note in notes if "tie" in note} == wanted


def test_rows_that_tie_are_taken_in_the_input_s_order_on_one_partition(source, pipeline):
    t = source(table(TYPES, ("a", 1, 1), ("a", 1, 2), ("a", 1, 3)))
    t.aggregate("k", "t", **exprs(f="first(x)", l="last(x)")).stage("s")
    assert pipeline.run(engine="pandas")["s"].to_arrow().to_pylist() == [{"k": "a", "f": 1, "l": 3}]


@pytest.mark.parametrize(
    ("order", "call", "message"),
    [
        ((), "first(x)", "first needs order_by\nAdd order_by: the columns that order a group's rows."),
        ((), "count(*) + last(x)", "last needs order_by"),
        (
            "t",
            "sum(x)",
            "order_by is for first, last, array_agg and string_agg, and none is here\nTo order the rows that leave, add a sort",
        ),
        ("u", "first(x)", "unknown column 'u'"),
        ("t", "first(y)", "unknown column 'y'"),
        ("t", "first(x, only => t)", "first takes bool, got int64"),
        ("t", "first(x, ignore_nulls => x > 1)", "first takes a constant or a $parameter as ignore_nulls"),
        ("t", "first(sum(x))", "sum is an aggregate function and cannot stand inside first"),
        ("t", "min_by(x)", "min_by got 1 argument"),
    ],
)
def test_what_first_needs_is_reported(t, problem, order, call, message):
    text = problem(t.aggregate("k", order, y=expr(call)))
    assert message in text
    assert text.count(", step 1:") == 1


optional = st.none() | st.integers(0, 3)
rows = st.lists(st.tuples(st.none() | st.integers(0, 2), optional, st.none() | st.booleans(), optional), max_size=9)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_every_layout_picks_the_same_rows(tmp_path, rows):
    pipeline = Pipeline("random", root=tmp_path)
    types = {"k": "int64", "t": "int64", "b": "bool", "x": "int64", "row": "int64"}
    t = write_source(pipeline, "t", table(types, *((*row, i) for i, row in enumerate(rows))))
    calls = exprs(
        a="first(x)", b="last(x)", c="first(x, ignore_nulls => true)", d="last(row) FILTER (WHERE b)",
        e="last(x, ignore_nulls => true) FILTER (WHERE b)", f="min_by(x, t)", g="max_by(row, x)", h="first(t) - last(t)",
    )  # fmt: skip
    t.aggregate("k", ["t", "row desc"], **calls).stage("groups")
    t.aggregate(order_by=["t desc nulls first", "row"], **calls).stage("whole")
    assert_same(pipeline)

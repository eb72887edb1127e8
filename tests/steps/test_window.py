"""window: values from the other rows of a group, in order."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpuetl as ge
from gpuetl import InvalidPipeline, Pipeline, RunFailed, col, expr, row_number
from gpuetl.testing import Tolerance, assert_same
from tables import INT64_MAX, NAN, table, write_source

TYPES = {"k": "int64", "t": "int64", "x": "float64"}
ROWS = [
    (2, 2, None),
    (1, 3, 4.0),
    (None, 1, 1.0),
    (1, 1, 1.0),
    (2, 1, NAN),
    (1, 2, 2.0),
    (2, 3, 5.0),
    (None, 2, 3.0),
]
SORTED = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (None, 1), (None, 2)]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


@pytest.mark.part(10)
@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        ("row_number()", "int64", [1, 2, 3, 1, 2, 3, 1, 2]),
        ("lag(x)", "float64", [None, 1.0, 2.0, None, NAN, None, None, 1.0]),
        ("lag(x, 2)", "float64", [None, None, 1.0, None, None, NAN, None, None]),
        ("lead(x)", "float64", [2.0, 4.0, None, None, 5.0, None, 3.0, None]),
        ("lag(x, 0)", "float64", [1.0, 2.0, 4.0, NAN, None, 5.0, 1.0, 3.0]),
        ("first(x)", "float64", [1.0, 1.0, 1.0, NAN, NAN, NAN, 1.0, 1.0]),
        ("last(x)", "float64", [4.0, 4.0, 4.0, 5.0, 5.0, 5.0, 3.0, 3.0]),
        ("ffill(x)", "float64", [1.0, 2.0, 4.0, NAN, NAN, 5.0, 1.0, 3.0]),
        ("bfill(x)", "float64", [1.0, 2.0, 4.0, NAN, 5.0, 5.0, 1.0, 3.0]),
        ("interpolate(x)", "float64", [1.0, 2.0, 4.0, NAN, NAN, 5.0, 1.0, 3.0]),
        ("lag(x, default => 0)", "float64", [0.0, 1.0, 2.0, 0.0, NAN, None, 0.0, 1.0]),
        ("lead(x, 2, t * 10)", "float64", [4.0, 20.0, 30.0, 5.0, 20.0, 30.0, 10.0, 20.0]),
        ("lag(x, ignore_nulls => true)", "float64", [None, 1.0, 2.0, None, NAN, NAN, None, 1.0]),
        ("lead(x, 1, -1, true)", "float64", [2.0, 4.0, -1.0, 5.0, 5.0, -1.0, 3.0, -1.0]),
        ("lag(x, 0, -1, true)", "float64", [1.0, 2.0, 4.0, NAN, None, 5.0, 1.0, 3.0]),
        ("lead(x, 0, ignore_nulls => true)", "float64", [1.0, 2.0, 4.0, NAN, None, 5.0, 1.0, 3.0]),
        ("first(x, ignore_nulls => true)", "float64", [1.0, 1.0, 1.0, NAN, NAN, NAN, 1.0, 1.0]),
        ("first(x) FILTER (WHERE t > 1)", "float64", [2.0, 2.0, 2.0, None, None, None, 3.0, 3.0]),
        ("last(x) FILTER (WHERE x < 4)", "float64", [2.0, 2.0, 2.0, None, None, None, 3.0, 3.0]),
        ("rank()", "int64", [1, 2, 3, 1, 2, 3, 1, 2]),
        ("percent_rank()", "float64", [0.0, 0.5, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0]),
        ("cume_dist()", "float64", [1 / 3, 2 / 3, 1.0, 1 / 3, 2 / 3, 1.0, 0.5, 1.0]),
        ("ntile(2)", "int64", [1, 1, 2, 1, 1, 2, 1, 2]),
        ("pct_change(x)", "float64", [None, 1.0, 1.0, None, None, None, None, 2.0]),
        ("cum_prod(x)", "float64", [1.0, 2.0, 8.0, NAN, None, NAN, 1.0, 3.0]),
        ("cum_prod(t)", "int64", [1, 2, 6, 1, 2, 6, 1, 2]),
        ("cum_prod(x) FILTER (WHERE t > 1)", "float64", [None, 2.0, 8.0, None, None, 5.0, None, 3.0]),
        ("rolling_var(x, 2)", "float64", [None, 0.5, 2.0, None, None, None, None, 2.0]),
        ("ewm_mean(x, span => 3)", "float64", [1.0, 1.5, 2.75, NAN, None, NAN, 1.0, 2.0]),
        ("ewm_mean(x, alpha => 0.25)", "float64", [1.0, 1.25, 1.9375, NAN, None, NAN, 1.0, 1.5]),
        ("diff(x)", "float64", [None, 1.0, 2.0, None, None, None, None, 2.0]),
        ("cum_count(x)", "int64", [1, 2, 3, 1, None, 2, 1, 2]),
        ("cum_sum(x)", "float64", [1.0, 3.0, 7.0, NAN, None, NAN, 1.0, 4.0]),
        ("cum_mean(x)", "float64", [1.0, 1.5, 7 / 3, NAN, None, NAN, 1.0, 2.0]),
        ("cum_min(x)", "float64", [1.0, 1.0, 1.0, NAN, None, 5.0, 1.0, 1.0]),
        ("cum_max(x)", "float64", [1.0, 2.0, 4.0, NAN, None, NAN, 1.0, 3.0]),
        ("rolling_sum(x, 2)", "float64", [1.0, 3.0, 6.0, NAN, NAN, 5.0, 1.0, 4.0]),
        ("rolling_count(x, 2)", "int64", [1, 2, 2, 1, 1, 1, 1, 2]),
        ("rolling_max(x, 2)", "float64", [1.0, 2.0, 4.0, NAN, NAN, 5.0, 1.0, 3.0]),
        ("rolling_mean(x, 9)", "float64", [1.0, 1.5, 7 / 3, NAN, NAN, NAN, 1.0, 2.0]),
        ("rolling_std(x, 2)", "float64", [None, 0.5**0.5, 2**0.5, None, None, None, None, 2**0.5]),
        ("ewm_mean(x, half_life => 1)", "float64", [1.0, 1.5, 2.75, NAN, None, NAN, 1.0, 2.0]),
        ("decayed_sum(x, half_life => 1)", "float64", [1.0, 2.5, 5.25, NAN, None, NAN, 1.0, 3.5]),
    ],
)
def test_each_function_over_groups_with_null_and_nan(t, check, call, dtype, values):
    expected = table(
        {"k": "int64", "t": "int64", "y": dtype},
        *((*key, value) for key, value in zip(SORTED, values, strict=True)),
    )
    check(t.window("k", "t", y=expr(call)).select("k", "t", "y"), expected)


CARRIED = {
    "cum_count(x, 'carry')": [1, 2, 3, 1, 1, 2, 1, 2],
    "cum_sum(x, nulls => 'carry')": [1.0, 3.0, 7.0, NAN, NAN, NAN, 1.0, 4.0],
    "cum_sum(x, nulls => 'keep')": [1.0, 3.0, 7.0, NAN, None, NAN, 1.0, 4.0],
    "cum_sum(t, nulls => 'carry') FILTER (WHERE t <> 2)": [1, 1, 4, 1, 1, 4, 1, 1],
    "cum_mean(t, nulls => 'carry') FILTER (WHERE t > 1)": [None, 2.0, 2.5, None, 2.0, 2.5, None, 2.0],
    "cum_prod(x, nulls => 'carry') FILTER (WHERE t = 2)": [None, 2.0, 2.0, None, None, None, None, 3.0],
    "cum_min(x, nulls => 'carry')": [1.0, 1.0, 1.0, NAN, NAN, 5.0, 1.0, 1.0],
    "cum_max(CASE WHEN t = 1 THEN 'a' WHEN t = 3 THEN 'b' END, nulls => 'carry')": ["a", "a", "b", "a", "a", "b", "a", "a"],
    "cum_sum(CASE WHEN t <> 2 THEN CAST(t AS decimal(20,1)) END, 'carry')": [
        Decimal(value) for value in (1, 1, 4, 1, 1, 4, 1, 1)
    ],
}  # fmt: skip


def test_cumulative_results_go_on_over_nulls(t, check):
    calls = {f"y{place}": call for place, call in enumerate(CARRIED)}
    types = {int: "int64", float: "float64", str: "string", Decimal: "decimal(38,1)"}
    dtypes = {name: types[type(CARRIED[call][-1])] for name, call in calls.items()}
    rows = [(*row, *values) for row, *values in zip(SORTED, *CARRIED.values(), strict=True)]
    steps = t.window("k", "t", **exprs(calls)).select("k", "t", *calls)
    check(steps, table({"k": "int64", "t": "int64", **dtypes}, *rows))


DECAYING = {
    "ewm_mean(x, com => 1)": [1.0, 1.5, None, 2.75, 5.375],
    "ewm_mean(x, com => 1, adjust => true)": [1.0, 5 / 3, None, 3.0, 17 / 3],
    "ewm_mean(x, alpha => 0.25, adjust => true)": [1.0, 1.5714285714285714, None, 2.6216216216216215, 4.588571428571429],
    "ewm_mean(x, alpha => 0.25, adjust => true, ignore_nulls => false)": [
        1.0, 1.5714285714285714, None, 2.795275590551181, 4.8869701726844585,
    ],
    "ewm_mean(x, half_life => interval '1 hour', adjust => true)": [1.0, 5 / 3, None, 37 / 11, 6.813953488372093],
    "ewm_mean(x, span => 3, min_periods => 3)": [None, None, None, 2.75, 5.375],
    "ewm_mean(x, span => 3, adjust => false, min_periods => 1) FILTER (WHERE x <> 2)": [1.0, None, None, 2.5, 5.25],
    "ewm_var(x, com => 1)": [None, 0.5, None, 2.7, 11.785714285714285],
    "ewm_var(x, com => 1, bias => true)": [0.0, 0.25, None, 1.6875, 7.734375],
    "ewm_var(x, com => 1, adjust => true)": [None, 0.5, None, 2.5, 11.071428571428571],
    "ewm_var(x, com => 1, adjust => true, bias => true)": [0.0, 2 / 9, None, 10 / 7, 62 / 9],
    "ewm_var(x, com => 1, adjust => true, ignore_nulls => false)": [None, 0.5, None, 69 / 26, 10.202970297029703],
    "ewm_var(x, half_life => 3600, adjust => true, ignore_nulls => false)": [
        None, 0.5, None, 2.6538461538461537, 10.722222222222221,
    ],
    "ewm_std(x, com => 1)": [None, 0.5**0.5, None, 2.7**0.5, 11.785714285714285**0.5],
    "ewm_std(x, span => 3, min_periods => 3, bias => true)": [None, None, None, 1.6875**0.5, 7.734375**0.5],
    "ewm_var(x, alpha => 1)": [None, None, None, None, None],
    "decayed_sum(x, alpha => 0.5)": [1.0, 2.5, None, 5.25, 10.625],
    "decayed_sum(x, span => 3)": [1.0, 2.5, None, 5.25, 10.625],
}  # fmt: skip


def test_means_decay_as_those_of_pandas(source, check):
    """Means that are adjusted, and variances by rows, are what pandas and Polars give for a row with a value."""
    hours = [0, 60, 150, 180, 300]
    rows = [(datetime(2024, 1, 1) + timedelta(minutes=at), x) for at, x in zip(hours, [1, 2, None, 4, 8], strict=True)]
    t = source(table({"ts": "timestamp", "x": "float64"}, *rows))
    calls = {f"y{place}": call for place, call in enumerate(DECAYING)}
    expected = table(dict.fromkeys(calls, "float64"), *zip(*DECAYING.values(), strict=True))
    check(t.window((), "ts", **exprs(calls)).select(*calls), expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ewm_mean(x)", "ewm_mean takes one of half_life, span, alpha and com, got none"),
        ("ewm_mean(x, com => -1)", "ewm_mean takes a com of 0 or more, got -1"),
        ("ewm_mean(x, com => 1, ignore_nulls => false)", "ewm_mean takes ignore_nulls => false with adjust => true"),
        ("ewm_mean(x, com => 1, min_periods => 0)", "ewm_mean takes a number of values from 1 as min_periods, got 0"),
        ("ewm_var(x, alpha => 0.5, bias => 1)", "ewm_var takes bool, got int64"),
        ("ewm_std(x)", "ewm_std takes one of half_life, span, alpha and com, got none"),
        ("decayed_sum(x, 1, 2)", "decayed_sum takes one of half_life, span and alpha, got half_life and span"),
        ("cum_sum(x, nulls => 'skip')", "cum_sum takes 'keep' or 'carry' as nulls, got 'skip'"),
    ],
)
def test_what_a_mean_or_sum_does_not_take_is_refused(t, problem, call, message):
    assert message in problem(t.window("k", "t", y=expr(call)))


def test_rows_leave_in_the_order_of_the_groups(t, pipeline):
    t.window("k", "t desc", n=expr("row_number()")).select("k", "t", "n").stage("s")
    rows = [tuple(row.values()) for row in pipeline.run(engine="pandas")["s"].to_arrow().to_pylist()]
    assert rows == [
        (1, 3, 1),
        (1, 2, 2),
        (1, 1, 3),
        (2, 3, 1),
        (2, 2, 2),
        (2, 1, 3),
        (None, 2, 1),
        (None, 1, 2),
    ]


def test_one_group_without_by(t, check):
    steps = t.filter(expr("k = 1")).window((), "t desc", total=expr("cum_sum(x)")).select("t", "total")
    check(steps, table({"t": "int64", "total": "float64"}, (3, 4.0), (2, 6.0), (1, 7.0)), ordered=True)


def test_expressions_stand_around_and_inside_the_calls(t, check):
    columns = exprs({
        "share": "x / cum_sum(x)", "n_prior": "row_number() - 1", "jump": "abs(diff(x * 10))",
        "label": "CASE WHEN lag(x) IS NULL THEN 'first' ELSE 'later' END", "constant": "7",
    })  # fmt: skip
    expected = table(
        {**TYPES, "share": "float64", "n_prior": "int64", "jump": "float64",
         "label": "string", "constant": "int64"},
        (1, 1, 1.0, 1.0, 0, None, "first", 7), (1, 2, 2.0, 2 / 3, 1, 10.0, "later", 7),
        (1, 3, 4.0, 4 / 7, 2, 20.0, "later", 7),
    )  # fmt: skip
    check(t.window("k", "t", **columns).filter(expr("k = 1")), expected)


def test_an_output_may_take_the_place_of_a_column_that_other_calls_read(t, check):
    steps = t.filter(expr("k = 1")).window("k", "t", x=expr("cum_sum(x)"), y=expr("lag(x)"), k=expr("row_number()"))
    types = {**TYPES, "y": "float64"}
    check(steps, table(types, (1, 1, 1.0, None), (2, 2, 3.0, 1.0), (3, 3, 7.0, 2.0)))


def test_windows_follow_each_other(t, check):
    steps = t.window("k", "t", n=expr("row_number()")).window("k", "t desc", m=expr("row_number()"))
    steps = steps.filter(expr("n = 1 OR m = 1")).select("k", "t")
    check(steps, table({"k": "int64", "t": "int64"}, (1, 1), (1, 3), (2, 1), (2, 3), (None, 1), (None, 2)))


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("string", ["b", None, "é", "a"]),
        ("bool", [True, None, False, True]),
        ("date", [date(2024, 1, 2), None, date(2025, 1, 1), date(2023, 1, 1)]),
        ("decimal(38,2)", [Decimal("1.50"), None, Decimal("2.00"), Decimal("-1.00")]),
        ("duration", [timedelta(1), None, timedelta(2), timedelta(-1)]),
        ("int8", [1, None, 127, -128]),
        ("timestamp[UTC]", None),
    ],
)
def test_values_of_every_type_move(source, check, dtype, values):
    values = values or [datetime(2024, 1, 1), None, datetime(2025, 1, 1), datetime(1969, 1, 1)]
    a, _, c, d = values
    t = source(table({"t": "int64", "x": dtype}, *enumerate(values)))
    calls = exprs({
        "back": "lag(x)", "one": "first(x)", "filled": "ffill(x)", "n": "cum_count(x)", "ahead": "bfill(x)",
        "other": "lag(x, 1, x)", "skip": "lead(x, ignore_nulls => true)", "most": "last(x) FILTER (WHERE t < 2)",
    })  # fmt: skip
    expected = table(
        {**dict.fromkeys(calls, dtype), "n": "int64"},
        (None, a, a, 1, a, a, c, None),
        (a, a, a, None, c, a, c, None),
        (None, a, c, 2, c, None, d, None),
        (c, a, d, 3, d, c, None, None),
    )
    check(t.window((), "t", **calls).select(*calls), expected, ordered=True)
    if dtype != "bool":
        least, most = exprs({"low": "cum_min(x)", "high": "cum_max(x)"}).values()
        expected = table({"low": dtype, "high": dtype}, (a, a), (None, None), (a, c), (d, c))
        check(t.window((), "t", low=least, high=most).select("low", "high"), expected, ordered=True)


START = datetime(2024, 1, 1)


def hours(*values):
    return [None if value is None else START + timedelta(hours=value) for value in values]


def test_an_interval_s_frame_includes_its_far_end(source, check):
    rows = list(zip(hours(0, 1, 2, 2.5, None, None), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], strict=True))
    t = source(table({"ts": "timestamp", "x": "float64"}, *rows))
    steps = t.window(
        (),
        ["ts", "x"],
        total=expr("rolling_sum(x, interval '1 hour')"),
        n=expr("rolling_count(x, interval '0 hours')"),
    )
    expected = [(1.0, 1), (3.0, 1), (6.0, 1), (12.0, 1), (16.0, 1), (48.0, 2)]
    check(steps.select("total", "n"), table({"total": "float64", "n": "int64"}, *expected), ordered=True)


def test_null_times_that_come_first_are_a_frame_of_their_own(source, check):
    rows = list(zip(hours(None, None, 0, 1, 3), [1.0, 2.0, 4.0, 8.0, 16.0], strict=True))
    t = source(table({"ts": "timestamp", "x": "float64"}, *rows))
    steps = t.window((), ["ts nulls first", "x"], total=expr("rolling_sum(x, interval '1 hour')"))
    expected = [(1.0,), (3.0,), (4.0,), (12.0,), (16.0,)]
    check(steps.select("total"), table({"total": "float64"}, *expected), ordered=True)


def test_an_interval_back_to_the_beginning_of_time_leaves_out_null_times_that_come_first(source, check):
    moments = [None, datetime(1, 1, 1), datetime(9999, 12, 31)]
    t = source(table({"ts": "timestamp", "x": "int64"}, *zip(moments, [1, 2, 4], strict=True)))
    steps = t.window((), "ts nulls first", total=expr("rolling_sum(x, interval '100000000 days')")).select("total")
    check(steps, table({"total": "int64"}, (1,), (2,), (6,)), ordered=True)


def test_dates_order_intervals_too(source, check):
    t = source(table({"d": "date", "x": "int64"}, (date(2024, 1, 1), 1), (date(2024, 1, 3), 2), (date(2024, 1, 4), 4)))
    steps = t.window((), "d", total=expr("rolling_sum(x, interval '2 days')")).select("total")
    check(steps, table({"total": "int64"}, (1,), (3,), (6,)), ordered=True)


def test_sessions_begin_where_the_gap_is_longer(source, check):
    t = source(table({"k": "int64", "ts": "timestamp"}, *((1, ts) for ts in hours(0, 1, 2.5, 3)), (2, START)))
    expected = table({"k": "int64", "s": "int64"}, (1, 0), (1, 0), (1, 1), (1, 1), (2, 0))
    check(t.window("k", "ts", s=expr("session_id(gap => interval '1 hour')")).select("k", "s"), expected)


@pytest.mark.parametrize(
    ("order", "x"),
    [
        ("t", [1, 2, 4, 8]),
        ("t nulls first", [4, 8, 1, 2]),
        ("t desc", [2, 1, 4, 8]),
        ("t desc nulls first", [4, 8, 2, 1]),
    ],
)
def test_null_order_keys_come_last_unless_stated(source, check, order, x):
    t = source(table({"t": "int64", "x": "int64"}, (None, 4), (1, 1), (None, 8), (2, 2)))
    sums = [sum(x[: i + 1]) for i in range(4)]
    check(
        t.window((), [order, "x"], s=expr("cum_sum(x)")).select("x", "s"),
        table({"x": "int64", "s": "int64"}, *zip(x, sums, strict=True)),
        ordered=True,
    )


@pytest.mark.parametrize("rows", [[], [(1, 1, 1.0)], [(None, None, None)]])
def test_zero_rows_or_one(source, check, rows):
    calls = exprs({
        "n": "row_number()", "s": "cum_sum(x)", "l": "lag(x)", "r": "rank()", "p": "percent_rank()", "c": "cume_dist()",
        "d": "lead(x, 1, 0, true)", "f": "last(x, ignore_nulls => true)", "m": "cum_prod(x)", "b": "bfill(x)", "i": "ntile(3)",
    })  # fmt: skip
    types = dict.fromkeys("nri", "int64")
    expected = table(
        {**TYPES, **{name: types.get(name, "float64") for name in calls}},
        *((*row, 1, row[2], None, 1, 0.0, 1.0, 0.0, row[2], row[2], row[2], 1) for row in rows),
    )
    check(source(table(TYPES, *rows)).window("k", "t", **calls), expected)


def test_all_null_columns(source, check):
    t = source(table({"k": "null", "t": "int64", "x": "null"}, (None, 1, None), (None, 2, None), (None, 3, None)))
    expected = table({"t": "int64", "n": "int64", "l": "null", "c": "int64"}, *((i, i, None, None) for i in (1, 2, 3)))
    check(
        t.window("k", "t", n=expr("row_number()"), l=expr("lag(x)"), c=expr("cum_count(x)")).select("t", "n", "l", "c"),
        expected,
    )


def test_nan_keys_are_one_group_and_both_zeros_another(source, check):
    t = source(table({"k": "float64", "t": "int64"}, (NAN, 1), (0.0, 2), (None, 3), (-0.0, 4), (NAN, 5), (None, 6)))
    expected = table({"t": "int64", "n": "int64"}, (1, 1), (5, 2), (2, 1), (4, 2), (3, 1), (6, 2))
    check(t.window("k", "t", n=expr("row_number()")).select("t", "n"), expected)


def test_ties_in_the_order_are_noted_and_other_orders_are_not(t, pipeline):
    t.window("k", "t", n=expr("row_number()")).stage("clean")
    assert pipeline.run(engine="pandas").report.notes == ()
    t.window((), "t", n=expr("row_number()")).stage("tied")
    note = "stage 'tied', step 1: some rows tie in (t); add a column to the order that tells them apart"
    assert pipeline.run(engine="pandas", keep=["tied"]).report.notes == (note,)


def test_ties_are_noted_only_where_an_answer_depends_on_the_order_of_the_rows_that_tie(t, pipeline):
    free = {"a": "rank()", "b": "dense_rank() + 1", "c": "percent_rank()", "d": "cume_dist()"}
    t.window((), "t", **exprs(free)).stage("free")
    assert pipeline.run(engine="pandas", keep=["free"]).report.notes == ()
    t.window((), "t", **exprs({**free, "e": "ntile(2)"})).stage("tied")
    assert len(pipeline.run(engine="pandas", keep=["tied"]).report.notes) == 1


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("t", [(1, 1, 1, 0.0), (1, 1, 1, 0.0), (2, 3, 2, 0.5), (3, 4, 3, 0.75), (None, 5, 4, 1.0)]),
        ("t desc", [(1, 3, 3, 0.5), (1, 3, 3, 0.5), (2, 2, 2, 0.25), (3, 1, 1, 0.0), (None, 5, 4, 1.0)]),
        ("t nulls first", [(1, 2, 2, 0.25), (1, 2, 2, 0.25), (2, 4, 3, 0.75), (3, 5, 4, 1.0), (None, 1, 1, 0.0)]),
    ],
)
def test_rows_that_tie_share_their_rank(source, check, order, expected):
    t = source(table({"t": "int64"}, (3,), (1,), (None,), (2,), (1,)))
    steps = t.window((), order, r=ge.rank(), d=ge.dense_rank(), p=ge.percent_rank())
    check(steps, table({"t": "int64", "r": "int64", "d": "int64", "p": "float64"}, *expected))


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float64", [-0.0, 0.0, NAN, NAN, None, None]),
        ("string", ["é", "é", "\U0001f600", "\U0001f600", None, None]),
        ("decimal(9,2)", [Decimal("-1.50")] * 2 + [Decimal("0.00")] * 2 + [None] * 2),
    ],
)
def test_null_ties_with_null_nan_with_nan_and_both_zeros(source, check, dtype, values):
    t = source(table({"x": dtype}, *((value,) for value in values)))
    steps = t.window((), "x", r=ge.rank(), c=ge.cume_dist()).select("r", "c")
    expected = [(1, 1 / 3), (1, 1 / 3), (3, 2 / 3), (3, 2 / 3), (5, 1.0), (5, 1.0)]
    check(steps, table({"r": "int64", "c": "float64"}, *expected), ordered=True)


def test_ranks_follow_on_rows_that_are_in_order_already(source, check, pipeline):
    t = source(table({"k": "int64", "t": "int64", "i": "int64"}, (1, 1, 1), (1, 1, 2), (1, 2, 3), (2, 2, 4)))
    steps = t.window("k", ["t", "i"], n=ge.row_number()).window("k", "t", r=ge.rank(), d=ge.dense_rank())
    expected = [(1, 1, 1, 1), (2, 2, 1, 1), (3, 3, 3, 2), (4, 1, 1, 1)]
    types = {"i": "int64", "n": "int64", "r": "int64", "d": "int64"}
    check(steps.select("i", "n", "r", "d"), table(types, *expected))


def test_a_default_meets_the_type_of_its_column(source, check):
    t = source(table({"i": "int8", "d": "date"}, (1, date(2024, 1, 1)), (2, date(2024, 1, 2))))
    calls = exprs({
        "a": "lag(i, default => 5)", "b": "lag(i, default => 0.5)", "c": "lead(d, default => TIMESTAMP '2030-01-01')",
    })  # fmt: skip
    expected = table(
        {"a": "int8", "b": "float64", "c": "timestamp"},
        (5, 0.5, datetime(2024, 1, 2)),
        (1, 1.0, datetime(2030, 1, 1)),
    )
    check(t.window((), "i", **calls).select("a", "b", "c"), expected, ordered=True)


def test_ignore_nulls_and_tiles_may_be_parameters(source, check, pipeline):
    skip, n = pipeline.param("skip", "bool", True), pipeline.param("n", "int64", 2)
    t = source(table({"t": "int64", "x": "int64"}, (1, 1), (2, None), (3, 3)))
    steps = t.window((), "t", y=ge.lag(col("x"), ignore_nulls=skip), m=ge.ntile(n)).select("y", "m")
    types = {"y": "int64", "m": "int64"}
    check(steps, table(types, (None, 1), (1, 1), (1, 2)), ordered=True)
    check(steps, table(types, (None, 1), (1, 2), (None, 3)), ordered=True, params={"skip": False, "n": 3})


@pytest.mark.parametrize("call", ["diff(x, 2)", "x - lag(x, 2)"])
@pytest.mark.parametrize(
    ("dtype", "times"),
    [
        ("timestamp", [datetime(1969, 12, 31, 23), None, datetime(1970, 1, 2, 0, 0, 0, 1), datetime(2000, 1, 1)]),
        ("timestamp[Europe/Berlin]", [datetime(1969, 12, 31, 23), None, datetime(1970, 1, 2, 0, 0, 0, 1), None]),
        ("date", [date(1, 1, 1), date(2024, 2, 28), date(9999, 12, 31), date(2024, 3, 1)]),
    ],
    ids=["timestamp", "zoned", "date"],
)
def test_the_difference_of_times_is_a_duration_and_of_dates_days(source, check, dtype, times, call):
    """As that of a column and its lag."""
    days = [(times[2] - times[0]).days, 2]
    between = days if dtype == "date" else [timedelta(days=1, hours=1, microseconds=1), None]
    t = source(table({"t": "int64", "x": dtype}, *enumerate(times)))
    steps = t.window((), "t", y=expr(call)).select("y")
    result = "int64" if dtype == "date" else "duration"
    check(steps, table({"y": result}, *((each,) for each in (None, None, *between))), ordered=True)


@pytest.mark.parametrize("call", ["cum_prod(x)", "cum_sum(x)", "rolling_sum(x, 2)", "lag(x) + x", "diff(-x)"])
def test_an_integer_overflow_is_an_error_that_names_stage_and_column(source, failure, call):
    t = source(table({"t": "int64", "x": "int64"}, (1, -2), (2, INT64_MAX), (3, INT64_MAX)))
    message = failure(t.window((), "t", y=expr(call)), RunFailed)
    assert message.startswith("stage 'result', step 1: column 'y': ")


def test_a_sum_whose_parts_overflow_is_an_error_only_where_a_row_shows_it(source, check):
    t = source(table({"t": "int64", "x": "int64"}, (1, INT64_MAX), (2, -1), (3, 1)))
    check(
        t.window((), "t", s=expr("cum_sum(x)")).select("s"),
        table({"s": "int64"}, (INT64_MAX,), (INT64_MAX - 1,), (INT64_MAX,)),
    )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"order_by": (), "y": "row_number()"}, "row_number needs order_by"),
        (
            {"order_by": "t", "y": "rolling_sum(x, interval '1 day')"},
            "needs order_by to begin with an ascending date or timestamp",
        ),
        ({"order_by": "t", "y": "session_id(gap => interval '1 day')"}, "not t (int64)"),
        ({"order_by": "t", "y": "sum(x)"}, "order_by does nothing here: sum is over the whole group"),
        ({"order_by": "t", "y": "rolling_sum(x, 0)"}, "takes a frame of 1 row or more, got 0"),
        ({"order_by": "t", "y": "lag(x, t)"}, "lag takes a constant or a $parameter as offset"),
        ({"order_by": "z", "y": "lag(x)"}, "unknown column 'z'"),
    ],
)
def test_what_a_window_needs_is_reported(t, problem, keys, message):
    assert message in problem(t.window("k", keys["order_by"], y=expr(keys["y"])))


values = st.none() | st.sampled_from([NAN, -0.0, 0.0, 1.0, -2.5, 1e9])
rows = st.lists(st.tuples(st.none() | st.integers(0, 2), st.none() | st.integers(0, 3), values), max_size=9)
CALLS = {
    "n": "row_number()", "a": "lag(x)", "b": "cum_sum(x)", "c": "rolling_sum(x, 2)", "d": "cum_max(x)",
    "e": "ewm_mean(x, half_life => 2)",
    "f": "rolling_std(x, 3)", "g": "ffill(x)", "h": "last(x)", "i": "lag(x, 2, 7, true)", "j": "bfill(x)",
    "l": "first(x, ignore_nulls => true) FILTER (WHERE t > 0)", "m": "ewm_mean(x, span => 3)", "o": "ntile(2)",
    "p": "pct_change(x)", "q": "cum_prod(x)", "r": "dense_rank()",
}  # fmt: skip


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_every_layout_gives_the_same_windows(tmp_path, rows):
    pipeline = Pipeline("random", root=tmp_path)
    rows = [(*row, i) for i, row in enumerate(rows)]
    t = write_source(pipeline, "t", table({**TYPES, "row": "int64"}, *rows))
    t.window("k", ["t", "row"], **exprs(CALLS)).stage("s")
    assert_same(pipeline, tolerance=Tolerance(1e-9, 1e-6))


KEYS_BY_HAND = [
    ("a", 1, 5, 1, 8),
    ("A", 2, -7, 2, 8),
    ("b", 3, 1, 1, 3),
    ("B", 4, 2, 2, 3),
    (None, 5, 9, 1, 9),
    ("a", 6, 10, 3, 8),
]


def test_groups_and_orders_by_expressions(source, check):
    """Names in groups by lower case, in the order of the size of x; a null is a group of its own."""
    t = source(table({"k": "string", "i": "int64", "x": "int64"}, *(row[:3] for row in KEYS_BY_HAND)))
    found = t.window("lower(k)", "abs(x)", n=expr("row_number()"), total=expr("sum(x)"))
    check(found, table({"k": "string", "i": "int64", "x": "int64", "n": "int64", "total": "int64"}, *KEYS_BY_HAND))


@pytest.mark.parametrize(
    "of",
    [
        lambda t: t.window(by=[col("k").lower()], order_by=[col("x").abs(), "i"], n=expr("row_number()")),
        lambda t: t.with_columns(n=row_number().over(col("k").lower(), order_by=col("x").abs())),
        lambda t: t.with_columns(n=row_number().over("lower(k)", order_by=["abs(x)"])),
    ],
)
def test_groups_and_orders_by_expressions_in_python(source, pipeline, of):
    t = source(table({"k": "string", "i": "int64", "x": "int64"}, *(row[:3] for row in KEYS_BY_HAND)))
    of(t).stage("result")
    found = pipeline.run(engine="pandas", keep=["result"])["result"].to_arrow().sort_by("i")
    assert found.column_names == ["k", "i", "x", "n"]
    assert found["n"].to_pylist() == [1, 2, 1, 2, 1, 3]


@pytest.mark.parametrize(
    ("by", "order_by", "options", "shown"),
    [
        ("lower(z)", "t", {}, "unknown column 'z'"),
        ("1 + 1", "t", {}, "a key reads a column, and 1 + 1 reads none"),
        ("k", "abs(z)", {}, "unknown column 'z'"),
        ("k % 2", "t", {"state": "keep"}, "state: keep takes columns in by and order_by, not expressions"),
    ],
)
def test_keys_that_do_not_fit(t, pipeline, by, order_by, options, shown):
    t.window(by, order_by, **options, n=expr("row_number()")).stage("s")
    with pytest.raises(InvalidPipeline, match=re.escape(shown)):
        pipeline.plan()

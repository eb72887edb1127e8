"""window: aggregates of each row's whole group, next to window functions and without an order."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from gpuetl import RunFailed, col, expr
from gpuetl.functions import count
from tables import INT64_MAX, NAN, table

TYPES = {"k": "int64", "t": "int64", "x": "float64"}
ROWS = [(1, 1, 1.0), (2, 2, None), (1, 3, 3.0), (None, 4, 5.0), (2, 5, NAN), (None, 6, 5.0), (1, 7, 2.0), (3, 8, None)]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


CASES = {
    "count(*)": ("int64", {1: 3, 2: 2, None: 2, 3: 1}),
    "count(x)": ("int64", {1: 3, 2: 1, None: 2, 3: 0}),
    "sum(x)": ("float64", {1: 6.0, 2: NAN, None: 10.0, 3: None}),
    "mean(x)": ("float64", {1: 2.0, 2: NAN, None: 5.0, 3: None}),
    "min(x)": ("float64", {1: 1.0, 2: NAN, None: 5.0, 3: None}),
    "max(t)": ("int64", {1: 7, 2: 5, None: 6, 3: 8}),
    "std(x)": ("float64", {1: 1.0, 2: None, None: 0.0, 3: None}),
    "var_pop(t)": ("float64", {1: 56 / 9, 2: 2.25, None: 1.0, 3: 0.0}),
    "median(x)": ("float64", {1: 2.0, 2: NAN, None: 5.0, 3: None}),
    "quantile(t, 0.5)": ("float64", {1: 3.0, 2: 3.5, None: 5.0, 3: 8.0}),
    "count(DISTINCT x)": ("int64", {1: 3, 2: 1, None: 1, 3: 0}),
    "sum(t) FILTER (WHERE x > 1)": ("int64", {1: 10, 2: None, None: 10, 3: None}),
    "corr(t, x)": ("float64", {1: 0.3273268353539886, 2: None, None: NAN, 3: None}),
    "any(x > 2)": ("bool", {1: True, 2: False, None: True, 3: None}),
    "max_by(x, t)": ("float64", {1: 2.0, 2: NAN, None: 5.0, 3: None}),
    "mode(x)": ("float64", {1: 1.0, 2: NAN, None: 5.0, 3: None}),
}


def test_each_aggregate_is_over_the_whole_group_without_an_order(t, check):
    calls = {f"y{place}": expr(call) for place, call in enumerate(CASES)}
    expected = [(k, n, *(values[k] for _, values in CASES.values())) for k, n, _ in ROWS]
    types = {"k": "int64", "t": "int64", **{f"y{place}": dtype for place, (dtype, _) in enumerate(CASES.values())}}
    check(t.window("k", **calls).drop("x"), table(types, *expected))


def test_aggregates_stand_in_expressions_next_to_window_functions(t, check):
    steps = t.filter(expr("k = 1")).window("k", "t", **exprs({
        "share": "x / sum(x)", "z": "(x - mean(x)) / std(x)", "step": "(x - lag(x)) / max(x)", "n": "row_number()",
        "of": "row_number() / count(*)", "x": "sum(x)", "last": "last(x) - min(t + 1)",
    }))  # fmt: skip
    types = {
        **TYPES,
        **dict.fromkeys(("share", "z", "step"), "float64"),
        "n": "int64",
        "of": "float64",
        "last": "float64",
    }
    check(steps, table(
        types,
        (1, 1, 6.0, 1 / 6, -1.0, None, 1, 1 / 3, 0.0),
        (1, 3, 6.0, 0.5, 1.0, 2 / 3, 2, 2 / 3, 0.0),
        (1, 7, 6.0, 1 / 3, 0.0, -1 / 3, 3, 1.0, 0.0),
    ), ordered=True)  # fmt: skip


def test_all_rows_are_one_group_without_by(t, check):
    steps = t.filter(expr("x < 9")).window(share=expr("x / sum(x)"), n=count(), k=expr("max(k)")).drop("t")
    types = {"k": "int64", "x": "float64", "share": "float64", "n": "int64"}
    check(steps, table(types, *((1, x, x / 16, 5) for x in (1.0, 3.0, 5.0, 5.0, 2.0))))
    ordered = t.filter(expr("x < 9")).window((), "t desc", share=expr("x / sum(x)"), so_far=expr("cum_sum(x)"))
    rows = [(2.0, 2.0), (5.0, 7.0), (5.0, 12.0), (3.0, 15.0), (1.0, 16.0)]
    expected = table({"share": "float64", "so_far": "float64"}, *((x / 16, total) for x, total in rows))
    check(ordered.select("share", "so_far"), expected, ordered=True)


@pytest.mark.parametrize(("by", "n"), [((), None), ("k", None)])
def test_no_rows_stay_no_rows(t, check, by, n):
    steps = t.filter(expr("t > 99")).window(by, n=count(), s=expr("sum(x)"), d=expr("count(DISTINCT k)"))
    check(steps, table({**TYPES, "n": "int64", "s": "float64", "d": "int64"}))


def test_keys_and_values_of_other_types(source, check):
    types = {"s": "string", "f": "float64", "d": "decimal(38,2)", "day": "date", "wait": "duration", "w": "string"}
    rows = [
        ("a", 0.0, Decimal("1.50"), date(2024, 1, 1), timedelta(1), "p"),
        ("a", -0.0, Decimal("2.50"), None, timedelta(2), None),
        (None, NAN, None, date(2024, 1, 3), None, "q"),
        (None, NAN, Decimal("4.00"), date(2024, 1, 2), timedelta(4), "r"),
        ("", None, None, None, None, None),
    ]
    t = source(table(types, *rows))
    calls = exprs({"total": "sum(d)", "first_day": "min(day)", "waited": "mean(wait)", "most": "max(w)"})
    made = {"total": "decimal(38,2)", "first_day": "date", "waited": "duration", "most": "string"}
    a = (Decimal("4.00"), date(2024, 1, 1), timedelta(1.5), "p")
    b = (Decimal("4.00"), date(2024, 1, 2), timedelta(4), "r")
    expected = table(made, a, a, b, b, (None,) * 4)
    for by in (["s"], ["f"], ["s", "f"]):
        check(t.window(by, **calls).select(*made), expected)


@pytest.mark.parametrize("by", [(), "k"])
def test_a_sum_that_leaves_its_type_is_an_error(source, failure, by):
    t = source(table({"k": "int64", "x": "int64"}, (1, INT64_MAX), (1, 1), (2, 1)))
    found = failure(t.window(by, s=expr("sum(x)")), RunFailed)
    assert "sum leaves int64; cast the column to float64 or decimal" in found


def test_a_filter_on_keys_and_unused_columns_change_nothing(t, check):
    steps = t.window("k", total=expr("sum(x)"), n=count()).filter(col("k") == 1).select("t", "n")
    check(steps, table({"t": "int64", "n": "int64"}, (1, 3), (3, 3), (7, 3)))


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"by": "k", "order_by": "t", "s": "sum(x)"}, "order_by does nothing here: sum is over the whole group"),
        ({"by": "k", "order_by": "t", "s": "sum(x)"}, "Leave order_by out, or write cum_sum for the rows so far."),
        ({"by": "k", "order_by": "t", "s": "median(x)"}, "Leave order_by out."),
        ({"by": "k", "s": "sum(x) - lag(x)"}, "lag needs order_by"),
        ({"by": "k", "order_by": "t", "s": "cum_sum(x - mean(x))"}, "mean is an aggregate function and cannot stand inside cum_sum"),
        ({"by": "k", "order_by": "t", "s": "sum(x - lag(x))"}, "Use two steps: lag in the first, sum in the second."),
        ({"by": "k", "s": "sum(q)"}, "unknown column 'q'"),
        ({"by": "k", "order_by": "t", "state": "keep", "s": "cum_sum(x) / sum(x)"}, "state: keep: sum is of the whole group"),
        ({"by": "k", "state": "keep", "s": "count(*)"}, "state: keep: count(*) is of the whole group"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_write(t, problem, window, message):
    by, order, state = window.pop("by", ()), window.pop("order_by", ()), window.pop("state", "none")
    assert message in problem(t.window(by, order, state=state, **exprs(window)))

"""window: frames with both ends, by rows, times and numbers; ranks of rows that tie, and rows by number."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from gpuetl import col, expr
from gpuetl.functions import rank
from tables import NAN, table

START = datetime(2024, 1, 1)
ROWS = [
    (1, 0, 1, 1.0),
    (1, 1, 2, None),
    (1, 1, 3, 4.0),
    (1, 3, 4, 8.0),
    (1, None, 5, 16.0),
    (2, 0, 6, NAN),
    (2, 4, 7, 2.0),
]
TYPES = {"k": "int64", "h": "int64", "id": "int64", "x": "float64"}


@pytest.fixture
def t(source):
    rows = [(*row, None if row[1] is None else START + timedelta(hours=row[1]), row[1]) for row in ROWS]
    types = {**TYPES, "ts": "timestamp", "f": "float64"}
    return source(table(types, *rows))


BY_ROWS = {
    "rolling_sum(x, rows => [-1, 1])": [1.0, 5.0, 12.0, 28.0, 24.0, NAN, NAN],
    "rolling_sum(x, 3, centered => true)": [1.0, 5.0, 12.0, 28.0, 24.0, NAN, NAN],
    "rolling_sum(x, 4, centered => true)": [1.0, 5.0, 13.0, 28.0, 28.0, NAN, NAN],
    "rolling_sum(x, rows => [1, 2])": [4.0, 12.0, 24.0, 16.0, None, 2.0, None],
    "rolling_sum(x, rows => [NULL, -1])": [None, 1.0, 1.0, 5.0, 13.0, None, NAN],
    "rolling_max(x, rows => [0, NULL])": [16.0, 16.0, 16.0, 16.0, 16.0, NAN, 2.0],
    "rolling_count(x, rows => [-9, -2])": [0, 0, 1, 1, 2, 0, 0],
    "rolling_mean(x, rows => [-1, 0], min_periods => 2)": [None, None, None, 6.0, 12.0, None, NAN],
    "rolling_sum(x, rows => [-1, 1]) FILTER (WHERE id <> 3)": [1.0, 1.0, 8.0, 24.0, 24.0, NAN, NAN],
    "rolling_std(x, rows => [0, 2])": [4.5**0.5, 8.0**0.5, 37.333333333333336**0.5, 32.0**0.5, None, NAN, None],
    "rolling_median(x, 3)": [1.0, 1.0, 2.5, 6.0, 8.0, NAN, NAN],
    "rolling_median(x, rows => [NULL, -1])": [None, 1.0, 1.0, 2.5, 4.0, None, NAN],
    "rolling_median(id, rows => [-3, 3])": [2.5, 3.0, 3.0, 3.0, 3.5, 6.5, 6.5],
    "rolling_quantile(x, 0.25, rows => [-1, 2])": [1.75, 2.5, 6.0, 6.0, 10.0, NAN, NAN],
    "rolling_quantile(x, 0, rows => [-9, 9], min_periods => 3)": [1.0, 1.0, 1.0, 1.0, 1.0, None, None],
    "rolling_quantile(x, 1, 2) FILTER (WHERE id <> 4)": [1.0, 1.0, 4.0, 4.0, 16.0, NAN, NAN],
    "rolling_count_distinct(h, 3)": [1, 2, 2, 2, 2, 1, 2],
    "rolling_count_distinct(h % 2 = 1, rows => [-1, NULL])": [2, 2, 1, 1, 1, 1, 1],
    "rolling_count_distinct(lower(CASE WHEN id < 4 THEN 'a' ELSE 'B' END), rows => [0, 1])": [1, 1, 2, 1, 1, 1, 1],
    "rolling_covar_samp(x, h, rows => [-1, 1])": [None, 1.5, 4.0, 4.0, None, NAN, NAN],
    "rolling_covar_pop(x, id, 2)": [0.0, 0.0, 0.0, 1.0, 2.0, NAN, NAN],
    "rolling_corr(x, id, rows => [-3, 0])": [None, None, 1.0, 0.96312313730186, 0.9819805060619657, None, NAN],
    "rolling_corr(x, -x, 2, min_periods => 2)": [None, None, None, -1.0, -1.0, None, NAN],
    "rolling_corr(h, id, 2) FILTER (WHERE id > 1)": [None, None, NAN, 1.0, None, None, 1.0],
    "rolling_first(x, 2)": [1.0, 1.0, None, 4.0, 8.0, NAN, NAN],
    "rolling_first(x, rows => [-1, 2], ignore_nulls => true)": [1.0, 1.0, 4.0, 4.0, 8.0, NAN, NAN],
    "rolling_last(x, rows => [-2, -1])": [None, 1.0, None, 4.0, 8.0, None, NAN],
    "rolling_last(x, 3, ignore_nulls => true)": [1.0, 1.0, 4.0, 8.0, 16.0, NAN, 2.0],
    "rolling_first(x, rows => [-1, 1]) FILTER (WHERE id > 2)": [None, 4.0, 4.0, 4.0, 8.0, NAN, NAN],
    "rolling_last(x, rows => [0, 1], min_periods => 2)": [None, None, 8.0, 16.0, None, 2.0, None],
    "rolling_nth_value(x, 2, 3)": [None, None, None, 4.0, 8.0, None, 2.0],
    "rolling_nth_value(x, 2, rows => [-1, 2], ignore_nulls => true)": [4.0, 4.0, 8.0, 8.0, 16.0, 2.0, 2.0],
    "rolling_nth_value(x, 1, rows => [-1, 1]) FILTER (WHERE id > 2)": [None, 4.0, 4.0, 4.0, 8.0, NAN, NAN],
    "rolling_nth_value(x, 2, 3, min_periods => 3)": [None, None, None, None, 8.0, None, None],
    "nth_value(x, 2) FILTER (WHERE id > 2)": [8.0] * 5 + [2.0] * 2,
    "nth_value(x, 1, ignore_nulls => true) FILTER (WHERE id in (2, 4))": [8.0] * 5 + [None] * 2,
    "nth_value(x, 3)": [4.0] * 5 + [None] * 2,
    "nth_value(x, 2, ignore_nulls => true)": [4.0] * 5 + [2.0] * 2,
    "first_value(x)": [1.0] * 5 + [NAN] * 2,
    "last_value(id)": [5] * 5 + [7] * 2,
    "rank()": [1, 2, 2, 4, 5, 1, 2],
    "rank(method => 'max')": [1, 3, 3, 4, 5, 1, 2],
    "rank('average')": [1.0, 2.5, 2.5, 4.0, 5.0, 1.0, 2.0],
    "rank('dense')": [1, 2, 2, 3, 4, 1, 2],
}
TIES = ("rank",)


def test_frames_of_rows(t, check):
    calls = {f"y{place}": expr(call) for place, call in enumerate(BY_ROWS) if not call.startswith(TIES)}
    dtypes = {
        name: "int64" if isinstance(values[-3], int) else "float64"
        for name, values in zip(calls, BY_ROWS.values(), strict=False)
    }
    expected = table(
        {"id": "int64", **dtypes},
        *zip(range(1, 8), *(BY_ROWS[c] for c in BY_ROWS if not c.startswith(TIES)), strict=False),
    )
    check(t.window("k", ["h", "id"], **calls).select("id", *calls), expected)


def test_rank_numbers_rows_that_tie_in_five_ways(t, check):
    ranks = {name: values for name, values in BY_ROWS.items() if name.startswith(TIES)}
    calls = {f"y{place}": expr(call) for place, call in enumerate(ranks)}
    dtypes = {
        name: "int64" if isinstance(values[-3], int) else "float64"
        for name, values in zip(calls, ranks.values(), strict=False)
    }
    expected = table({"id": "int64", **dtypes}, *zip(range(1, 8), *ranks.values(), strict=False))
    check(t.window("k", "h", **calls).select("id", *calls), expected)
    ordinal = t.window("k", ["h", "id"], n=rank(method="ordinal"), m=expr("row_number()")).filter(expr("n <> m"))
    check(ordinal.select("n"), table({"n": "int64"}))


OTHERS = pytest.mark.full(reason="frames by numbers of other types")
BY_VALUE = {
    "rolling_sum(x, range => [{-1}, {1}])": [5.0, 5.0, 5.0, 8.0, 16.0, NAN, 2.0],
    "rolling_sum(x, range => [{0}, {0}])": [1.0, 4.0, 4.0, 8.0, 16.0, NAN, 2.0],
    "rolling_count(x, range => [{1}, {3}])": [2, 1, 1, 0, 1, 0, 0],
    "rolling_sum(x, range => [NULL, {-2}])": [None, None, None, 5.0, 29.0, None, NAN],
    "rolling_median(id, range => [{-1}, {0}])": [1.0, 2.0, 2.0, 4.0, 5.0, 6.0, 7.0],
    "rolling_count_distinct(h, range => [{-2}, NULL])": [3, 3, 3, 2, 0, 2, 1],
    "rolling_first(id, range => [{0}, {0}])": [1, 2, 2, 4, 5, 6, 7],
    "rolling_nth_value(id, 2, range => [{-2}, {0}])": [None, 2, 2, 3, None, None, None],
    "rolling_last(id, range => [{-2}, {-1}])": [None, 1, 1, 3, 5, None, None],
    "rolling_max(x, range => [{2}, NULL])": [16.0, 16.0, 16.0, 16.0, 16.0, 2.0, None],
}


@pytest.mark.part(2)
@pytest.mark.parametrize("key", ["ts", "h", pytest.param("f", marks=OTHERS), pytest.param("q", marks=OTHERS)])
def test_frames_of_values_take_rows_that_tie(t, check, key):
    def written(call):
        for hours in (-2, -1, 0, 1, 2, 3):
            call = call.replace(f"{{{hours}}}", f"INTERVAL '{hours} hours'" if key == "ts" else str(hours))
        return expr(call)

    calls = {f"y{place}": written(call) for place, call in enumerate(BY_VALUE)}
    dtypes = {
        name: "int64" if any(isinstance(value, int) for value in values) else "float64"
        for name, values in zip(calls, BY_VALUE.values(), strict=False)
    }
    expected = table({"id": "int64", **dtypes}, *zip(range(1, 8), *BY_VALUE.values(), strict=False))
    rows = t.with_columns(q=expr("CAST(h AS decimal(20,3))"))
    check(rows.window("k", [key, "id"], **calls).select("id", *calls), expected)


def test_decimals_durations_and_strings_in_frames(source, check):
    rows = [(1, Decimal("0.50"), timedelta(1), "b"), (2, None, None, None), (3, Decimal("1.50"), timedelta(2), "a")]
    t = source(table({"id": "int64", "d": "decimal(38,2)", "w": "duration", "s": "string"}, *rows))
    calls = {"d": "rolling_sum(d, rows => [0, 1])", "m": "rolling_mean(d, rows => [-2, 2])", "w": "rolling_mean(w, rows => [-1, 1])",
             "s": "rolling_min(s, rows => [-1, 1])"}  # fmt: skip
    expected = [
        (Decimal("0.50"), 1.0, timedelta(1), "b"), (Decimal("1.50"), 1.0, timedelta(1.5), "a"), (Decimal("1.50"), 1.0, timedelta(2), "a"),
    ]  # fmt: skip
    types = {"d": "decimal(38,2)", "m": "float64", "w": "duration", "s": "string"}
    check(
        t.window((), "id", **{name: expr(text) for name, text in calls.items()}).select(*types), table(types, *expected)
    )


def test_frames_in_python(t, check):
    steps = t.window(
        "k", ["ts", "id"], a=col("x").rolling_sum(rows=(-1, 1)), b=col("x").rolling_count(range=[timedelta(0), None], min_periods=2)
    )  # fmt: skip
    expected = [(1.0, 4), (5.0, 3), (12.0, 3), (28.0, 2), (24.0, None), (NAN, 2), (NAN, None)]
    check(steps.select("a", "b"), table({"a": "float64", "b": "int64"}, *expected))


@pytest.mark.parametrize(
    ("order", "call", "message"),
    [
        ("id", "rolling_sum(x)", "rolling_sum takes one of frame, rows and range, got none"),
        ("id", "rolling_sum(x, 3, rows => [0, 1])", "got frame and rows"),
        ("id", "rolling_sum(x, rows => [NULL, NULL])", "Write an aggregate for the whole group, such as sum(x)."),
        ("id", "rolling_sum(x, rows => [1.5, 2])", "rolling_sum takes whole numbers as rows, got 1.5"),
        ("id", "rolling_sum(x, rows => 2)", "rolling_sum takes two ends as rows, from first to last"),
        ("id", "rolling_sum(x, rows => [id, 2])", "rows takes two constants"),
        ("id", "rolling_sum(x, range => ['a', 'b'])", "rolling_sum takes two intervals or two numbers as range"),
        ("id", "rolling_sum(x, range => [1, INTERVAL '1 hour'])", "rolling_sum takes two ends of one kind as range"),
        ("id", "rolling_sum(x, range => [INTERVAL '-1 hour', NULL])", "needs order_by to begin with an ascending date or timestamp"),
        ("ts", "rolling_sum(x, range => [-1, 1])", "rolling_sum over numbers needs order_by to begin with an ascending number, not ts"),
        ("id desc", "rolling_sum(x, range => [-1, 1])", "Put the number first in order_by, or give a number of rows."),
        ("ts", "rolling_sum(x, INTERVAL '1 hour', centered => true)", "rolling_sum takes centered with a number of rows"),
        ("id", "rank('first')", "rank takes 'min', 'max', 'average', 'dense', 'ordinal' as method, got 'first'"),
        ("id", "rolling_quantile(x, 2, 3)", "rolling_quantile takes q from 0 to 1, got 2"),
        ("id", "rolling_quantile(x, 0.5)", "rolling_quantile takes one of frame, rows and range, got none"),
        ("id", "nth_value(x, 0)", "nth_value takes a row's place from 1, got 0"),
        ("id", "sum(x) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING)", "A frame is an option there: rolling_sum(x, rows => [-2, 2])."),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_write(t, problem, order, call, message):
    with_order = [order] if order != "id" else ["id"]
    try:
        found = problem(t.window("k", with_order, y=expr(call)))
    except Exception as error:
        found = str(error)
    assert message in found


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("rolling_sum(x, rows => [-2, 1])", "rolling_sum needs rows after the current one"),
        ("rolling_sum(x, range => [-2, 0])", "rolling_sum needs rows after the current one, or that tie with it,"),
        ("rank('max')", "rank needs later rows that tie"),
        ("nth_value(x, 2)", "nth_value needs rows that come later in its group"),
    ],
)
def test_state_is_refused_where_later_rows_count(t, problem, call, message):
    assert message in problem(t.window("k", "id", state="keep", y=expr(call)))

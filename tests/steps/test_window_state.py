"""Windows over partitions that follow each other in time: the same as over all rows at once, on every engine."""

from datetime import timedelta
from decimal import Decimal
from math import inf

import pytest

from gpuetl import RunFailed, RunOptions, expr
from gpuetl.testing import assert_same, assert_tables_equal
from stateful_windows import CALLS, COMBINED, START, rows_in_time
from tables import INT64_MAX, NAN, table

BY_CARRIES = RunOptions(partition_rows=2, carried_share=inf)
MORE = pytest.mark.full(reason="stateful windows, with two keys or orders")


@pytest.fixture
def events(source):
    """21 rows, 2 a partition."""
    return source(rows_in_time(seed=4, count=21))


@pytest.mark.part(5)
@pytest.mark.parametrize("by", ["k", pytest.param(["g", "k"], marks=MORE), []])
def test_every_function_goes_on_from_partition_to_partition(events, pipeline, engine, by):
    """With groups that begin late, and that rest for some partitions."""
    events.window(by, "ts", **{name: expr(call) for name, call in CALLS.items()}).stage("rows")
    assert "; window state of up to" in pipeline.explain(options=BY_CARRIES, engine="pandas")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


@pytest.mark.part(5)
@pytest.mark.parametrize("by", ["k", pytest.param(["g", "k"], marks=MORE), []])
def test_workers_combine_the_window_states_of_partitions(events, pipeline, engine, by):
    """So none waits for another; groups begin late, rest, and have rows that tie in two partitions."""
    events.window(by, "ts", **{name: expr(call) for name, call in COMBINED.items()}).stage("rows")
    assert "later partitions, combined" in pipeline.explain(options=BY_CARRIES, engine="dask")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


@pytest.fixture
def few(source):
    """Three partitions of two rows; the group of the last row has rested since the first."""
    return source(table({"t": "int64", "k": "string", "x": "int64"},
                        (1, "a", 1), (2, "b", 10), (3, "b", None), (4, "b", 20), (4, "b", 30), (6, "a", 2)))  # fmt: skip


@pytest.fixture
def answer(pipeline, engine):
    """Runs a table's steps by carries."""

    def run(steps):
        steps.stage("result")
        assert "; window state of up to" in pipeline.explain(options=BY_CARRIES, engine="pandas")
        return pipeline.run(engine=engine, keep="result", options=BY_CARRIES)["result"].to_arrow()

    return run


def test_running_values_by_hand(few, answer):
    """Ties in time, across partitions too, are in the order of the rows."""
    calls = {"n": "row_number()", "sum": "cum_sum(x)", "before": "lag(x)", "three": "rolling_sum(x, 3)"}
    found = answer(few.window("k", "t", **{name: expr(call) for name, call in calls.items()}))
    types = {"t": "int64", "k": "string", "x": "int64", **dict.fromkeys(calls, "int64")}
    expected = table(
        types,
        (1, "a", 1, 1, 1, None, 1),
        (2, "b", 10, 1, 10, None, 10),
        (3, "b", None, 2, None, 10, 10),
        (4, "b", 20, 3, 30, None, 30),
        (4, "b", 30, 4, 60, 20, 50),
        (6, "a", 2, 2, 3, 1, 3),
    )
    assert_tables_equal(found, expected)


def test_rows_are_counted_where_a_constant_is_their_value(few, answer):
    """It has a value in every row, or in none: `lag` goes back by rows all the same."""
    calls = {"seven": "lag(7, 2, ignore_nulls => true)", "none": "lag(NULL, 2, 0, true)"}
    found = answer(few.window("k", "t", **{name: expr(call) for name, call in calls.items()}))
    assert found.sort_by("t").column("seven").to_pylist() == [None, None, None, 7, 7, None]
    assert set(found.column("none").to_pylist()) == {0}


@pytest.mark.part(4)
@pytest.mark.parametrize("order_by", ["x desc", pytest.param(["f", "ts"], marks=MORE), "g nulls first"])
def test_windows_without_keys_keep_state_over_rows_in_any_order(events, pipeline, engine, order_by):
    """Sorted by ranges; nulls and ties are in the order."""
    calls = {name: expr(call) for name, call in CALLS.items() if "interval" not in call and "half_life" not in call}
    events.window((), order_by, **calls).stage("rows")
    assert "Exchange range" in pipeline.explain(options=BY_CARRIES, engine="pandas")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


OF_ALL_TYPES = {
    "bool": True, "int8": -3, "uint64": 2**64 - 1, "float32": 1.5, "decimal(38, 4)": Decimal("12345678901234567890.1234"),
    "date": START.date(), "timestamp": START, "duration": timedelta(days=-1), "string": "ä", "list<string>": ["a", None],
    "list<float64>": [NAN],
}  # fmt: skip


@pytest.mark.part(12)
@pytest.mark.parametrize("dtype", OF_ALL_TYPES)
def test_window_state_holds_columns_of_all_types(source, pipeline, engine, dtype):
    """And pass through where no call reads them, as none reads lists."""
    values = [OF_ALL_TYPES[dtype], None, OF_ALL_TYPES[dtype], None, None]
    rows = source(table({"t": "int64", "x": dtype, "y": dtype}, *zip(range(5), values, values, strict=True)))
    calls = {"n": "row_number()"}
    if not dtype.startswith("list"):
        calls |= {"before": "lag(x)", "filled": "ffill(x)", "first": "first(x)", "values": "cum_count(x)"}
    rows.window((), "t", **{name: expr(call) for name, call in calls.items()}).stage("rows")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


def test_a_column_of_the_order_may_be_replaced(few, answer):
    """What is carried has it as it was."""
    found = answer(few.window("k", "t", t=expr("cum_sum(t)")))
    assert sorted(found["t"].to_pylist()) == [1, 2, 5, 7, 9, 13]


def test_partitions_without_rows_pass_on_the_window_state(few, answer):
    """A filter leaves none of the second one."""
    found = answer(few.filter(expr("t <> 3 AND t <> 4")).window("k", "t", n=expr("row_number()"), s=expr("cum_sum(x)")))
    assert sorted(found.select(["t", "n", "s"]).to_pylist(), key=lambda row: row["t"]) == [
        {"t": 1, "n": 1, "s": 1}, {"t": 2, "n": 1, "s": 10}, {"t": 6, "n": 2, "s": 3},
    ]  # fmt: skip


def test_nan_poisons_what_follows_in_later_partitions(source, answer):
    """And null does not."""
    rows = source(table({"t": "int64", "f": "float64"}, (1, 1.0), (2, NAN), (3, None), (4, 2.0)))
    found = answer(rows.window(order_by="t", s=expr("cum_sum(f)"), m=expr("cum_max(f)")))
    assert str(found["s"].to_pylist()) == "[1.0, nan, None, nan]"
    assert str(found["m"].to_pylist()) == "[1.0, nan, None, nan]"


def test_a_sum_that_leaves_its_type_in_a_later_partition_is_an_error(source, pipeline, engine):
    """Of the column that the user named; a partition's own sum may leave it where the sum so far does not."""
    values = [(1, -INT64_MAX), (2, -1), (3, INT64_MAX), (4, INT64_MAX)]
    rows = source(table({"t": "int64", "x": "int64"}, *values))
    rows.window(order_by="t", total=expr("cum_sum(x)")).stage("result")
    found = pipeline.run(engine=engine, keep="result", options=BY_CARRIES)["result"].to_arrow()
    assert found["total"].to_pylist() == [-INT64_MAX, -INT64_MAX - 1, -1, INT64_MAX - 1]
    over = source(table({"t": "int64", "x": "int64"}, *values, (5, 1), (6, 1)), "over")
    over.window(order_by="t", total=expr("cum_sum(x)")).stage("too_much")
    with pytest.raises(RunFailed, match=r"stage 'too_much', step 1: column 'total': cum_sum leaves int64"):
        pipeline.run(engine=engine, keep="too_much", options=BY_CARRIES)


B = 2**62


@pytest.mark.parametrize(
    ("values", "calls"),
    [
        ([0, -B, B, B, -B, 0, 0, 0], {"s": "rolling_sum(x, 3)"}),
        ([-B, B, B, -B, 0, 0], {"s": "rolling_sum(x, interval '2 minutes')"}),
        ([-B - 2, 0, 0, B + 2, 0, 0], {"s": "diff(x)", "c": "cum_max(x) FILTER (WHERE x < 0)"}),
    ],
)
def test_no_sum_of_rows_in_the_state_that_do_not_follow_each_other_is_an_error(source, pipeline, engine, values, calls):
    """Between them there were others, or what came before them is not there."""
    rows = [(START + timedelta(minutes=row), value) for row, value in enumerate(values)]
    given = source(table({"ts": "timestamp", "x": "int64"}, *rows))
    given.window(order_by="ts", **{name: expr(call) for name, call in calls.items()}).stage("rows")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


def test_a_partition_s_own_sum_may_leave_its_type_where_rows_repeat(source, pipeline, engine):
    """How often a join repeats them is a guess, where keys are unique on neither side."""
    x = 2**56
    values = enumerate([-x, -x, x, x, 0, 0])
    left = source(table({"ts": "timestamp", "k": "int64", "x": "int64"},
                        *((START + timedelta(minutes=row), 1, value) for row, value in values)))  # fmt: skip
    right = source(table({"k": "int64", "y": "int64"}, *((1, y) for y in range(64))), "right")
    left.join(right, on="k").window((), ["ts", "y"], s=expr("cum_sum(x)")).stage("rows")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


@pytest.mark.parametrize("least", [1, -1])
def test_means_that_fade_of_the_greatest_floats_stay_finite(source, pipeline, engine, least):
    """What gives a mean in the place of many values is no more than they were."""
    most = 1.7976931348623157e308
    rows = [(START + timedelta(minutes=7 * row), most * (least if row == 3 else 1)) for row in range(8)]
    given = source(table({"ts": "timestamp", "x": "float64"}, *rows))
    given.window(order_by="ts", m=expr("ewm_mean(x, half_life => interval '1 hour')")).stage("rows")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES})


def test_two_sinks_read_a_window_whose_states_are_combined(events, pipeline, engine):
    """And another window after it."""
    rows = events.window((), "ts", n=expr("row_number()"), s=expr("cum_sum(x)")).stage("rows")
    rows.filter(expr("n > 20")).stage("later")
    rows.window("k", "ts", t=expr("cum_sum(f)"), m=expr("lag(s)")).stage("again")
    assert_same(pipeline, engine, partitions={"by carries": BY_CARRIES}, keep=["rows", "later", "again"])

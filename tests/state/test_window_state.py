"""Windows that keep their state: days fed one after another give what one run over all days gives."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, RunFailed, RunOptions, expr
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.windows import NEEDS_LATER_ROWS
from gpuetl.physical import kept_window
from gpuetl.physical.kept_calls import KEPT_HANDLERS
from gpuetl.testing import assert_tables_equal
from left_to_full import after
from messages import without_place
from stateful_windows import CALLS, START, rows_in_time
from tables import INT64_MAX, NAN, table, write_source
from window_days import feed, run_day

MORE = {
    "ranked": "rank()", "spans": "ewm_mean(f, span => 3)", "alphas": "ewm_mean(f, alpha => 0.3)",
    "all_new": "ewm_mean(x, alpha => 1.0)", "day": "ewm_mean(f, half_life => interval '1 day')",
    "three_days": "rolling_sum(d, 3)", "hours": "rolling_sum(x, interval '1 hour')", "two_back": "diff(d, 2)",
    "long": "cum_mean(d)", "counted": "rolling_count(s, 2)", "spread_in_time": "rolling_var(f, interval '2 hours')",
    "paired": "rolling_corr(x, f, 4)", "pairs_in_time": "rolling_covar_pop(x, f, interval '2 hours')",
    "newest": "rolling_last(s, 3, ignore_nulls => true)", "quarter": "rolling_quantile(x, 0.25, 5)",
    "so_far": "x - cum_min(x)", "lowest": "rolling_min(d, 4)", "text": "cum_max(s)",
    "moved": "ewm_var(f, span => 4, bias => true)", "fading": "ewm_var(x, alpha => 0.25, adjust => true, ignore_nulls => false)",
    "deviation": "ewm_std(x, half_life => interval '1 day')",
}  # fmt: skip
ALL_CALLS = {**CALLS, **MORE}
TWO_ROWS = RunOptions(partition_rows=2)
LAYOUTS = pytest.mark.parametrize("options", [RunOptions(), TWO_ROWS], ids=["one-partition", "2-rows-a-partition"])


def kept(steps, by="k", order_by="ts", calls=None, **options):
    """Return a window that keeps its state, as the stage `result`."""
    columns = {name: expr(call) for name, call in (calls or ALL_CALLS).items()}
    return steps.window(by, order_by, state="keep", **options, **columns).stage("result")


def whole(pipeline, given, by="k", order_by="ts", calls=None, name="all_days"):
    """Return what one run over all rows gives."""
    steps = write_source(pipeline, name, given)
    columns = {name: expr(call) for name, call in (calls or ALL_CALLS).items()}
    steps.window(by, order_by, **columns).stage(f"{name}_rows")
    return pipeline.run(engine="pandas", keep=f"{name}_rows")[f"{name}_rows"].to_arrow()


def days_of(given, ends):
    """Cut rows into days."""
    return [given[start:end] for start, end in pairwise([0, *ends, given.num_rows])]


def test_every_function_keeps_state_or_is_refused():
    """One that is added has to be in one of the two lists."""
    names = {name for (kind, name), each in FUNCTIONS.items() if kind == "window" and not each.definition}
    assert names == KEPT_HANDLERS.keys() | NEEDS_LATER_ROWS
    assert not KEPT_HANDLERS.keys() & NEEDS_LATER_ROWS
    tested = " ".join(ALL_CALLS.values())
    assert [name for name in KEPT_HANDLERS if f"{name}(" not in tested] == []


@pytest.mark.part(5)
@pytest.mark.parametrize(
    ("by", "options"),
    after(
        3,
        [
            ("k", TWO_ROWS),
            ("k", RunOptions()),
            ([], TWO_ROWS),
            ([], RunOptions()),
            (["g", "k"], TWO_ROWS),
            (["g", "k"], RunOptions()),
        ],
        "windows that keep state, by two keys, and by none in one partition",
    ),
    ids=["key", "key-one-partition", "no-key", "no-key-one-partition", "two-keys", "two-keys-one-partition"],
)
def test_days_give_what_all_rows_give(source, pipeline, engine, options, by):
    """Of every function; groups begin late, rest for days, and are null; days may have no row, or one."""
    given = rows_in_time(seed=4, count=26)
    steps = kept(source(given[:0]), by)
    found, _ = feed(steps, days_of(given, [0, 1, 9, 18]), engine, options)
    assert_tables_equal(found, whole(pipeline, given, by))


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", after(2, range(5), "more seeds of random rows"))
def test_days_of_any_size(source, pipeline, local_engine, seed):
    """Random rows, cut anywhere, also between rows that tie."""
    rng = np.random.default_rng(seed)
    given = rows_in_time(seed=seed + 100, count=60, minutes=90)
    steps = kept(source(given[:0]), ["k"])
    found, _ = feed(steps, days_of(given, sorted(rng.integers(0, 60, 5).tolist())), local_engine)
    assert_tables_equal(found, whole(pipeline, given, ["k"]))


def test_state_in_slices(source, pipeline, engine, monkeypatch):
    """Of more rows than one partition has."""
    monkeypatch.setattr(kept_window, "SLICE_ROWS", 2)
    given = rows_in_time(seed=8, count=18)
    steps = kept(source(given[:0]), ["g", "k"])
    found, _ = feed(steps, days_of(given, [9, 14]), engine, TWO_ROWS)
    assert_tables_equal(found, whole(pipeline, given, ["g", "k"]))


def test_by_hand(source, engine):
    """Two users over three days; b rests on the second."""
    days = [
        table({"t": "int64", "k": "string", "x": "int64"}, *rows)
        for rows in ([(1, "a", 1), (2, "b", 10)], [(3, "a", None), (4, "a", 2)], [(5, "b", 20), (6, "a", 4)])
    ]
    calls = {"n": "row_number()", "sum": "cum_sum(x)", "before": "lag(x)", "two": "rolling_sum(x, 2)"}
    found, stored = feed(kept(source(days[0]), "k", "t", calls), days, engine)
    assert found.sort_by("t").select(["n", "sum", "before", "two"]).to_pylist() == [
        {"n": 1, "sum": 1, "before": None, "two": 1},
        {"n": 1, "sum": 10, "before": None, "two": 10},
        {"n": 2, "sum": None, "before": 1, "two": 1},
        {"n": 3, "sum": 3, "before": None, "two": 2},
        {"n": 2, "sum": 30, "before": 10, "two": 30},
        {"n": 4, "sum": 7, "before": 2, "two": 6},
    ]
    (state,) = stored.values()
    assert state.table.num_rows == 2  # the last row of each user


def test_rank_goes_on_in_ties(source, pipeline, engine):
    """Rows that tie with the last row of the day before have its rank, also where that tied before."""
    given = table({"t": "int64"}, *((t,) for t in (1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4)))
    calls = {"r": "rank()", "d": "dense_rank()", "n": "row_number()"}
    steps = kept(source(given[:0]), (), "t", calls)
    found, _ = feed(steps, days_of(given, [2, 3, 4, 5, 7, 9, 10]), engine)
    assert found.sort_by("n")["r"].to_pylist() == [1, 2, 2, 2, 2, 2, 7, 7, 9, 9, 9]
    assert found.sort_by("n")["d"].to_pylist() == [1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4]


def test_decay_by_rows_counts_rows_without_values(source, pipeline, local_engine):
    """They are kept since the last value, up to a number after which it has no weight."""
    given = table({"t": "int64", "x": "float64"}, (1, 8.0), *((t, None) for t in range(2, 9)), (9, 4.0), (10, 2.0))
    calls = {"m": "ewm_mean(x, half_life => 2)", "s": "decayed_sum(x, half_life => 3)"}
    steps = kept(source(given[:0]), (), "t", calls)
    found, stored = feed(steps, days_of(given, [2, 5, 8]), local_engine)
    assert_tables_equal(found, whole(pipeline, given, (), "t", calls))
    _, stored = feed(steps, days_of(given[:8], [4]), local_engine)
    assert [state.table.num_rows for state in stored.values()] == [8]


@pytest.mark.part(5)
@pytest.mark.parametrize("order_by", ["x desc", ["f", "ts"], ["ts", "x desc nulls first"]])
def test_any_order(source, pipeline, engine, order_by):
    """Descending, floats, two keys."""
    calls = {name: call for name, call in ALL_CALLS.items() if "interval" not in call and "half_life" not in call}
    given = rows_in_time(seed=2, count=40).drop_null()
    keys = [order_by] if isinstance(order_by, str) else order_by
    given = given.sort_by([(key.split()[0], "descending" if "desc" in key else "ascending") for key in keys])
    steps = kept(source(given[:0]), (), order_by, calls)
    found, _ = feed(steps, days_of(given, [5, 9]), engine)
    assert_tables_equal(found, whole(pipeline, given, (), order_by, calls))


OF_ALL_TYPES = {
    "bool": True, "int8": -3, "uint64": 2**64 - 1, "float32": 1.5, "float64": NAN, "decimal(38, 4)": Decimal("12345678901234567890.1234"),
    "date": date(2024, 1, 1), "timestamp": START, "duration": timedelta(days=-1), "string": "ä", "list<string>": ["a", None],
}  # fmt: skip


@pytest.mark.part(5)
@pytest.mark.parametrize("dtype", OF_ALL_TYPES)
def test_values_of_all_types(source, pipeline, engine, dtype):
    """Those that no call reads are not stored."""
    value = OF_ALL_TYPES[dtype]
    given = table({"t": "int64", "x": dtype}, *zip(range(6), [value, None, value, None, None, value], strict=True))
    calls = {"n": "row_number()"}
    if not dtype.startswith("list"):
        calls |= {"before": "lag(x)", "filled": "ffill(x)", "first": "first(x)", "values": "cum_count(x)"}
    steps = kept(source(given[:0]), (), "t", calls)
    found, stored = feed(steps, days_of(given, [1, 2, 4]), engine)
    assert_tables_equal(found, whole(pipeline, given, (), "t", calls))
    (state,) = stored.values()
    assert ("x" in state.table.column_names) is not dtype.startswith("list")


@pytest.mark.part(3)
@pytest.mark.parametrize("dtype", [d for d in OF_ALL_TYPES if not d.startswith("list")])
def test_keys_of_all_types(source, pipeline, engine, dtype):
    """Null is a group, NaN another."""
    value = OF_ALL_TYPES[dtype]
    given = table({"t": "int64", "k": dtype}, *zip(range(6), [value, None, value, None, None, value], strict=True))
    calls = {"n": "row_number()", "before": "lag(t)"}
    found, _ = feed(kept(source(given[:0]), "k", "t", calls), days_of(given, [1, 4]), engine)
    assert_tables_equal(found, whole(pipeline, given, "k", "t", calls))


B = 2**62


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("values", "calls"),
    [
        (
            [0, -B, B, B, -B, 0, 0, 0],
            {"s": "rolling_sum(x, 3)", "c": "ffill(x)", "m": "cum_max(x) FILTER (WHERE x < 0)"},
        ),
        ([-B - 2, 0, 0, B + 2, 0, 0], {"s": "diff(x)", "c": "cum_max(x) FILTER (WHERE x < 0)"}),
        ([B, 0, 0, B, 0, 0], {"s": "rolling_sum(x, 3)", "c": "cum_max(x) FILTER (WHERE x > 0)"}),
    ],
)
def test_no_sum_of_rows_in_the_state_that_do_not_follow_each_other_is_an_error(source, pipeline, engine, values, calls):
    """Between them there were others."""
    given = table({"t": "int64", "x": "int64"}, *enumerate(values))
    found, _ = feed(kept(source(given[:0]), (), "t", calls), days_of(given, [2, 4, 5]), engine)
    assert_tables_equal(found, whole(pipeline, given, (), "t", calls))


@pytest.mark.parametrize("call", ["cum_sum(x)", "rolling_sum(x, 2)", "diff(x)"])
def test_a_sum_over_days_that_leaves_its_type_is_an_error(source, engine, call):
    """Of the column that the user named."""
    values = [INT64_MAX, -1 if call == "diff(x)" else 1]
    given = table({"t": "int64", "x": "int64"}, *enumerate(values[::-1] if call == "diff(x)" else values))
    given = given if call != "diff(x)" else table({"t": "int64", "x": "int64"}, (0, -2), (1, INT64_MAX))
    with pytest.raises(RunFailed, match=r"stage 'result', step 1: column 'total'"):
        feed(kept(source(given[:0]), (), "t", {"total": call}), days_of(given, [1]), engine)


def test_two_windows_in_a_row_and_other_steps(source, pipeline, engine):
    """Each has a state of its own; filters of groups after one do not remove these from its state."""
    given = rows_in_time(seed=11, count=40)

    def steps(start, **state):
        one = start.filter(expr("x IS NULL OR x > -5")).window(
            "k", "ts", **state, n=expr("row_number()"), s=expr("cum_sum(x)")
        )
        two = one.with_columns(y=expr("s * 2")).window(
            (), "ts", **state, z=expr("lag(y)"), r=expr("rolling_mean(f, 3)")
        )
        return two.filter(expr("k = 1")).select("ts", "k", "n", "s", "z", "r")

    t = source(given[:0])
    steps(t, state="keep").stage("result")
    found, stored = feed(pipeline.table("result"), days_of(given, [7, 20]), engine)
    steps(write_source(pipeline, "all_days", given)).stage("expected")
    assert_tables_equal(found, pipeline.run(engine="pandas", keep="expected")["expected"].to_arrow())
    assert sorted(stored) == ["stage 'result', step 2", "stage 'result', step 4"]


# Rows that come too late.


CLICKS = {"ts": "timestamp", "user": "int64", "x": "int64"}


def clicks(*rows):
    return table(
        CLICKS, *((None if minute is None else START + timedelta(minutes=minute), *rest) for minute, *rest in rows)
    )


CLICK_CALLS = {"n": "row_number()", "total": "cum_sum(x)"}


def test_a_late_row_is_an_error(source, engine):
    """It names the group, the row and the last one, and what to do."""
    steps = kept(source(clicks((0, 1, 1))), "user", calls=CLICK_CALLS)
    _, stored = feed(steps, [clicks((5, 1, 1), (9, 2, 1))], engine)
    source(clicks((6, 1, 1), (8, 2, 1)))
    with pytest.raises(RunFailed) as caught:
        run_day(steps.pipeline, engine, stored)
    assert str(caught.value) == (
        "stage 'result', step 1: a row comes before the last row of its group in the state of earlier runs: "
        "ts = 2024-01-01 00:08:00 in the group user = 2\n"
        "The last row of the state: ts = 2024-01-01 00:09:00\n"
        "Set late_rows: drop on the window to leave such rows out, or filter them in a step before.  To build the state "
        "anew from all rows of the sources, run with --full-refresh, with the late rows in their place."
    )


def test_a_row_at_the_time_of_the_last_one_is_not_late(source, engine):
    """It comes after those of earlier runs."""
    days = [clicks((5, 1, 1), (5, 1, 10)), clicks((5, 1, 100))]
    found, _ = feed(kept(source(days[0]), "user", calls=CLICK_CALLS), days, engine)
    assert sorted(found["total"].to_pylist()) == [1, 11, 111]


@LAYOUTS
def test_late_rows_are_dropped_and_counted(source, engine, options):
    """And rows without a time, from the first run on."""
    steps = kept(source(clicks((0, 1, 1))), "user", calls=CLICK_CALLS, late_rows="drop")
    rows, stored, warnings = run_day(steps.pipeline, engine, {}, options)
    assert warnings == []
    source(clicks((5, 1, 1), (9, 2, 1), (None, 1, 7)))
    rows, stored, warnings = run_day(steps.pipeline, engine, stored, options)
    assert warnings == [
        "stage 'result', step 1: 1 row was dropped that comes before the last row of the group's state, or without an "
        "order key (late_rows: drop)"
    ]
    source(clicks((1, 1, 100), (4, 1, 100), (5, 1, 2), (6, 1, 4), (8, 2, 100), (None, 2, 100), (9, 3, 1)))
    rows, stored, warnings = run_day(steps.pipeline, engine, stored, options)
    assert sorted(rows.select(["user", "n", "total"]).to_pylist(), key=str) == [
        {"user": 1, "n": 3, "total": 4}, {"user": 1, "n": 4, "total": 8}, {"user": 3, "n": 1, "total": 1},
    ]  # fmt: skip
    assert "4 rows were dropped that come before" in warnings[0]


def test_a_row_without_a_time_has_no_place(source, engine):
    """A later row would come before it."""
    steps = kept(source(clicks((0, 1, 1), (None, 1, 1))), "user", calls=CLICK_CALLS)
    with pytest.raises(RunFailed, match=r"a row has no order key: ts = None in the group user = 1\nFilter such rows"):
        run_day(steps.pipeline, engine, {})


def test_groups_are_forgotten_by_age(source, engine):
    """By the newest row of the state; a group that comes back starts anew."""
    steps = kept(source(clicks((0, 1, 1))), "user", calls=CLICK_CALLS, forget=timedelta(minutes=10))
    days = [clicks((0, 1, 1), (1, 2, 1), (10, 3, 1)), clicks((11, 2, 1)), clicks((12, 1, 1), (13, 2, 1)), clicks()]
    found, stored = feed(steps, days, engine)
    assert sorted(found.select(["user", "n"]).to_pylist(), key=str) == [
        {"user": 1, "n": 1}, {"user": 1, "n": 1}, {"user": 2, "n": 1}, {"user": 2, "n": 2}, {"user": 2, "n": 3}, {"user": 3, "n": 1},
    ]  # fmt: skip
    (state,) = stored.values()
    assert sorted(state.table["user"].to_pylist()) == [1, 2, 3]
    assert not [name for name in state.table.column_names if "newest" in name]


# What a pipeline may ask for.


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        ("lead(x)", "lead needs rows that come later in its group"),
        ("last(x)", "last needs rows that come later"),
        ("bfill(x)", "bfill needs rows that come later"),
        ("interpolate(x)", "interpolate needs rows that come later"),
        ("ntile(4)", "ntile needs rows that come later"),
        ("percent_rank()", "percent_rank needs rows that come later"),
        ("cume_dist()", "cume_dist needs rows that come later"),
        ("first(x, ignore_nulls => true)", "first needs the first row that fits, also where it comes later"),
        ("first(x) FILTER (WHERE x > 1)", "first needs the first row that fits"),
    ],
)
def test_functions_of_later_rows_are_refused(source, pipeline, call, needed):
    kept(source(rows_in_time(1, 4)), calls={"n": "row_number()", "y": call})
    with pytest.raises(InvalidPipeline, match="stage 'result', step 1: state: keep: " + needed.replace("(", r"\(")):
        pipeline.validate()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"late_rows": "drop"}, "late_rows is for a window with state: keep"),
        ({"forget": timedelta(days=1)}, "forget is for a window with state: keep"),
        ({"state": "keep", "forget": timedelta(0)}, "forget takes an interval above zero"),
        (
            {"state": "keep", "forget": timedelta(1), "order_by": "x"},
            "forget needs order_by to begin with an ascending date",
        ),
    ],
)
def test_options_that_do_not_fit(source, pipeline, options, message):
    options = {"order_by": "ts", **options}
    source(rows_in_time(1, 4)).window("k", n=expr("row_number()"), **options).stage("result")
    with pytest.raises(InvalidPipeline, match=message):
        pipeline.validate()


def test_columns_named_as_options(source, pipeline):
    """An expression is a column."""
    t = source(rows_in_time(1, 4)).window("k", "ts", state=expr("row_number()"), forget=expr("lag(x)"))
    assert pipeline.run(keep=[t.stage("r").named()], engine="pandas")["r"].to_arrow().column_names[-2:] == [
        "state",
        "forget",
    ]


# A state of another pipeline.


@pytest.fixture
def fed(source, pipeline):
    """A window with a state; returns it, and the rows."""
    t = source(clicks((0, 1, 1), (1, 2, 2)))
    pipeline.param("least", "int64", 0)
    pipeline.param("days", "int64", 2)
    steps = kept(t.filter(expr("x >= $least")), "user", calls={**CLICK_CALLS, "few": "rolling_sum(x, $days)"})
    _, stored, _ = run_day(pipeline, "pandas", {})
    return steps, stored


def test_parameters_and_other_columns_of_sources_may_change(fed, pipeline, source):
    """And the files, of course."""
    _, stored = fed
    source(clicks((2, 1, 4)).append_column("more", pa.array(["a"])))
    rows, _, _ = run_day(pipeline, "pandas", stored, params={"least": 3})
    assert rows["total"].to_pylist() == [5]


def test_a_parameter_of_the_window_itself_may_not_change(fed, pipeline):
    _, stored = fed
    with pytest.raises(InvalidPipeline) as caught:
        run_day(pipeline, "pandas", stored, params={"days": 3})
    assert without_place(str(caught.value)) == (
        "stage 'result', step 2: the window state of earlier runs is of another computation\n"
        "was: window column few = rolling_sum(x, 2): int64\n"
        "is: window column few = rolling_sum(x, 3): int64\n"
        "To build the state anew from all rows of the sources, run with --full-refresh, or undo the change."
    )


NESTED = {
    "t": "int64", "s": "struct<a: int64, b: list<string>>", "m": "map<string, int64>", "f": "list<float64>", "x": "int64",
}  # fmt: skip


@pytest.mark.part(12)
@LAYOUTS
@pytest.mark.parametrize("by", [["s", "f"], ["m"]], ids=["struct-and-list", "map"])
def test_groups_by_nested_keys_keep_state(source, pipeline, engine, options, by):
    one, other, same = {"a": None, "b": ["x", None]}, {"a": 1, "b": []}, {"a": 1, "b": []}
    rows = [
        (1, one, [("k", 1)], [0.0], 1), (2, None, None, None, 2), (3, other, [], [NAN], 3), (4, one, [("k", 1)], [-0.0], 4),
        (5, same, [], [NAN], 5), (6, None, None, None, 6), (7, one, [("k", None)], [0.0, None], 7), (8, same, [], [NAN], 8),
    ]  # fmt: skip
    given = table(NESTED, *rows)
    calls = {"n": "row_number()", "sum": "cum_sum(x)", "before": "lag(x)", "three": "rolling_sum(x, 2)"}
    found, stored = feed(kept(source(given[:0]), by, "t", calls), days_of(given, [0, 3, 4, 6]), engine, options)
    assert_tables_equal(found, whole(pipeline, given, by, "t", calls))
    (state,) = stored.values()
    assert state.lines[0].startswith("window by s: struct<" if "s" in by else "window by m: map<")


def test_late_rows_of_nested_groups(source, engine):
    """Of an order by a list the state has texts, which are not shown."""
    types = {"s": "struct<a: int64>", "l": "list<int64>", "x": "int64"}
    first, late = table(types, ({"a": 1}, [2], 1)), table(types, ({"a": 1}, [1, 5], 2))
    steps = kept(source(first), "s", "l desc nulls first", {"n": "row_number()"})
    found, _ = feed(steps, [first, late], engine)
    assert found["n"].to_pylist() == [1, 2]
    with pytest.raises(RunFailed) as caught:
        feed(steps, [late, first], engine)
    assert "in the state of earlier runs: l = [2] in the group s = {'a': 1}" in without_place(str(caught.value))
    assert "last row of the state" not in str(caught.value)

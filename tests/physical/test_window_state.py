"""Which windows take rows along from partition to partition in the place of an exchange."""

from datetime import datetime, timedelta
from math import inf

import pyarrow as pa
import pytest

from gpuetl import RunOptions, col, expr
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.memory_limits import HostMemory
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.physical.window_state import HANDLERS
from gpuetl.plan.graph import walk_graph
from gpuetl.run import planning
from gpuetl.run.planning import lowered
from plans import kept_plan, physical_lines
from tables import table, write_source

START = datetime(2024, 1, 1)
GROUP = 100
"""Rows of a partition."""


@pytest.fixture
def events(pipeline):
    """1,000 events in time order, a minute apart, in ten partitions; of 10 users and 100 items."""
    rows = range(1000)
    columns = {
        "ts": [START + timedelta(minutes=row) for row in rows],
        "user": [row * 7 % 10 for row in rows],
        "item": [row * 31 % 100 for row in rows],
        "x": [float(row) for row in rows],
        "late": [START + timedelta(minutes=row * 37 % 1000) for row in rows],
    }
    return write_source(pipeline, "events", pa.table(columns), row_group_size=GROUP)


def planned(steps, engine="pandas", **options):
    """Return the physical plan."""
    steps.stage(steps.pipeline.unused_name("result"))
    plan = kept_plan(steps.pipeline, steps.pipeline.plan().last_stages()[-1])
    return lowered(plan, RunOptions(partition_rows=GROUP, **options), engine)[0]


def windows_with_state(plan):
    """Return the stateful windows."""
    return [node for node in walk_graph(*plan.roots) if isinstance(node, StatefulWindow)]


def windowed(events, by="user", order_by="ts", **calls):
    return events.window(by, order_by, **{name: expr(call) for name, call in calls.items()})


def test_a_window_in_the_order_of_its_source_needs_no_exchange(events):
    """The plan says how many rows go along: of each of 10 users, and of null, the last one and that of a value."""
    plan = planned(windowed(events, n="row_number()", s="cum_sum(x)"))
    assert physical_lines(plan) == ["Read [10]", "Window [10]", "gather [1]"]
    assert [node.state_rows for node in windows_with_state(plan)] == [11 * 2]


@pytest.mark.parametrize(
    ("window", "carries"),
    [
        ({"by": "user", "s": "cum_sum(x)"}, True),
        ({"by": "item", "s": "cum_sum(x)"}, False),  # as many groups as a partition has rows
        ({"by": "x", "s": "cum_sum(x)"}, False),  # floats may be anything
        ({"by": "user", "order_by": "ts desc", "s": "cum_sum(x)"}, False),
        ({"by": "user", "order_by": "late", "s": "cum_sum(x)"}, False),
        ({"by": "user", "order_by": ["ts", "x"], "s": "cum_sum(x)"}, True),
        ({"by": "user", "s": "rolling_sum(x, interval '10 minutes')"}, True),
        ({"by": "user", "s": "rolling_sum(x, interval '2 hours')"}, False),  # 120 of 1,000 rows
        ({"by": "user", "s": "rolling_sum(x, 3)"}, True),
        ({"by": "user", "s": "rolling_sum(x, 30)"}, False),
        ({"by": "user", "s": "cum_sum(x)", "next": "lead(x)"}, False),  # later rows
        ({"by": "user", "s": "first(x, ignore_nulls => true)"}, False),  # a later row may have the first value
        ({"by": "user", "s": "first(x, only => false)"}, False),  # so may one that is wanted
        ({"by": "user", "s": "ewm_mean(x, alpha => 0.5)"}, False),  # rows are counted
        ({"by": "user", "s": "session_id(gap => interval '1 hour')"}, False),  # is the same however rows tie
    ],
)
def test_it_depends_on_order_groups_and_functions(events, window, carries):
    """What would be carried may be a quarter of a partition at most."""
    plan = planned(windowed(events, **window))
    assert bool(windows_with_state(plan)) is carries
    assert any(line.startswith("hash") for line in physical_lines(plan)) is not carries


def test_the_share_is_an_option_and_the_choice_has_a_name(events):
    """Of `--skip`."""
    steps = windowed(events, "item", s="cum_sum(x)")
    assert windows_with_state(planned(steps, carried_share=inf))
    assert not windows_with_state(planned(steps, carried_share=inf, skip_passes=("carry_windows",)))
    assert not windows_with_state(planned(steps, carried_share=inf, optimize=False))


def test_rows_that_memory_holds_several_times_over_are_exchanged(events, pipeline):
    """That is quicker; unless the user says what may be carried.  Without keys they would all have to be in one place."""
    windowed(events, s="cum_sum(x)").stage("keyed")
    windowed(events, (), s="cum_sum(x)").stage("whole")

    def explained(**options):
        text = pipeline.explain(options=RunOptions(partition_rows=GROUP, **options), engine="pandas")
        return text.count("window state of up to")

    assert explained(memory=1 << 30) == 1
    assert explained(memory=1 << 30, carried_share=0.25) == 2
    assert explained(memory=60_000) == 2


def test_on_a_gpu_rows_are_exchanged_that_half_of_the_host_s_memory_holds(events, monkeypatch):
    """What waits goes there, whatever the device has."""
    keyed = windowed(events, s="cum_sum(x)")
    monkeypatch.setattr(planning, "host_memory", lambda: HostMemory(available=1 << 30, total=1 << 30))
    assert not windows_with_state(planned(keyed, "cudf"))
    monkeypatch.setattr(planning, "host_memory", lambda: HostMemory(available=60_000, total=1 << 30))
    assert windows_with_state(planned(keyed, "cudf"))


def test_the_host_s_memory_is_asked_only_where_that_decides(events, monkeypatch):
    """It takes about a millisecond, which plans without such a window need not wait for."""
    monkeypatch.setattr(planning, "host_memory", lambda: pytest.fail("nobody needs to know"))
    planned(events.aggregate("user", n=expr("count(*)")), "cudf")
    planned(windowed(events, by="user", s="lead(x)"), "cudf")


def test_a_cluster_combines_the_window_states_of_partitions(events):
    """Without keys all rows would have to meet in one; with keys an exchange is quicker, unless the user asks."""
    keyed, whole = windowed(events, s="cum_sum(x)"), windowed(events, (), s="cum_sum(x)")
    assert not windows_with_state(planned(keyed, "dask"))
    assert windows_with_state(planned(keyed, "dask", carried_share=0.25))
    assert [node.combined for node in windows_with_state(planned(keyed, "dask", carried_share=3.0))] == [True]
    assert [node.combined for node in windows_with_state(planned(whole, "dask"))] == [True]
    assert [node.combined for node in windows_with_state(planned(whole, "pandas"))] == [False]


def test_the_window_states_of_all_partitions_are_combined_in_one_place(events):
    """So no more than a share of a partition; else partitions wait for each other, as the user wants none exchanged."""
    keyed = windowed(events, s="cum_sum(x)")
    assert [node.combined for node in windows_with_state(planned(keyed, "dask", carried_share=2.2))] == [True]
    assert [node.combined for node in windows_with_state(planned(keyed, "dask", carried_share=2.1))] == [False]


@pytest.mark.parametrize(
    ("call", "dtype", "values", "combined"),
    [
        ("cum_sum(x)", "int32", [1, 2], True),  # by its type, however many rows
        ("cum_sum(x)", "int64", [-(2**40), None], True),  # by the footers
        ("cum_sum(x)", "int64", [2**62, None], False),  # a partition's own sum may leave int64, and that of all not
        ("cum_sum(x) FILTER (WHERE x > 1)", "int64", [2**40, 1], True),
        ("cum_sum(x)", "uint32", [1, 2], True),
        ("cum_sum(x)", "float64", [1e300, 2.0], True),
        ("cum_sum(x)", "decimal(12, 2)", [1, 2], True),
        ("cum_sum(x)", "decimal(38, 2)", [1, 2], False),
        ("cum_prod(x)", "float64", [0.0, 2.0], False),  # zero times a partition's own infinity
        ("ewm_mean(x, half_life => interval '1 day')", "float64", [1.0, 2.0], True),
    ],
)
def test_the_window_state_of_a_partition_must_fit_its_type(pipeline, call, dtype, values, combined):
    """Where the sum of all rows does not."""
    rows = [(START + timedelta(minutes=row), values[row % 2]) for row in range(1000)]
    source = write_source(pipeline, "rows", table({"ts": "timestamp", "x": dtype}, *rows), row_group_size=GROUP)
    assert [
        node.combined for node in windows_with_state(planned(windowed(source, (), s=call), "dask", carried_share=1.0))
    ] == [combined]


def test_the_order_goes_through_filters_joins_and_windows(events, pipeline):
    """As long as rows stay in their partitions."""
    users = write_source(
        pipeline, "users", table({"id": "int64", "name": "string"}, *((i, f"n{i}") for i in range(10)))
    )
    steps = events.filter(col("x") > 5).join(users, {"user": "id"}, validate="many_to_one")
    steps = windowed(windowed(steps, s="cum_sum(x)"), "name", n="row_number()", b="lag(s)")
    plan = planned(steps, carried_share=inf)
    assert len(windows_with_state(plan)) == 2
    assert not any(line.startswith("hash") for line in physical_lines(plan))


def test_without_keys_rows_are_sorted_by_ranges_first(events):
    """Where they are not in order: no partition has to hold them all.  What depends on time may have null times then."""
    plan = planned(windowed(events, (), "late", n="row_number()", s="cum_sum(x)"))
    assert physical_lines(plan) == [
        "Read [10]", "sample late [1]", "range late [10]", "Sort [10]", "Window [10]", "gather [1]",
    ]  # fmt: skip
    assert windows_with_state(plan)[0].operation.presorted
    by_time = planned(windowed(events, (), "late", h="rolling_sum(x, interval '1 minute')"))
    assert physical_lines(by_time) == ["Read [10]", "gather [1]", "Window [1]"]


def test_a_sort_and_a_window_of_its_order_go_together(events):
    """Rows are exchanged once."""
    plan = planned(windowed(events.sort("x"), (), "x", n="row_number()"))
    assert [line for line in physical_lines(plan) if line.startswith(("range", "Window"))] == [
        "range x [10]",
        "Window [10]",
    ]


def test_every_function_has_window_state_or_is_known_to_need_other_rows():
    """Later ones, or all since one that is not known beforehand."""
    functions = {name for (kind, name), each in FUNCTIONS.items() if kind == "window" and not each.definition}
    assert functions - HANDLERS.keys() == {
        "rank", "percent_rank", "cume_dist", "ntile", "lead", "last", "bfill", "interpolate", "nth_value",
    }  # fmt: skip


def test_rows_of_one_group_stay_in_order(events):
    """A later sort by the same order finds its rows in it."""
    plan = planned(windowed(events, (), n="row_number()").sort("ts"))
    assert physical_lines(plan) == ["Read [10]", "Window [10]", "gather [1]"]


def test_the_explained_plan_shows_window_states(events, pipeline):
    """And that no rows are exchanged."""
    windowed(events, s="cum_sum(x)").stage("result")
    text = pipeline.explain(options=RunOptions(partition_rows=GROUP, memory=100_000), engine="pandas")
    assert "Window s = cum_sum(x) by user order by ts; window state of up to 22 rows for the next partition" in text
    assert "exchanges: 1 gather" in text

"""What partitions of a window carry on by themselves, combined: as though one had been computed after the other."""

from itertools import pairwise
from math import inf

import numpy as np
import pyarrow as pa
import pytest

from gpuetl import RunOptions, expr
from gpuetl.engines.registry import load_backend
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner, combined, own_state, through, window_with_state
from gpuetl.physical.nodes import Map
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.run.planning import lowered
from gpuetl.telemetry.recorder import Recorder
from gpuetl.testing import assert_tables_equal
from left_to_full import after
from plans import kept_plan
from stateful_windows import COMBINED, rows_in_time
from tables import INF, NAN, table, write_source

CALLS = {**COMBINED, "totals": "cum_sum(f)", "slow": "ewm_mean(x, half_life => 90000.0)"}


@pytest.fixture
def rows(pipeline):
    """Makes 60 rows in time order, 4 a row group, and returns them as a source's steps, and as a table."""

    def made(seed, **options):
        given = rows_in_time(seed, 60, **options)
        return write_source(pipeline, f"rows{seed}", given, row_group_size=4), given

    return made


@pytest.fixture
def computed(local_engine):
    """Computes a window side by side on partitions that end where it is told; returns how many rows each carries, too."""
    backend = load_backend(local_engine)

    def run(steps, given, ends):
        steps.stage("result")
        plan, _ = lowered(kept_plan(steps.pipeline, "result"), RunOptions(partition_rows=4, carried_share=inf), "dask")
        after, window, before = around(plan.kept["result"].source)
        bounds = [0, *ends, given.num_rows]
        tables = [given[start:end] for start, end in pairwise(bounds)]
        frames = [through(backend, before, backend.from_arrow(part)) for part in tables]
        carried = combined(backend, window.steps, [own_state(backend, window.steps, f) for f in frames[:-1]])
        found = []
        for place, frame in enumerate(frames):
            (own,) = window_with_state(
                backend, window.steps, frame, carried[place - 1 : place] if place else [], last=True
            )
            found.append(backend.to_arrow(through(backend, after, own)))
        return pa.concat_tables(found), list(map(backend.rows, carried)), window

    return run


def around(node):
    """Return the operations after a stateful window, it, and those before it, in the order of a run."""
    nodes = []
    while isinstance(node, Map):
        nodes.append(node)
        (node,) = node.inputs
    (place,) = (place for place, one in enumerate(nodes) if isinstance(one, StatefulWindow) and one.combined)
    after, before = nodes[:place], nodes[place + 1 :]
    return [one.operation for one in reversed(after)], nodes[place], [one.operation for one in reversed(before)]


def expected(steps):
    """Return what the oracle makes of all rows at once."""
    return steps.pipeline.run(engine="pandas", keep="result")["result"].to_arrow()


@pytest.mark.part(12)
@pytest.mark.parametrize("by", ["k", []])
@pytest.mark.parametrize("seed", after(2, range(4), "more seeds of random rows"))
def test_partitions_of_any_size_give_what_all_rows_do(rows, computed, by, seed):
    """None at all, too; the rows that are carried are no more than was planned."""
    source, given = rows(seed)
    ends = sorted(np.random.default_rng(seed).integers(0, 60, 7).tolist())
    steps = source.window(by, "ts", **{name: expr(call) for name, call in CALLS.items()})
    found, carried, window = computed(steps, given, ends)
    assert_tables_equal(found, expected(steps), what=f"partitions that end at {ends}")
    assert max(carried) <= window.state_rows


@pytest.mark.part(2)
@pytest.mark.parametrize("minutes", [1, 20])
def test_means_that_fade_of_any_values_at_times_that_tie(rows, computed, minutes):
    """Infinite ones, and NaN: the first value has a share in all later means, however little time has gone by."""
    source, given = rows(9, floats=[1.5, -2.0, INF, NAN, 0.0, -INF], minutes=minutes)
    source = source.window("k", "ts", m=expr(CALLS["recent"]), n=expr("ewm_mean(f, half_life => interval '1 day')"))
    found, _, _ = computed(source, given, range(3, 60, 3))
    assert_tables_equal(found, expected(source))


def test_by_hand(pipeline, computed):
    """Two groups in three partitions; b has no row in the second."""
    given = table({"t": "int64", "k": "string", "x": "int32"},
                  (1, "a", 1), (2, "b", 10), (3, "a", None), (4, "a", 2), (5, "b", 20), (6, "a", 4))  # fmt: skip
    calls = {"n": "row_number()", "sum": "cum_sum(x)", "before": "lag(x)", "two": "rolling_sum(x, 2)"}
    source = write_source(pipeline, "few", given, row_group_size=2)
    steps = source.window("k", "t", **{name: expr(call) for name, call in calls.items()})
    found, carried, _ = computed(steps, given, [2, 4])
    assert carried == [2, 2]  # of each group the last one, which has a value
    assert found.sort_by("t").select(["n", "sum", "before", "two"]).to_pylist() == [
        {"n": 1, "sum": 1, "before": None, "two": 1},
        {"n": 1, "sum": 10, "before": None, "two": 10},
        {"n": 2, "sum": None, "before": 1, "two": 1},
        {"n": 3, "sum": 3, "before": None, "two": 2},
        {"n": 2, "sum": 30, "before": 10, "two": 30},
        {"n": 4, "sum": 7, "before": 2, "two": 6},
    ]


def test_one_process_combines_window_states_of_a_plan_for_a_cluster(rows, local_engine):
    """One partition after another: what a plan says is what it gives, whoever runs it."""
    source, _ = rows(3)
    steps = source.window("k", "ts", **{name: expr(call) for name, call in CALLS.items()})
    steps.stage("result")
    plan, _ = lowered(kept_plan(steps.pipeline, "result"), RunOptions(partition_rows=4, carried_share=inf), "dask")
    backend = load_backend(local_engine)
    executor = LocalExecutor(Runner(backend, Recorder()), plan.roots)
    found = backend.to_arrow(next(executor.partitions(plan.kept["result"])))
    assert_tables_equal(found, expected(steps))

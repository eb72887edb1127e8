"""Which tasks a plan becomes."""

from collections import Counter
from datetime import datetime, timedelta
from math import inf

import pytest

pytest.importorskip("distributed")

from gpuetl import RunOptions, col, expr
from gpuetl.executors.dask import task_graph
from gpuetl.executors.dask.cluster_run import job_of
from gpuetl.executors.dask.packed_plan import nodes_of, pack_nodes
from gpuetl.executors.dask.task_graph import TaskGraph
from gpuetl.run import planning
from plans import kept_plan, lowered
from tables import table, write_source

ROWS = RunOptions(partition_rows=2)
START = datetime(2024, 1, 1)
CUDA = 'extern "C" __global__ void k(const long long* k, long long* y, long long n) {}'


@pytest.fixture
def t(pipeline):
    """Four rows."""
    return write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(4))))


@pytest.fixture
def small(pipeline):
    """Return a small table of one row group, by its name."""
    return lambda name: write_source(pipeline, name, table({"k": "int64", name: "int64"}, (0, 1), (1, 2)))


def tasks_of(plan):
    """Return the tasks of a plan."""
    nodes = nodes_of(plan)
    return TaskGraph(plan, nodes, job_of("run", "driver", "pandas", pack_nodes(nodes), RunOptions())).tasks


def verbs(pipeline, options=None):
    """Count the tasks of each kind."""
    return Counter(name.split()[0] for name, *_ in tasks_of(lowered(pipeline, options or RunOptions())))


def test_a_small_table_is_read_where_it_is_joined(pipeline, t, small):
    """A task costs some milliseconds, and who waits for it those again."""
    t.join(small("a").filter(col("a") > 1), "k").join(small("b"), "k").stage("joined")
    assert verbs(pipeline) == {"keep": 1}


def test_what_takes_long_or_has_many_readers_is_a_task(pipeline, t, small, monkeypatch):
    """Others read and compute it meanwhile."""
    t.join(small("a").filter(col("a") > 1), "k").stage("joined")
    assert verbs(pipeline, ROWS) == {"keep": 1, "compute": 3}  # the small one, and each partition joined to it
    monkeypatch.setattr(task_graph, "FEW_ROWS", 1)
    assert verbs(pipeline) == {"keep": 1, "compute": 1}


def test_a_user_s_kernel_is_a_task(pipeline, t, small):
    """It may take as long as it likes."""
    (pipeline.root / "k.cu").write_text(CUDA)
    (pipeline.root / "k.py").write_text("def k(k):\n    return {'y': k}\n")
    kernel = small("a").kernel(cuda="k.cu", entry="k", inputs="k", outputs={"y": "int64"}, reference="k.py:k")
    t.join(kernel, "k").stage("joined")
    assert verbs(pipeline) == {"keep": 1, "compute": 1}


def test_a_task_reads_so_many_small_tables_at_most(pipeline, t, small):
    """Beside each other or one for another; more would recurse, too."""
    deep = small("a")
    for number in range(20):
        deep = small(f"a{number}").join(deep, "k")
    t.join(deep, "k").stage("joined")
    assert verbs(pipeline) == {"keep": 1, "compute": 2}


def test_a_sample_is_not_taken_apart(pipeline, t):
    """Its two partitions are sampled, split by what the samples tell, and sorted; what is one piece goes as it is."""
    t.sort("k").stage("sorted")
    assert verbs(pipeline, ROWS) == {"split": 2 + 2, "take": 4, "compute": 2 + 1 + 2, "keep": 1}


def test_no_window_waits_for_another_one_s(pipeline):
    """Each partition says what it carries on, which one task combines: three partitions' rows, what two of them carry."""
    rows = [(START + timedelta(minutes=row), row) for row in range(6)]
    t = write_source(pipeline, "t", table({"ts": "timestamp", "x": "int64"}, *rows))
    t.window((), "ts", s=expr("cum_sum(x)")).stage("summed")
    options = RunOptions(partition_rows=2, carried_share=inf)
    plan, _ = planning.lowered(kept_plan(pipeline), options, "dask")
    tasks = tasks_of(plan)
    assert Counter(name.rsplit(" ", 1)[0] for name, *_ in tasks) == {
        "compute": 3, "window state": 2, "combine states": 1, "take combine states": 2, "window": 3, "take window": 3, "keep": 1,
    }  # fmt: skip
    waits_for = {key: {name.rsplit(" ", 1)[0] for name, *_ in task.dependencies} for key, task in tasks.items()}
    assert [waits_for[key] for key in tasks if key[0].startswith("window summed") and key[1]] == [
        {"compute", "take combine states"}
    ] * 2

"""Which tasks a plan becomes."""

from collections import Counter

import pytest

pytest.importorskip("distributed")

from gpuetl import RunOptions, col
from gpuetl.executors.dask import graph
from gpuetl.executors.dask.graph import TaskGraph
from gpuetl.executors.dask.packing import nodes_of, pack_nodes
from gpuetl.executors.dask.run import job_of
from plans import lowered
from tables import table, write_source

ROWS = RunOptions(partition_rows=2)
CUDA = 'extern "C" __global__ void k(const long long* k, long long* y, long long n) {}'


@pytest.fixture
def t(pipeline):
    """Four rows."""
    return write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(4))))


@pytest.fixture
def small(pipeline):
    """Return a small table of one row group, by its name."""
    return lambda name: write_source(pipeline, name, table({"k": "int64", name: "int64"}, (0, 1), (1, 2)))


def verbs(pipeline, options=None):
    """Count the tasks of each kind."""
    plan = lowered(pipeline, options or RunOptions())
    nodes = nodes_of(plan)
    tasks = TaskGraph(plan, nodes, job_of("run", "driver", "pandas", pack_nodes(nodes), RunOptions())).tasks
    return Counter(name.split()[0] for name, *_ in tasks)


def test_a_small_table_is_read_where_it_is_joined(pipeline, t, small):
    """A task costs some milliseconds, and who waits for it those again."""
    t.join(small("a").filter(col("a") > 1), "k").join(small("b"), "k").stage("joined")
    assert verbs(pipeline) == {"keep": 1}


def test_what_takes_long_or_has_many_readers_is_a_task(pipeline, t, small, monkeypatch):
    """Others read and compute it meanwhile."""
    t.join(small("a").filter(col("a") > 1), "k").stage("joined")
    assert verbs(pipeline, ROWS) == {"keep": 1, "compute": 3}  # the small one, and each partition joined to it
    monkeypatch.setattr(graph, "FEW_ROWS", 1)
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

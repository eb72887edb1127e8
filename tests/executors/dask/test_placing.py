"""Partitions that take the same table are worked on by all workers."""

import pytest

pytest.importorskip("distributed")

from distributed import get_task_stream, get_worker

from gpuetl import RunOptions, col, row_number
from gpuetl.executors.dask import task_graph, tasks
from gpuetl.executors.dask.results import place_tasks
from tables import table, write_source

ROWS = RunOptions(partition_rows=2)


@pytest.fixture
def joined(pipeline):
    """A table of four partitions that a small one is joined to."""
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(8))))
    names = write_source(pipeline, "names", table({"k": "int64", "name": "string"}, (0, "a"), (1, "b"), (2, "c")))
    t.join(names.filter(col("k") < 2), "k").stage("joined").write_parquet("out", "out")
    return pipeline


@pytest.fixture
def seen(monkeypatch):
    """Where partitions of the sink are computed; workers of these tests are in this process."""
    seen, computed = {}, tasks.run_fragment

    def noted(job, runner, fragment, arguments):
        verb, _, place = fragment.name.rpartition(", ")
        if "write" in verb:
            seen[int(place.rstrip(")"))] = get_worker().address
        return computed(job, runner, fragment, arguments)

    monkeypatch.setattr(tasks, "run_fragment", noted)
    return seen


def test_large_partitions_go_to_all_workers_neighbours_to_one(joined, cluster, seen, monkeypatch):
    """A scheduler would give all to the worker that has the small table."""
    monkeypatch.setattr(task_graph, "LARGE_ROWS", 2)
    joined.run(engine="dask", client=cluster, options=ROWS)
    first, second = sorted(cluster.nthreads())
    assert seen == {0: first, 1: first, 2: second, 3: second}


def test_workers_that_are_lost_leave_tasks_to_the_others(joined, cluster, seen, monkeypatch):
    """They had been there when the run began."""
    monkeypatch.setattr(task_graph, "LARGE_ROWS", 2)
    monkeypatch.setattr(
        "gpuetl.executors.dask.results.place_tasks",
        lambda all_, shares, _: place_tasks(all_, shares, ["tcp://127.0.0.1:1"]),
    )
    report = joined.run(engine="dask", client=cluster, options=ROWS).report
    assert report.sinks[0].rows == 6
    assert sorted(seen) == [0, 1, 2, 3]


def test_pieces_are_taken_where_they_were_cut(pipeline, cluster):
    """Dask would deal out nine tasks that take from three, and send all pieces of a partition with each."""
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(6))))
    t.window("k", "x", n=row_number()).stage("numbered").write_parquet("out", "out")
    with get_task_stream(client=cluster) as stream:
        assert pipeline.run(engine="dask", client=cluster, options=ROWS).report.sinks[0].rows == 6
    at = {task["key"]: task["worker"] for task in stream.data}
    cut = {index: at[name, index] for name, index, *_ in at if name.startswith("split")}
    taken = [(int(name.rpartition("-")[2]), worker) for (name, *_), worker in at.items() if name.startswith("take")]
    assert len(taken) == 9
    assert all(worker == cut[index] for index, worker in taken)


def test_small_partitions_go_where_the_scheduler_likes():
    """To move the table to another worker takes longer than to work on them."""
    given = {("t", 0): 1, ("t", 1): 2}
    (layer,) = place_tasks(given, {}, ["a", "b"]).layers.values()
    assert dict(layer) == given
    assert not layer.annotations

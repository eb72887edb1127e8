"""Exchanges of so many partitions that their pieces are no tasks: readers fetch them."""

import shutil
from collections import Counter
from dataclasses import replace
from math import inf
from types import SimpleNamespace

import pyarrow as pa
import pytest

pytest.importorskip("distributed")

from distributed import get_worker

from gpuetl import RunFailed, RunOptions, col, row_number
from gpuetl.executors.dask import fetching, job, tasks
from gpuetl.executors.dask.cluster_run import job_of
from gpuetl.executors.dask.packed_plan import nodes_of, pack_nodes
from gpuetl.executors.dask.task_graph import TaskGraph
from gpuetl.physical.nodes import Exchange
from gpuetl.testing import assert_tables_equal
from plans import lowered
from tables import table, write_source

ROWS = RunOptions(partition_rows=2, broadcast_bytes=0)


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Two pieces are too many."""
    monkeypatch.setattr(fetching, "MOST_PIECES", 1)


@pytest.fixture
def t(pipeline):
    """Twelve rows, texts and nulls among them."""
    rows = ((i % 5, None if i == 7 else i, f"text {i % 4}") for i in range(12))
    return write_source(pipeline, "t", table({"k": "int64", "x": "int64", "s": "string"}, *rows))


def numbered(t):
    """A window by key, which is exchanged."""
    return t.window("k", "x", n=row_number()).stage("numbered")


def test_tasks_grow_with_partitions_and_not_with_their_square(pipeline, t):
    """Six partitions: each is cut, says where, and is read; one task puts the places together."""
    numbered(t).filter(col("n") > 0).write_parquet("out", "out")
    plan = lowered(pipeline, ROWS)
    nodes = nodes_of(plan)
    made = TaskGraph(plan, nodes, job_of("run", "driver", "pandas", pack_nodes(nodes), RunOptions()))
    verbs = Counter(name.split()[0] for name, *_ in made.tasks)
    assert verbs == {"split": 6, "place": 6, "places": 1, "compute": 6, "write": 6, "keep": 1}
    assert sorted(made.pinned) == sorted(key for key in made.tasks if key[0].startswith("split"))
    assert not TaskGraph(plan, nodes, job_of("run", "driver", "pandas", b"", RunOptions()), fetches=False).pinned


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "steps",
    [
        numbered,
        lambda t: t.sort("x desc", "s"),
        lambda t: t.distinct("s", "k"),
        lambda t: t.join(t.aggregate("k", total=col("x").sum()), "k").window("s", "x", n=row_number()),
        lambda t: t.union(t).aggregate("s", m=col("x").median()),
    ],
)
def test_rows_are_those_of_one_process(pipeline, cluster, t, steps):
    """By hash and by ranges, one exchange after another, and two into one join."""
    steps(t).stage("result")
    got = pipeline.run(engine="dask", client=cluster, keep=["result"], options=ROWS)["result"].to_arrow()
    expected = pipeline.run(engine="pandas", keep=["result"])["result"].to_arrow()
    assert_tables_equal(got, expected)


def test_pieces_are_forgotten_when_they_have_come(pipeline, cluster, t, monkeypatch):
    """The tasks that cut them stay until the run ends."""
    left, forget = [], fetching.release

    def watched(worker, tasks, target):
        forget(worker, tasks, target)
        left.extend(tuple(worker.data[task]) for task in tasks)

    monkeypatch.setattr(fetching, "release", watched)
    numbered(t).write_parquet("out", "out")
    pipeline.run(engine="dask", client=cluster, options=ROWS)
    assert {len(each) for each in left} == {6}
    assert any(piece is None for each in left for piece in each)


def test_pieces_are_opened_again_where_memory_was_short(pipeline, cluster, t, monkeypatch):
    """A frame that was spilled takes memory when it is opened; until all are, none is let go."""
    failed, unwrapped = [], job.unwrapped

    def short(piece):
        if not failed and isinstance(piece, pa.Table) and piece.num_rows:
            failed.append(piece)
            raise MemoryError
        return unwrapped(piece)

    monkeypatch.setattr(job, "unwrapped", short)
    numbered(t).write_parquet("out", "out")
    report = pipeline.run(engine="dask", client=cluster, options=ROWS).report
    assert failed
    assert report.sinks[0].rows == 12
    assert not [note for note in report.notes if "begun again" in note]


def test_pieces_are_found_where_dask_has_moved_them(pipeline, cluster, t, monkeypatch):
    """As it does where a worker retires."""
    by_worker, asked, (first, second) = fetching.by_worker, [], cluster.nthreads()

    def misled(places):
        of = by_worker(places)
        asked.append(len(of))
        if isinstance(places, fetching.Places):
            return {first: of.get(second, []), second: of.get(first, [])}
        return of

    monkeypatch.setattr(fetching, "by_worker", misled)
    numbered(t).write_parquet("out", "out")
    report = pipeline.run(engine="dask", client=cluster, options=ROWS).report
    assert len(asked) == 6 * 3, "each reader asks by the places, then where they are, and lets go of them by the places"
    assert report.sinks[0].rows == 12
    assert not [note for note in report.notes if "begun again" in note]


def test_pieces_are_tasks_where_the_choice_is_left_out(pipeline, cluster, t, monkeypatch):
    """A lost worker's are then made again, and the run goes on."""
    monkeypatch.setattr(fetching, "pieces_here", None)
    numbered(t).write_parquet("out", "out")
    for options in (replace(ROWS, skip_passes=("fetch_pieces",)), replace(ROWS, optimize=False)):
        report = pipeline.run(engine="dask", client=cluster, options=options).report
        assert report.sinks[0].rows == 12
        shutil.rmtree(pipeline.root / "out")


def test_a_worker_that_does_not_know_how_to_give_has_nothing(pipeline, cluster, t, monkeypatch):
    """One that was started anew at the address of another: the run begins again, and ends with what is the matter."""
    monkeypatch.setattr(fetching, "serving_worker", get_worker)
    monkeypatch.setattr(tasks, "serving_worker", get_worker)
    for name in ("gpuetl_serve", "gpuetl_release"):
        cluster.run(lambda dask_worker, name=name: dask_worker.handlers.pop(name, None))
    numbered(t).write_parquet("out", "out")
    with pytest.raises(RunFailed, match="workers that others wanted rows from were lost 4 times"):
        pipeline.run(engine="dask", client=cluster, options=ROWS)


def test_what_workers_may_spill_is_left_to_tasks(pipeline, t):
    """A result is read back as a whole, for each of its pieces."""
    numbered(t)
    nodes = nodes_of(lowered(pipeline, ROWS))
    exchanges = [node for node in nodes if isinstance(node, Exchange)]
    size = max(fetching.estimated_bytes(exchange.source) for exchange in exchanges)
    for bytes_a_worker, stay in ((size, True), (size - 2, False), (inf, True)):
        client = SimpleNamespace(run=lambda *_, room=bytes_a_worker, **__: {"a": room, "b": inf})
        assert fetching.fit_in_memory(client, exchanges) == stay
    assert fetching.fit_in_memory(SimpleNamespace(), [])


def test_room_for_results_is_what_dask_spills_beyond():
    """Of dask's own buffer, of dask-cuda's for GPUs, and of results that stay."""
    buffer = SimpleNamespace(fast=SimpleNamespace(n=7))
    for data, expected in (({}, inf), (buffer, 7), (SimpleNamespace(device_buffer=buffer), 7)):
        assert fetching.result_memory(SimpleNamespace(data=data)) == expected


@pytest.mark.parametrize("times", [1, 1000])
def test_a_run_whose_pieces_are_lost_begins_again(pipeline, cluster, t, monkeypatch, times):
    """Some times: a worker may always be lost in the same task."""
    lost, held = [], fetching.pieces_here

    async def nowhere(worker, tasks):
        return []

    def without(worker, tasks, target):
        if len(lost) < times:
            lost.append(target)
            return {}
        return held(worker, tasks, target)

    monkeypatch.setattr(fetching, "pieces_here", without)
    monkeypatch.setattr(fetching, "locate", nowhere)
    numbered(t).write_parquet("out", "out")
    if times > 1:
        with pytest.raises(RunFailed, match="workers that others wanted rows from were lost 4 times"):
            pipeline.run(engine="dask", client=cluster, options=ROWS)
        assert not (pipeline.root / "out").exists()
        return
    report = pipeline.run(engine="dask", client=cluster, options=ROWS).report
    assert report.sinks[0].rows == 12
    assert {stage.name: stage.rows_in for stage in report.stages}["numbered"] == 12
    (note,) = (note for note in report.notes if "begun again" in note)
    assert note.startswith("a worker was lost that others wanted rows from: begun again (")

"""Sources read ahead: in which order, how far, and what becomes of errors, of clocks and of what nobody asks for."""

import threading
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace

import pytest

from gpuetl import Pipeline, RunFailed, RunOptions, col, expr
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.executors.ahead import THREADS, ReadAhead, scans_in_order
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner
from gpuetl.places.file_state import DatasetError
from gpuetl.report.html.page import page as report_page
from gpuetl.telemetry.recorder import Recorder
from gpuetl.units import duration
from plans import lowered
from tables import table, write_source


class WatchedBackend(PandasBackend):
    """Notes the row groups that are read, in which thread, and fails where it is told to."""

    def __init__(self, failing=None, error=None, times=1):
        self.reads, self.threads, self.failing, self.error, self.times = [], set(), failing, error, times
        self.read_one = threading.Semaphore(0)

    def read(self, read, groups):
        self.reads.append((read.dataset.name, groups[0].index))
        self.threads.add(threading.current_thread().name)
        self.read_one.release()
        if groups[0].index == self.failing and self.times:
            self.times -= 1
            raise self.error
        return super().read(read, groups)


@pytest.fixture
def pipeline(tmp_path):
    """Sources t of 3 row groups, u of 2 and one of 1."""
    pipeline = Pipeline("test", root=tmp_path)
    write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 2, i) for i in range(6))))
    write_source(pipeline, "u", table({"k": "int64", "y": "int64"}, *((i, i) for i in range(4))))
    write_source(pipeline, "one", table({"k": "int64", "z": "int64"}, (0, 0)))
    return pipeline


@contextmanager
def reading(pipeline, backend, options=None, most=1):
    """Return an executor that reads ahead, and the plan's roots."""
    physical = lowered(pipeline, options)
    runner = Runner(backend, Recorder())
    with ReadAhead(runner, physical.roots, most) as ahead:
        yield LocalExecutor(runner, physical.roots, ahead=ahead), physical.roots


def order(pipeline, options=None):
    scans = scans_in_order(lowered(pipeline, options).roots)
    return [(scan.read.dataset.name, index) for scan, index in scans]


NO_BROADCAST = RunOptions(partition_rows=2, broadcast_bytes=0)
T, U = [("t", 0), ("t", 1), ("t", 2)], [("u", 0), ("u", 1)]


def test_the_order_is_that_in_which_the_executor_asks(pipeline):
    """First what is broadcast, then the rows."""
    t, u = pipeline.table("t"), pipeline.table("u")
    t.join(u, "k").join(pipeline.table("one"), "k").stage("joined")
    assert order(pipeline) == [*U, ("one", 0), *T]
    assert order(pipeline, NO_BROADCAST) == [*T, *U, ("one", 0)]


def test_all_sources_are_read_at_once_where_there_is_memory(pipeline):
    """Before anything is asked for, by several threads; nothing is read twice."""
    t, u = pipeline.table("t"), pipeline.table("u")
    t.join(u, "k").join(pipeline.table("one"), "k").stage("joined")
    backend = WatchedBackend()
    with reading(pipeline, backend, most=6) as (executor, roots):
        for _ in range(6):
            assert backend.read_one.acquire(timeout=20)
        assert next(executor.partitions(roots[0])).to_pydict() == {
            "k": [0, 0, 0],
            "x": [0, 2, 4],
            "y": [0, 0, 0],
            "z": [0, 0, 0],
        }
    assert sorted(backend.reads) == [("one", 0), *T, *U]
    assert len(backend.threads) <= THREADS


@pytest.mark.parametrize("options", [None, NO_BROADCAST])
def test_reads_come_in_that_order_whatever_the_plan(pipeline, options):
    """Shared stages, unions and exchanges: nothing is read twice, or by another thread than the reader's."""
    t, u = pipeline.table("t"), pipeline.table("u")
    shared = t.filter(col("x") >= 0).stage("shared")
    shared.join(u, "k", "left").aggregate("k", s=col("x").sum()).stage("sums")
    shared.select("k").union(u.select("k"), shared.select("k")).aggregate(n=expr("count(*)")).stage("counted")
    backend = WatchedBackend()
    with reading(pipeline, backend, options) as (executor, roots):
        rows = [next(executor.partitions(root)).to_pydict() for root in roots]
    assert backend.reads == order(pipeline, options)
    assert len(backend.reads) == 5
    assert rows[1] == {"n": [16]}
    assert not +executor.readers


def test_one_partition_is_read_before_it_is_asked_for_and_no_more(pipeline):
    pipeline.table("t").filter(col("x") >= 0).write_parquet("out", "out")
    backend = WatchedBackend()
    with reading(pipeline, backend) as (executor, roots):
        parts = executor.partitions(roots[0])
        assert backend.reads == []
        for begun in (1, 2):
            next(parts)
            assert list(executor.scan.__self__.reading) == [begun]
        assert next(parts).to_pydict() == {"k": [0, 1], "x": [4, 5]}
    assert backend.reads == T


def test_an_error_is_reported_when_its_partition_is_asked_for(pipeline):
    """In the words in which it would be told otherwise."""
    pipeline.table("t").write_parquet("out", "out")
    with reading(pipeline, WatchedBackend(1, DatasetError("t is gone"))) as (executor, roots):
        parts = executor.partitions(roots[0])
        assert next(parts).num_rows == 2
        with pytest.raises(RunFailed, match=r"^source 't': t is gone$"):
            next(parts)


def test_what_does_not_fit_beside_others_is_read_alone(pipeline):
    """The thread tries twice; then the run does, and nothing is read ahead any more."""
    pipeline.table("t").write_parquet("out", "out")
    backend = WatchedBackend(1, MemoryError(), times=2)
    with reading(pipeline, backend) as (executor, roots):
        assert [part.num_rows for part in executor.partitions(roots[0])] == [2, 2, 2]
        assert not executor.scan.__self__.enough
    assert backend.reads == [("t", 0), ("t", 1), ("t", 1), ("t", 1), ("t", 2)]


def test_where_memory_runs_out_what_was_read_is_let_go_of(pipeline):
    """It is read again when it is asked for."""

    class FullBackend(WatchedBackend):
        def run(self, operation, *frames):
            if self.times:
                self.times -= 1
                for _ in range(2):  # the next partition is being read, too: what has not begun is not read at all
                    assert self.read_one.acquire(timeout=20)
                raise MemoryError
            return super().run(operation, *frames)

    pipeline.table("t").filter(col("x") >= 0).write_parquet("out", "out")
    backend = FullBackend()
    with reading(pipeline, backend) as (executor, roots):
        assert [part.num_rows for part in executor.partitions(roots[0])] == [2, 2, 2]
    assert backend.reads == [*T[:2], *T[1:]]


def test_a_run_that_ends_early_lets_go_of_what_was_read(pipeline):
    """What is being read is waited for."""
    pipeline.table("t").write_parquet("out", "out")
    with reading(pipeline, WatchedBackend()) as (executor, roots):
        next(executor.partitions(roots[0]))
        ahead = executor.scan.__self__
        begun = list(ahead.reading.values())
        assert begun
    assert not ahead.reading
    assert all(one.done() for one in begun)


def test_threads_stay_for_the_next_run_and_each_read_sets_them_up(pipeline):
    """Of a run on another device they work on that one."""
    pipeline.table("t").write_parquet("out", "out")
    threads, ready = set(), []
    for run in range(2):
        backend = WatchedBackend()
        backend.thread_setup = lambda run=run: lambda: ready.append(run)
        with reading(pipeline, backend) as (executor, roots):
            list(executor.partitions(roots[0]))
        threads |= backend.threads - {threading.current_thread().name}
        assert set(ready) == set(range(run + 1))
    assert threads
    assert len(threads) <= THREADS


def test_what_a_limit_may_leave_is_not_read(pipeline):
    pipeline.table("t").filter(col("x") >= 0).limit(1).stage("some")
    backend = WatchedBackend()
    with reading(pipeline, backend) as (executor, roots):
        next(executor.partitions(roots[0]))
    assert backend.reads == [("t", 0)]


@pytest.mark.parametrize("most", [1, 6])
def test_a_run_says_how_long_it_waited_for_sources_that_are_read_ahead(pipeline, monkeypatch, most):
    """For each partition, also one that is read when it is asked for; here the clock goes on whenever it is looked at."""
    clock = SimpleNamespace(perf_counter=count().__next__)
    monkeypatch.setattr("gpuetl.executors.ahead.time", clock)
    pipeline.table("t").join(pipeline.table("one"), "k", "left").write_parquet("out", "out")
    with reading(pipeline, PandasBackend(), most=most) as (executor, roots):
        list(executor.partitions(roots[0]))
    waited = {work.origin.name: work.waited for work in executor.runner.recorder.work.values() if work.name == "Read"}
    assert waited == {"t": 3, "one": 1 if most > 1 else None}


def test_the_report_says_how_long_a_run_waited_for_its_sources(pipeline):
    """Here all are read ahead: they are small.  The page has it beside the seconds of reading."""
    pipeline.table("t").join(pipeline.table("one"), "k", "left").stage("s")
    report = pipeline.run(engine="pandas", options=RunOptions(partition_rows=2)).report
    assert {stage.name: stage.waited is not None for stage in report.stages} == {"t": True, "one": True, "s": False}
    t = report.stages[0]
    page = report_page(report)
    for seconds in (t.seconds, t.waited):
        assert f'<td class="number">{duration(seconds)}</td>' in page

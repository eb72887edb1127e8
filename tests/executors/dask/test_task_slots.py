"""Tasks of a worker with a GPU side by side: one reads, one computes, and files of two are written."""

import threading
import weakref
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import pyarrow as pa
import pytest

pytest.importorskip("distributed")

from conftest import COMPILER, ON_CPU, workers_here
from gpuetl import RunOptions, col, row_number
from gpuetl.engines.registry import ENGINES, ClusterEngine
from gpuetl.executors.dask import cluster_sinks, task_slots, tasks
from gpuetl.executors.dask.job import TaskRunner
from gpuetl.executors.dask.task_slots import SlotCounts, TaskSlot
from tables import write_source

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
LONG = 20
"""Seconds that nothing here takes."""


class Scene:
    """What tasks of this process tell each other; they are sent to a worker by their names alone."""

    said: dict[str, threading.Event]


@pytest.fixture(autouse=True)
def scene(monkeypatch):
    """Nobody has said anything, and no task has a turn."""
    monkeypatch.setattr(task_slots, "SLOTS", SlotCounts())
    monkeypatch.setattr(Scene, "said", {}, raising=False)


@pytest.fixture
def worker():
    """The client of one worker in this process, with one thread."""
    with workers_here(1) as client:
        yield client


def say(what):
    """Say something."""
    Scene.said.setdefault(what, threading.Event()).set()


def heard(what, seconds=LONG):
    """Wait until something is said; tell whether it was."""
    return Scene.said.setdefault(what, threading.Event()).wait(seconds)


def task(name, *steps, is_concurrent=True, reads_ahead=True):
    """Do steps in turns: after each say that it is being done, and wait until that may end."""
    with TaskSlot(is_concurrent, reads_ahead) as slot:
        for step in steps:
            getattr(slot, step)()
            say(f"{name} {step}")
            if not heard(f"end {name} {step}"):
                return "waited in vain"
    return "done"


def begin(worker, name, *steps, **how):
    """Begin a task."""
    return worker.submit(task, name, *steps, **how, pure=False)


def end(name, *steps):
    """Let steps of a task end."""
    for step in steps:
        say(f"end {name} {step}")


def test_one_task_reads_while_another_computes_and_two_write(worker):
    """Each leaves the worker's one thread to the next."""
    tasks = [begin(worker, name, "read", "compute", "write") for name in "abcd"]
    end("a", "read", "compute")
    assert heard("a write")
    end("b", "read", "compute")
    assert heard("b write")
    end("c", "read")
    assert heard("c compute")
    assert heard("d read")
    assert not heard("d compute", 0.1)
    for name in "abcd":
        end(name, "read", "compute", "write")
    assert [each.result(timeout=LONG) for each in tasks] == ["done"] * 4


def test_two_write_at_a_time_and_one_computes(worker):
    """A third one waits, and with it who would compute."""
    tasks = [begin(worker, name, "write") for name in "abc"]
    computes = begin(worker, "d", "compute")
    assert heard("a write")
    assert heard("b write")
    assert not heard("c write", 0.1)
    assert not heard("d compute", 0.1)
    end("a", "write")
    assert heard("c write")
    assert heard("d compute")
    end("b", "write")
    end("c", "write")
    end("d", "compute")
    assert {each.result(timeout=LONG) for each in (*tasks, computes)} == {"done"}


def test_nothing_is_read_ahead_where_there_is_no_memory_for_it(worker):
    """Reading is a part of computing then."""
    first = begin(worker, "a", "read", reads_ahead=False)
    second = begin(worker, "b", "read", reads_ahead=False)
    assert heard("a read")
    assert not heard("b read", 0.1)
    end("a", "read")
    end("b", "read")
    assert {first.result(timeout=LONG), second.result(timeout=LONG)} == {"done"}


def test_a_task_that_shares_nothing_keeps_its_thread(worker):
    """As on a processor, and where memory is measured task by task."""
    first = begin(worker, "a", "read", "compute", "write", is_concurrent=False)
    second = begin(worker, "b", "read", is_concurrent=False)
    end("a", "read", "compute")
    assert heard("a write")
    assert not heard("b read", 0.1)
    end("a", "write")
    end("b", "read")
    assert {first.result(timeout=LONG), second.result(timeout=LONG)} == {"done"}


def test_who_computes_does_not_go_back_to_reading():
    """It reads as a part of that."""
    with TaskSlot(True, True) as slot:
        slot.compute()
        slot.read()
        assert slot.kind == "computing"
        assert task_slots.SLOTS.in_use["reading"] == 0
    assert task_slots.SLOTS.in_use["computing"] == 0


def test_room_is_made_when_files_are_written_and_the_one_that_computes_has_ended():
    """Who writes waits for nobody."""
    with ThreadPoolExecutor(3) as threads:
        writes = threads.submit(task, "a", "write", "make_room")
        assert heard("a write")
        end("a", "write")
        assert heard("a make_room")
        computes = threads.submit(task, "b", "compute")
        assert heard("b compute")
        reads = threads.submit(task, "c", "read", "make_room")
        end("c", "read")
        assert not heard("c make_room", 0.1)
        end("b", "compute")
        assert not heard("c make_room", 0.1)
        end("a", "make_room")
        assert heard("c make_room")
        end("c", "make_room")
        assert {each.result(LONG) for each in (writes, computes, reads)} == {"done"}


def test_who_makes_room_holds_others_up_until_it_has_computed():
    """What was freed is for it."""
    with ThreadPoolExecutor(3) as threads:
        computes = threads.submit(task, "a", "compute", "make_room")
        end("a", "compute")
        assert heard("a make_room")
        others = [threads.submit(task, "b", "read"), threads.submit(task, "c", "write")]
        assert not heard("b read", 0.1)
        assert not heard("c write", 0.1)
        end("a", "make_room")
        assert heard("b read")
        assert heard("c write")
        end("b", "read")
        end("c", "write")
        assert {each.result(LONG) for each in (computes, *others)} == {"done"}


def test_who_made_room_may_write():
    """Nobody holds itself up."""
    with TaskSlot(True, True) as slot:
        slot.compute()
        slot.make_room()
        slot.write()
        assert task_slots.SLOTS.exclusive is None
    assert not any(task_slots.SLOTS.in_use.values())


@pytest.fixture
def pieces(pipeline, cluster, monkeypatch):
    """Runs an exchange of the cudf engine's frames on workers without GPUs, in partitions of so many rows."""
    monkeypatch.setitem(ENGINES, "dask-on-cpu", ClusterEngine(ON_CPU, "distributed", ""))
    rows = pa.table({"k": [row % 3 for row in range(12)], "x": range(12)})
    t = write_source(pipeline, "t", rows, row_group_size=1)
    t.filter(col("x") >= 0).window("k", "x", n=row_number()).write_parquet("out", "out", mode="overwrite")

    def run(**options):
        report = pipeline.run(engine="dask-on-cpu", keep=[], options=RunOptions(**options)).report
        assert report.sinks[0].rows == 12
        return report

    return run


@pytest.fixture
def taken(monkeypatch):
    """The turns in which tasks do what."""
    found: defaultdict[str, set[str | None]] = defaultdict(set)

    def noted(name, do):
        def noted_do(runner, *given):
            found[name].add(runner.slot.kind)
            return do(runner, *given)

        return noted_do

    for name in ("scan", "split", "merge", "apply", "opened"):
        monkeypatch.setattr(TaskRunner, name, noted(name, getattr(TaskRunner, name)))
    monkeypatch.setattr(cluster_sinks, "write_frame", noted("write", cluster_sinks.write_frame))
    return found


@needs_compiler
@pytest.mark.parametrize(
    ("options", "scan", "compute", "write"),
    [
        ({"partition_rows": 2}, "reading", "computing", "writing"),
        ({"partition_rows": 6}, "computing", "computing", "writing"),
        ({"partition_rows": 2, "profile": True}, None, None, None),
        ({"partition_rows": 2, "memory": 1}, "computing", "computing", "writing"),
    ],
    ids=["several partitions a worker", "a partition a worker", "measured task by task", "no memory"],
)
def test_each_step_of_a_task_has_its_turn(pieces, taken, options, scan, compute, write):
    """Nothing is read ahead where nothing would come after it, nor where there is no memory for that."""
    pieces(**options)
    opened = {compute, write} if write else {None}
    steps = {name: {compute} for name in ("split", "merge", "apply")}
    assert dict(taken) == {"scan": {scan}, **steps, "opened": opened, "write": {write}}


def test_a_partition_that_was_split_is_gone_when_others_may_compute(monkeypatch):
    """Its pieces are what is left of it.  Without a worker: dask's profiler holds what a thread works with for a while."""
    partition, alive = type("Partition", (), {})(), []
    part = weakref.ref(partition)
    slot = SimpleNamespace(compute=lambda: None)
    opened = lambda origin, results: list(results)  # noqa: E731
    split = lambda node, index, frames: ["piece", *frames[1:]]  # noqa: E731

    @contextmanager
    def runner(name):
        yield SimpleNamespace(slot=slot, opened=opened, split=split)
        alive.append(part() is not None)

    node = SimpleNamespace(origin="stage")
    here = SimpleNamespace(runner=runner, exchange=lambda number: node, support=None)
    results = [[partition]]
    del partition
    monkeypatch.setattr(tasks, "run_fragment", lambda *given: results.pop())
    monkeypatch.setattr(tasks, "serving_worker", lambda: None)
    job, fragment = SimpleNamespace(opened=lambda: here), SimpleNamespace(name="split")
    assert tasks.split(job, fragment, 0, 0) == "piece"
    assert alive == [False]


@needs_compiler
def test_room_is_made_for_a_step_that_finds_no_memory(pieces, monkeypatch):
    """By the task's own turn."""
    made, apply, make_room = [], TaskRunner.apply, TaskSlot.make_room

    def short(self, node, index, frames):
        backend, once = self.backend, []

        def run(operation, *given):
            if not made and not once:
                once.append(True)
                raise MemoryError
            return type(backend).run(backend, operation, *given)

        with monkeypatch.context() as patched:
            patched.setattr(backend, "run", run, raising=False)
            return apply(self, node, index, frames)

    def noted(self):
        made.append(self.kind)
        return make_room(self)

    monkeypatch.setattr(TaskRunner, "apply", short)
    monkeypatch.setattr(TaskSlot, "make_room", noted)
    pieces(partition_rows=6)
    assert "computing" in made


def test_a_failure_gives_up_the_turn():
    """Others go on, also where threads are not dask's, which cannot be left."""

    def fail_to_write():
        with TaskSlot(True, True) as slot:
            slot.read()
            slot.compute()
            slot.write()
            raise OSError("no room")

    for _ in range(5):
        with pytest.raises(OSError, match="no room"):
            fail_to_write()
    assert not any(task_slots.SLOTS.in_use.values())

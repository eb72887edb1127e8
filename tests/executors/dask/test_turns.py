"""Tasks of a worker with a GPU side by side: one reads, one computes, and files of two are written."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("distributed")
from distributed import Client, LocalCluster

from conftest import NO_PAGES
from gpuetl.executors.dask import turns
from gpuetl.executors.dask.turns import Turn, Turns

LONG = 20
"""Seconds that nothing here takes."""


class Scene:
    """What tasks of this process tell each other; they are sent to a worker by their names alone."""

    said: dict[str, threading.Event]
    order: list[str]


@pytest.fixture(autouse=True)
def scene(monkeypatch):
    """Nobody has said anything, and no task has a turn."""
    monkeypatch.setattr(turns, "TURNS", Turns())
    monkeypatch.setattr(Scene, "said", {}, raising=False)
    monkeypatch.setattr(Scene, "order", [], raising=False)


@pytest.fixture
def worker():
    """The client of one worker in this process, with one thread."""
    options = {"processes": False, "threads_per_worker": 1, "memory_limit": 0, "scheduler_kwargs": NO_PAGES}
    with LocalCluster(n_workers=1, **options) as made, Client(made) as client:
        yield client


def say(what):
    """Say something."""
    Scene.said.setdefault(what, threading.Event()).set()


def heard(what, seconds=LONG):
    """Wait until something is said; tell whether it was."""
    return Scene.said.setdefault(what, threading.Event()).wait(seconds)


def task(name, *steps, shares=True, reads_ahead=True):
    """Do steps in turns: after each say that it is being done, and wait until that may end."""
    with Turn(shares, reads_ahead) as turn:
        for step in steps:
            getattr(turn, step)()
            Scene.order.append(f"{name} {step}")
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
    first = begin(worker, "a", "read", "compute", "write", shares=False)
    second = begin(worker, "b", "read", shares=False)
    end("a", "read", "compute")
    assert heard("a write")
    assert not heard("b read", 0.1)
    end("a", "write")
    end("b", "read")
    assert {first.result(timeout=LONG), second.result(timeout=LONG)} == {"done"}


def test_who_computes_does_not_go_back_to_reading():
    """It reads as a part of that."""
    with Turn(True, True) as turn:
        turn.compute()
        turn.read()
        assert turn.kind == "computing"
        assert turns.TURNS.taken["reading"] == 0
    assert turns.TURNS.taken["computing"] == 0


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


def test_a_failure_gives_up_the_turn():
    """Others go on, also where threads are not dask's, which cannot be left."""

    def fail_to_write():
        with Turn(True, True) as turn:
            turn.read()
            turn.compute()
            turn.write()
            raise OSError("no room")

    for _ in range(5):
        with pytest.raises(OSError, match="no room"):
            fail_to_write()
    assert not any(turns.TURNS.taken.values())

"""Things made ahead by threads: each once, waited for only by who asks."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from functools import partial

import pytest

from gpuetl.engines.cudf.codegen import compile_ahead as module
from gpuetl.engines.cudf.codegen.compile_ahead import CompilePool


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let there be one thread."""
    monkeypatch.setattr(module, "most_threads", lambda: 1)
    return None


def never() -> None:
    """Fail: this must not be called."""
    raise AssertionError("made twice")


def test_what_is_expected_is_made_once_and_had_by_who_asks() -> None:
    """Also where it is expected twice."""
    made: list[int] = []
    ahead = CompilePool()
    ahead.expect("k", lambda: made.append(1) or "value").result(10)
    ahead.expect("k", never)
    assert ahead.result("k", never) == "value"
    assert made == [1]


def test_what_was_not_expected_is_made_by_who_asks() -> None:
    """On its own thread."""
    assert CompilePool().result("k", threading.current_thread) is threading.current_thread()


@pytest.mark.usefixtures("one_thread")
def test_what_still_waits_for_a_thread_is_made_by_who_asks() -> None:
    """Nobody waits behind others' work."""
    ahead, go = CompilePool(), threading.Event()
    first = ahead.expect("slow", lambda: go.wait(10))
    ahead.expect("k", never)
    assert ahead.result("k", lambda: "here") == "here"
    go.set()
    assert first.result(10)


def test_half_of_the_threads_begin_with_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others keep the order; equal sizes do, too."""
    monkeypatch.setattr(module, "most_threads", lambda: 2)
    ahead, made = CompilePool(), dict[str, list[int]]()
    running, release = threading.Barrier(3), [threading.Semaphore(0), threading.Semaphore(0)]

    def begin() -> None:
        place = threading.current_thread().name[-1]
        made[place] = []
        running.wait(10)
        release[int(place) - 1].acquire(timeout=10)

    def make(number: int) -> None:
        made[threading.current_thread().name[-1]].append(number)

    busy = [ahead.expect(("busy", place), begin) for place in range(2)]
    running.wait(10)
    futures = [ahead.expect(number, partial(make, number), size) for number, size in enumerate([1, 1, 3, 2, 3])]
    release[1].release()
    wait(futures, 10)
    assert made["2"] == [2, 4, 3, 0, 1]
    release[0].release()
    wait(busy, 10)
    assert made["1"] == []


@pytest.mark.usefixtures("one_thread")
def test_one_thread_keeps_the_order() -> None:
    """Whatever the sizes are."""
    ahead, made, go = CompilePool(), list[int](), threading.Event()
    ahead.expect("busy", lambda: go.wait(10))
    futures = [ahead.expect(size, partial(made.append, size), size) for size in (1, 3, 2)]
    go.set()
    wait(futures, 10)
    assert made == [1, 3, 2]


def test_what_a_thread_is_at_is_waited_for() -> None:
    """It is not made beside it."""
    ahead, begun, go = CompilePool(), threading.Event(), threading.Event()
    ahead.expect("k", lambda: begun.set() or go.wait(10))
    assert begun.wait(10)
    threading.Timer(0.01, go.set).start()
    assert ahead.result("k", never) is True


def test_an_error_is_raised_where_it_is_asked_for() -> None:
    """The thread goes on."""
    ahead = CompilePool()
    ahead.expect("bad", lambda: 1 / 0)
    assert ahead.expect("good", lambda: 2).result(10) == 2
    with pytest.raises(ZeroDivisionError):
        ahead.result("bad", lambda: 1 / 0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_makes_what_it_asks_for_itself() -> None:
    """Its parent's threads are not there."""
    ahead, go = CompilePool(), threading.Event()
    ahead.expect("k", lambda: go.wait(10))
    process = os.fork()
    if process == 0:
        os._exit(0 if ahead.result("k", lambda: "own") == "own" else 1)
    go.set()
    assert os.waitpid(process, 0)[1] == 0


def test_a_process_that_ends_waits_for_what_threads_are_at_and_for_nothing_else() -> None:
    """What has not begun is never made; what is expected later is not either."""
    ahead, begun, go = CompilePool(), threading.Event(), threading.Event()
    running = ahead.expect("k", lambda: begun.set() or go.wait(10))
    assert begun.wait(10)
    threading.Timer(0.01, go.set).start()
    ahead.stop()
    assert running.done()
    assert ahead.expect("later", never).cancelled()
    assert ahead.result("later", lambda: "here") == "here"

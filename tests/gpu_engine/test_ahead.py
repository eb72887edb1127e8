"""Things made ahead by threads: each once, waited for only by who asks."""

import os
import threading
from collections.abc import Iterator

import pytest

from gpuetl.backends.cudf.gpu import ahead as module
from gpuetl.backends.cudf.gpu.ahead import Ahead


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
    ahead = Ahead()
    ahead.expect("k", lambda: made.append(1) or "value").result(10)
    ahead.expect("k", never)
    assert ahead.result("k", never) == "value"
    assert made == [1]


def test_what_was_not_expected_is_made_by_who_asks() -> None:
    """On its own thread."""
    assert Ahead().result("k", threading.current_thread) is threading.current_thread()


@pytest.mark.usefixtures("one_thread")
def test_what_still_waits_for_a_thread_is_made_by_who_asks() -> None:
    """Nobody waits behind others' work."""
    ahead, go = Ahead(), threading.Event()
    first = ahead.expect("slow", lambda: go.wait(10))
    ahead.expect("k", never)
    assert ahead.result("k", lambda: "here") == "here"
    go.set()
    assert first.result(10)


def test_what_a_thread_is_at_is_waited_for() -> None:
    """It is not made beside it."""
    ahead, begun, go = Ahead(), threading.Event(), threading.Event()
    ahead.expect("k", lambda: begun.set() or go.wait(10))
    assert begun.wait(10)
    threading.Timer(0.01, go.set).start()
    assert ahead.result("k", never) is True


def test_an_error_is_raised_where_it_is_asked_for() -> None:
    """The thread goes on."""
    ahead = Ahead()
    ahead.expect("bad", lambda: 1 / 0)
    assert ahead.expect("good", lambda: 2).result(10) == 2
    with pytest.raises(ZeroDivisionError):
        ahead.result("bad", lambda: 1 / 0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_makes_what_it_asks_for_itself() -> None:
    """Its parent's threads are not there."""
    ahead, go = Ahead(), threading.Event()
    ahead.expect("k", lambda: go.wait(10))
    process = os.fork()
    if process == 0:
        os._exit(0 if ahead.result("k", lambda: "own") == "own" else 1)
    go.set()
    assert os.waitpid(process, 0)[1] == 0


def test_a_process_that_ends_waits_for_what_threads_are_at_and_for_nothing_else() -> None:
    """What has not begun is never made; what is expected later is not either."""
    ahead, begun, go = Ahead(), threading.Event(), threading.Event()
    running = ahead.expect("k", lambda: begun.set() or go.wait(10))
    assert begun.wait(10)
    threading.Timer(0.01, go.set).start()
    ahead.stop()
    assert running.done()
    assert ahead.expect("later", never).cancelled()
    assert ahead.result("later", lambda: "here") == "here"

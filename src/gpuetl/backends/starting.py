"""The start of the GPU engine on a thread, while the main one reads and plans a pipeline.

Libraries are loaded and the context is opened mostly outside of the interpreter, which works on meanwhile.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any, Generic, TypeVar

Found = TypeVar("Found")
Step = Callable[[], object]


class Starting(Generic[Found]):
    """A search, and the steps that follow from what it found, on one thread.

    Whoever asks for the search's outcome gets its error, too.  A step that fails ends the thread, and its error is
    dropped.  Steps can be repeated, so the code that needs a step calls it again and gets the error there.
    """

    def __init__(self, search: Callable[[], Found], steps_of: Callable[[Found], Iterable[Step]]) -> None:
        self.search, self.steps_of = search, steps_of
        self.outcome: Future[Found] = Future()
        self.is_stopped = False
        self.thread = Thread(target=self._work, name="gpuetl-start", daemon=True)
        _BEGUN.append(self)
        self.thread.start()

    def found(self) -> Found:
        """Wait for the search; return what it found, or raise what it raised."""
        return self.outcome.result()

    def _work(self) -> None:
        try:
            self.outcome.set_result(self.search())
        except BaseException as error:
            self.outcome.set_exception(error)
            return
        with suppress(Exception):
            for step in self.steps_of(self.outcome.result()):
                if self.is_stopped:
                    return
                step()


_BEGUN: list[Starting[Any]] = []


def wait() -> None:
    """Wait until threads have done their steps."""
    for each in _BEGUN:
        each.thread.join()
    _BEGUN.clear()


def abandon() -> None:
    """Let the process end without waiting for threads: only for one that ends without being torn down."""
    _BEGUN.clear()


@atexit.register
def _at_exit() -> None:
    """Begin no further step, and wait for the current one: a library that is torn down meanwhile may crash."""
    for each in _BEGUN:
        each.is_stopped = True
    wait()

"""The start of the GPU engine on a thread, while the main one reads and plans a pipeline.

The driver opens the context and loads kernels without the interpreter, so the main thread works on meanwhile.  Imports
hold the interpreter, on whichever thread they are.  So the main thread lets the libraries' imports go first where what
follows them, the first use of the GPU, can then run next to its own imports.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from enum import IntEnum
from threading import Event, Thread
from typing import Any, Generic, TypeVar

Found = TypeVar("Found")
Step = Callable[[], object]


class Phase(IntEnum):
    """The phases of a start, in order."""

    LIBRARIES = 0
    """All imports are done."""
    POOL = 1
    """What the engine needs before its first operation is there."""
    WARM_UP = 2
    """What only makes the first operations faster is done."""


class Starting(Generic[Found]):
    """A search, and the steps that follow from what it found, on one thread.

    A caller that asks for the search's outcome gets its error, too.  A step that fails ends the thread, and its error
    is dropped.  Steps can be repeated, so the code that needs a step calls it again and gets the error there.
    """

    def __init__(
        self, search: Callable[[], Found], steps_of: Callable[[Found], Mapping[Phase, Iterable[Step]]]
    ) -> None:
        self.search, self.steps_of = search, steps_of
        self.outcome: Future[Found] = Future()
        self.ended = {phase: Event() for phase in Phase}
        self.is_stopped = False
        self.last = Phase.WARM_UP
        """Later phases are left out."""
        self.thread = Thread(target=self._work, name="gpuetl-start", daemon=True)
        _BEGUN.append(self)
        self.thread.start()

    def found(self) -> Found:
        """Wait for the search; return what it found, or raise what it raised."""
        return self.outcome.result()

    def stop(self) -> None:
        """Begin no further step."""
        self.is_stopped = True

    def _work(self) -> None:
        try:
            self.outcome.set_result(self.search())
        except BaseException as error:
            self.outcome.set_exception(error)
        else:
            with suppress(Exception):
                self._take_steps(self.steps_of(self.outcome.result()))
        for event in self.ended.values():
            event.set()

    def _take_steps(self, steps: Mapping[Phase, Iterable[Step]]) -> None:
        for phase, event in self.ended.items():
            for step in steps.get(phase, ()):
                if self.is_stopped or phase > self.last:
                    return
                step()
            event.set()


_BEGUN: list[Starting[Any]] = []


def wait(phase: Phase = Phase.POOL) -> None:
    """Wait until threads have done their steps of this phase and of those before, or have failed."""
    for each in _BEGUN:
        each.ended[phase].wait()


def abandon() -> None:
    """Let the process end without waiting for threads: only for one that ends without being torn down."""
    _BEGUN.clear()


@atexit.register
def _at_exit() -> None:
    """Begin no further step, and wait for the current one: a library that is torn down meanwhile may crash."""
    for each in _BEGUN:
        each.stop()
    for each in _BEGUN:
        each.thread.join()

"""Partitions of a run handed over to another thread, one after another, while the run goes on.

A run computes a partition and hands it over, as it does to a sink, and then it waits until there is room.  Whoever
takes partitions may stop at any time: that ends the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition, Thread, current_thread
from typing import Generic, TypeVar

from gpuetl.engines.interface import Backend, Frame
from gpuetl.errors import OutOfMemory, RunFailed
from gpuetl.memory_limits import is_out_of_memory, let_go

T = TypeVar("T")
Result = TypeVar("Result")
SMALLER = (
    "Some partitions were handed over before, so the run does not begin again with smaller ones.  Make all smaller: "
    "RunOptions(partition_rows=…)."
)


class HandoverClosed(BaseException):
    """Nobody takes partitions any more: the run ends.  No part of a run takes it for an error of its own."""


class Handover(Generic[T]):
    """Holds partitions between a run and one that takes them.

    Parameters
    ----------
    convert
        Makes of a frame what is handed over, in the thread of the run.
    in_flight
        As many partitions are held at most, with the one that is in use.  The run computes one more meanwhile.
    """

    def __init__(self, convert: Callable[[Backend, Frame], T], in_flight: int) -> None:
        self.convert, self.in_flight = convert, in_flight
        self.changed = Condition()
        self.waiting: deque[T] = deque()
        self.held = self.count = 0
        self.in_use = self.is_closed = self.has_ended = False
        self.error: BaseException | None = None
        self.thread: Thread | None = None

    # The run.

    def take(self, backend: Backend, frame: Frame) -> None:
        """Hand a partition over as soon as there is room; raise `HandoverClosed` where nobody takes it."""
        with self.changed:
            self.changed.wait_for(lambda: self.held < self.in_flight or self.is_closed)
            self.check_open()
            self.held += 1
        converted = self.convert(backend, frame)
        with self.changed:
            self.waiting.append(converted)
            self.count += 1
            self.changed.notify_all()

    def check_open(self, origin: object = None, done: int = 0, of: int = 0) -> None:
        """Raise `HandoverClosed` in the thread of the run if nobody takes partitions any more: the run's progress."""
        if self.is_closed and current_thread() is self.thread:
            raise HandoverClosed

    def execute(self, step: Callable[[], Result]) -> Result:
        """Execute a plan; an error of memory is final once a partition was handed over.

        Other partitions could have other rows, so a plan that begins again would hand over some rows twice.
        """
        try:
            return step()
        except Exception as error:
            if not self.count or not (isinstance(error, OutOfMemory) or is_out_of_memory(error)):
                raise
            let_go(error)
            failed = error if isinstance(error, OutOfMemory) else OutOfMemory.during("run", str(error))
        assert failed.problem is not None
        raise RunFailed.at(failed.origin, failed.problem.message, SMALLER)

    def end(self, error: BaseException | None = None) -> None:
        """Say that no partition follows, because of an error if there is one."""
        with self.changed:
            self.has_ended, self.error = True, error
            self.changed.notify_all()

    # The one that takes partitions.

    def next(self) -> T:
        """Return the next partition, and give back the one before; wait for it.

        Raises
        ------
        StopIteration
            After the last one.
        BaseException
            What ended the run.
        """
        self.give_back()
        with self.changed:
            self.changed.wait_for(lambda: bool(self.waiting) or self.has_ended)
            if self.waiting:
                self.in_use = True
                return self.waiting.popleft()
            error, self.error = self.error, None
        if error is not None:
            raise error
        raise StopIteration

    def give_back(self) -> None:
        """Let the run go on: the last partition is not used any more."""
        with self.changed:
            self.held -= self.in_use
            self.in_use = False
            self.changed.notify_all()

    def close(self) -> None:
        """Take no more partitions, and let go of those that wait."""
        with self.changed:
            self.is_closed = True
            self.waiting.clear()
            self.changed.notify_all()

"""Programs compiled on threads before they are asked for, each once."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from threading import Condition, Thread
from typing import Any, NamedTuple
from weakref import WeakSet

# Things made on threads before they are asked for, each once.


MOST_THREADS = 16
THREAD_NAME = "gpuetl-ahead"
Make = Callable[[], Any]


class PendingTask(NamedTuple):
    """What waits for a thread; `size` says how long it takes compared with others."""

    size: int
    future: Future[Any]
    make: Make


class CompilePool:
    """Threads that make what is expected: every other one in that order, those between the largest first.

    What is expected last may take longest, and who asks for it would wait.  So it begins early, while the other threads
    make what is asked for first.

    What is asked for while it waits for a thread is made by who asks; what a thread is at is waited for.  An error is
    that of who asks: where nobody does, nobody hears of it.  A process that ends waits for what threads are at, and for
    no more: NVRTC crashes where its library is torn down meanwhile.
    """

    def __init__(self, begin_thread: Callable[[], object] = int) -> None:
        self.begin_thread = begin_thread
        self.reset()
        _EVERY.add(self)

    def reset(self) -> None:
        """Begin anew: a process that was forked has none of the threads."""
        self.changed = Condition()
        self.expected: dict[Hashable, Future[Any]] = {}
        self.waiting: list[PendingTask] = []
        self.threads = 0
        self.stopped = False

    def expect(self, key: Hashable, make: Make, size: int = 0) -> Future[Any]:
        """Let a thread make something, unless it has been expected before; return what will hold it."""
        with self.changed:
            if key in self.expected:
                return self.expected[key]
            future = self.expected[key] = Future[Any]()
            if self.stopped:
                future.cancel()
                return future
            self.waiting.append(PendingTask(size, future, make))
            if self.threads < most_threads():
                largest = self.threads % 2 == 1
                self.threads += 1
                name = f"{THREAD_NAME}-{self.threads}"
                Thread(target=self._work, args=(largest,), name=name, daemon=True).start()
            self.changed.notify()
        return future

    def result(self, key: Hashable, make: Make) -> Any:
        """Return what was expected, or make it here where no thread has begun to; raise what making it raises."""
        future = self.expected.get(key)
        if future is None or future.cancel():
            return make()
        try:
            return future.result()
        finally:
            if future.done():
                self.expected.pop(key, None)

    def stop(self) -> None:
        """Begin nothing more, and wait for what threads are at."""
        with self.changed:
            self.stopped = True
            begun = [future for future in self.expected.values() if not future.cancel()]
        wait(begun)

    def _next(self, largest: bool) -> PendingTask:
        with self.changed:
            self.changed.wait_for(lambda: self.waiting)
            places = range(len(self.waiting))
            return self.waiting.pop(max(places, key=lambda place: self.waiting[place].size) if largest else 0)

    def _work(self, largest: bool) -> None:
        self.begin_thread()
        while True:
            _, future, make = self._next(largest)
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)


_EVERY: WeakSet[CompilePool] = WeakSet()


def _after_fork() -> None:
    for each in _EVERY:
        each.reset()


@atexit.register
def _at_exit() -> None:
    for each in _EVERY:
        each.stop()


os.register_at_fork(after_in_child=_after_fork)


def most_threads() -> int:
    """Return how many threads there may be: the processors that this process may use, but no more than 16."""
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))

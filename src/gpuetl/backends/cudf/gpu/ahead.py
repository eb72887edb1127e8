"""Things made on threads before they are asked for, each once."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any
from weakref import WeakSet

MOST_THREADS = 16
THREAD_NAME = "gpuetl-ahead"
Make = Callable[[], Any]


class Ahead:
    """Daemon threads that make what is expected, in that order; nobody waits for them when the process ends.

    What is asked for while it waits for a thread is made by who asks; what a thread is at is waited for.  An error is
    that of who asks: where nobody does, nobody hears of it.
    """

    def __init__(self, begin_thread: Callable[[], object] = int) -> None:
        self.begin_thread = begin_thread
        self.reset()
        _EVERY.add(self)

    def reset(self) -> None:
        """Begin anew: a process that was forked has none of the threads."""
        self.lock = Lock()
        self.expected: dict[Hashable, Future[Any]] = {}
        self.queue: SimpleQueue[tuple[Future[Any], Make]] = SimpleQueue()
        self.threads = 0

    def expect(self, key: Hashable, make: Make) -> Future[Any]:
        """Let a thread make something, unless it has been expected before; return what will hold it."""
        with self.lock:
            if key in self.expected:
                return self.expected[key]
            future = self.expected[key] = Future[Any]()
            if self.threads < most_threads():
                self.threads += 1
                Thread(target=self._work, name=f"{THREAD_NAME}-{self.threads}", daemon=True).start()
        self.queue.put((future, make))
        return future

    def result(self, key: Hashable, make: Make) -> Any:
        """Return what was expected, or make it here where no thread has begun to; raise what making it raises."""
        with self.lock:
            future = self.expected.pop(key, None)
        return make() if future is None or future.cancel() else future.result()

    def _work(self) -> None:
        queue = self.queue
        self.begin_thread()
        while True:
            future, make = queue.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)


_EVERY: WeakSet[Ahead] = WeakSet()


def _after_fork() -> None:
    for each in _EVERY:
        each.reset()


os.register_at_fork(after_in_child=_after_fork)


def most_threads() -> int:
    """Return how many threads there may be: the processors that this process may use, but no more than 16."""
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))

"""Things made on threads before they are asked for, each once."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any
from weakref import WeakSet

MOST_THREADS = 16
THREAD_NAME = "gpuetl-ahead"
Make = Callable[[], Any]


class Ahead:
    """Threads that make what is expected, in that order.

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
        self.lock = Lock()
        self.expected: dict[Hashable, Future[Any]] = {}
        self.queue: SimpleQueue[tuple[Future[Any], Make]] = SimpleQueue()
        self.threads = 0
        self.stopped = False

    def expect(self, key: Hashable, make: Make) -> Future[Any]:
        """Let a thread make something, unless it has been expected before; return what will hold it."""
        with self.lock:
            if key in self.expected:
                return self.expected[key]
            future = self.expected[key] = Future[Any]()
            if self.stopped:
                future.cancel()
            elif self.threads < most_threads():
                self.threads += 1
                Thread(target=self._work, name=f"{THREAD_NAME}-{self.threads}", daemon=True).start()
        self.queue.put((future, make))
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
        with self.lock:
            self.stopped = True
            begun = [future for future in self.expected.values() if not future.cancel()]
        wait(begun)

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


@atexit.register
def _at_exit() -> None:
    for each in _EVERY:
        each.stop()


os.register_at_fork(after_in_child=_after_fork)


def most_threads() -> int:
    """Return how many threads there may be: the processors that this process may use, but no more than 16."""
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))

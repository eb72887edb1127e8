"""A plan's programs compiled while its run begins: listed on a thread, compiled on others, each once."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Condition, Event, Thread
from typing import Any, NamedTuple
from weakref import WeakSet

from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.engines.interface import ALONE, Share
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.telemetry.trace import best_effort, span

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


# A plan's programs compiled while its run begins: listed on a thread, compiled by the machine on others.


CATEGORY = "compilation"
MOST_WAIT_S = 10.0
_LISTED: WeakSet[Event] = WeakSet()
"""One for each list that is made: it is set at the end of the list, while programs may still be compiled."""
_ENDING = Event()


def expect_programs(physical: PhysicalPlan, plan: str, machine: Machine, share: Share = ALONE) -> None:
    """Let a machine expect a plan's programs, listed on a thread by the choices that are made here.

    A process that is not alone begins with its share.  Then it takes the others' programs, most of which are in the
    cache by that time.  Only traces show what goes wrong: the run compiles what it asks for.
    """
    set_up, listed = machine.thread_setup(), Event()

    def expect() -> None:
        with best_effort("programs of a plan were not listed", CATEGORY), setting(listed):
            from gpuetl.engines.cudf.codegen.plan_programs import PlanWalk

            set_up()
            walk = PlanWalk(physical)
            sources = while_running(walk.sources(), listed)
            machine.expect(plan, sources if share == ALONE else own_first(list(sources), share))
            for sentence in walk.missing:
                with span(f"not listed: {sentence}", CATEGORY):
                    pass

    thread = Thread(target=partial(copy_context().run, expect), name="gpuetl-programs", daemon=True)
    _LISTED.add(listed)
    thread.start()


@contextmanager
def setting(event: Event) -> Iterator[None]:
    """Set an event at the end of the block, also where it fails."""
    try:
        yield
    finally:
        event.set()


def while_running(sources: Iterable[KernelSource], listed: Event) -> Iterator[KernelSource]:
    """Yield sources and set `listed` behind them; raise `RuntimeError` where the process ends meanwhile."""
    for text in sources:
        if _ENDING.is_set():
            raise RuntimeError("the process ends")
        yield text
    listed.set()


def own_first(sources: list[KernelSource], share: Share) -> list[KernelSource]:
    """Return sources in another order: those of a process's share, then the others; all processes list alike."""
    own = sources[share.place :: share.of]
    return [*own, *(text for place, text in enumerate(sources) if place % share.of != share.place)]


@atexit.register
def end_listing() -> None:
    """Let threads stop at their next node, and wait for that: Arrow crashes where the interpreter is torn down.

    What they compile is not waited for here: see `codegen/compile_ahead.py`.
    """
    _ENDING.set()
    for listed in list(_LISTED):
        listed.wait(MOST_WAIT_S)

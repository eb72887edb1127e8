"""Results in order, which threads compute ahead: what is read of the files of a store while others are decoded.

A request takes 10 to 100 ms, whatever its size, so threads make many of them at a time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Generic, TypeVar

from gpuetl.records import dataclass

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 32
AHEAD_BYTES = 128 << 20
"""Bytes that may be there, or under way, before they are asked for; the next items are, whatever their bytes."""
LARGEST_BATCH = 16
"""Small items that one thread reads one after another: to hand over an item takes 50 µs."""
SMALL_BYTES = 1 << 20
BATCHES_AHEAD = 2 * THREADS


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What a function returned or raised."""

    value: Result | None = None
    error: Exception | None = None

    def result(self) -> Result:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


def results_ahead(
    function: Callable[[Item], Result], items: Sequence[Item], size_of: Callable[[Item], int]
) -> Iterator[Callable[[], Result]]:
    """Yield for each item, in order, what returns `function` of it, or raises its error, computed by threads.

    `size_of` returns the bytes that a result holds.  They count until the next item is asked for.
    """
    if len(items) == 1:
        yield lambda: function(items[0])
        return
    waiting, held = batches_of([(item, size_of(item)) for item in items]), 0
    under_way: deque[tuple[Future[list[Outcome[Result]]], int]] = deque()
    try:
        while waiting or under_way:
            while waiting and (not under_way or (held < AHEAD_BYTES and len(under_way) < BATCHES_AHEAD)):
                batch = waiting.popleft()
                begun = threads().submit(copy_context().run, outcomes_of, function, batch.items)
                under_way.append((begun, batch.size))
                held += batch.size
            future, size = under_way.popleft()
            for outcome in future.result():
                yield outcome.result
            held -= size
    finally:
        for future, _ in under_way:
            future.cancel()


@dataclass
class Batch(Generic[Item]):
    """Items that one thread takes one after another, and the bytes of their results."""

    items: list[Item]
    size: int = 0


def batches_of(items: Sequence[tuple[Item, int]]) -> deque[Batch[Item]]:
    """Return items, each with its bytes, in order: one alone, or small ones together where there are many."""
    most = max(1, min(LARGEST_BATCH, len(items) // BATCHES_AHEAD))
    batches: deque[Batch[Item]] = deque()
    for item, size in items:
        if not batches or len(batches[-1].items) >= most or batches[-1].size + size > SMALL_BYTES:
            batches.append(Batch([]))
        batches[-1].items.append(item)
        batches[-1].size += size
    return batches


def outcomes_of(function: Callable[[Item], Result], batch: Sequence[Item]) -> list[Outcome[Result]]:
    """Return what a function returns or raises for each item."""
    found = list[Outcome[Result]]()
    for item in batch:
        try:
            found.append(Outcome(function(item)))
        except Exception as error:
            found.append(Outcome(error=error))
    return found


@cache
def threads() -> ThreadPoolExecutor:
    """Return the threads that read ahead, for all runs of the process."""
    return ThreadPoolExecutor(THREADS, "gpuetl-ahead")


os.register_at_fork(after_in_child=threads.cache_clear)

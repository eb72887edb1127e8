"""Work in threads, and how many: pyarrow and NumPy let go of the interpreter in their loops."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from threading import current_thread
from typing import TypeVar

import pyarrow as pa

Item = TypeVar("Item")
Result = TypeVar("Result")
THREAD_NAME = "gpuetl-operation"


def thread_count() -> int:
    """Return how many threads work at once: as many as Arrow uses, which OMP_NUM_THREADS says, or the processors."""
    return int(pa.cpu_count())


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], threads: int = 0) -> list[Result]:
    """Return `function` of each item, in order, computed on `threads` threads, by default `thread_count`.

    The first error in the order of the items is raised.  Called inside itself, it runs in the thread that it is in:
    waiting there for others could wait for ever.
    """
    items = list(items)
    if len(items) < 2 or current_thread().name.startswith(THREAD_NAME):
        return [function(item) for item in items]
    futures = [_pool(threads or thread_count()).submit(copy_context().run, function, item) for item in items]
    wait(futures)  # also where one fails: the others would go on, and hold what they work on
    return [future.result() for future in futures]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, THREAD_NAME)


os.register_at_fork(after_in_child=_pool.cache_clear)  # a process that is forked has none of the threads

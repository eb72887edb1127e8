"""Work in threads, for what NumPy and Arrow do outside of Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], arguments: Iterable[T]) -> list[R]:
    """Return `function` of each argument, in order; one argument is not worth a thread."""
    jobs = list(arguments)
    threads = min(len(jobs), int(pa.cpu_count()))
    if threads < 2:
        return [function(job) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, jobs))

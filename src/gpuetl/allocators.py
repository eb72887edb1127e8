"""The allocators of the host, for runs with a limit: memory that is freed goes back to the system.

Allocators keep what is freed for later: Arrow's mimalloc keeps tens of megabytes a thread, and glibc keeps freed arrays
of up to 32 MB in its heaps.  That is quick, and exceeds a limit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import pyarrow as pa

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3)."""
RETURNED_BYTES = 1 << 18
"""Allocations from this size are mappings of their own, which go back to the system."""
KEPT_BYTES = 32 << 20
"""What glibc comes to by itself in a process that frees large arrays."""


class _Runs:
    """The runs with a limit that are under way, and the pool that Arrow had before the first of them."""

    def __init__(self) -> None:
        self.lock, self.count, self.pool = Lock(), 0, pa.default_memory_pool()

    def begin(self) -> None:
        """Count one more; the first changes the allocators."""
        with self.lock:
            self.count += 1
            if self.count == 1:
                self.pool = pa.default_memory_pool()
                pa.set_memory_pool(pa.system_memory_pool())
                set_thresholds(RETURNED_BYTES)

    def end(self) -> None:
        """Count one less; the last changes the allocators back."""
        with self.lock:
            self.count -= 1
            if not self.count:
                pa.set_memory_pool(self.pool)
                set_thresholds(KEPT_BYTES)


RUNS = _Runs()


@contextmanager
def returned_when_freed() -> Iterator[None]:
    """Have Arrow and NumPy give freed memory back to the system while the block lasts; blocks may overlap."""
    RUNS.begin()
    try:
        yield
    finally:
        RUNS.end()


def set_thresholds(size: int) -> None:
    """Tell glibc which allocations are mappings of their own, and how much free heap it keeps."""
    if libc := glibc():
        libc.mallopt(M_MMAP_THRESHOLD, size)
        libc.mallopt(M_TRIM_THRESHOLD, size)


def release_free_memory() -> None:
    """Give back to the system what Arrow's pools and malloc keep."""
    for pool in (pa.default_memory_pool(), RUNS.pool):
        pool.release_unused()
    trim()


def trim() -> None:
    """Give back to the system what malloc keeps: small pieces of freed tables between others that are still used."""
    if libc := glibc():
        libc.malloc_trim(0)


@cache
def glibc() -> Any:
    """Return the C library where it is glibc, else None."""
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None
    except OSError:
        return None

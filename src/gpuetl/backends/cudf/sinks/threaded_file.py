"""A file that threads write at known places while the device goes on.

The system lets one thread at a time write to a file by calls, so more than a few help only where several files are
written.  A file that is written alone is mapped to memory, which all threads fill at once.
"""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpuetl.backends.cudf.sinks.pieces import Piece, chunks, total_bytes

Store = Callable[[Any, int], None]
"""Puts a NumPy array of bytes at an offset of a file."""
WriteChunk = Callable[[Store, int, Sequence[Piece]], None]
"""Stores pieces, one behind another, from an offset on."""
FillChunk = Callable[[Any, int, Sequence[Piece]], None]
"""Fills parts of arrays with the bytes of host memory, one behind another, from an offset on."""
Chunks = deque[tuple[int, list[Piece]]]
THREADS_BY_CALLS = 2
"""Of a file: one waits for its copy while the other one writes."""


@dataclass(frozen=True)
class Writers:
    """What copies between device and host: so many threads, each with memory for so many bytes.

    `begin` is called when pieces are handed over: it marks what the device has been given to do, and returns what a
    thread does with each chunk.  `begin_filling` does so for the way back.
    """

    executor: Executor
    threads: int
    chunk_bytes: int
    begin: Callable[[], WriteChunk]
    begin_filling: Callable[[], FillChunk]


class HandedOver(NamedTuple):
    """The pieces of one call: what no thread has begun yet, and the threads."""

    left: Chunks
    futures: list[Future[None]]


class ThreadedFile:
    """A file descriptor, and what threads are still to write to it."""

    def __init__(self, descriptor: int, alone: bool, writers: Writers) -> None:
        self.descriptor, self.alone, self.writers = descriptor, alone, writers
        self.in_flight: list[HandedOver] = []

    def write(self, offset: int, pieces: Sequence[Piece]) -> None:
        """Hand pieces to the threads, when those of all calls but the last are written."""
        self.finish(1)
        store = mapped(self.descriptor, offset, total_bytes(pieces)) if self.alone else partial(pwrite, self.descriptor)
        work = partial(self.writers.begin(), store)
        left: Chunks = deque(chunks(offset, pieces, self.writers.chunk_bytes))
        threads = min(len(left), self.writers.threads if self.alone else THREADS_BY_CALLS)
        futures = [self.writers.executor.submit(drain, left, work) for _ in range(threads)]
        self.in_flight.append(HandedOver(left, futures))

    def finish(self, most: int = 0) -> None:
        """Wait until the pieces of no more than so many calls are left; raise `OSError` where one cannot be written."""
        while len(self.in_flight) > most:
            for future in self.in_flight[0].futures:
                future.result()
            del self.in_flight[0]

    def abandon(self) -> None:
        """Wait for the threads, of which nothing more is wanted: none may write to a descriptor that is closed."""
        for call in self.in_flight:
            call.left.clear()
        wait([future for call in self.in_flight for future in call.futures])


@contextmanager
def threaded_file(path: Path, alone: bool, writers: Writers) -> Iterator[ThreadedFile]:
    """Open a new file; at the end of the block all is written, and the file is closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    file = ThreadedFile(descriptor, alone, writers)
    try:
        yield file
        file.finish()
    finally:
        file.abandon()
        os.close(descriptor)


def drain(left: Chunks, work: Callable[[int, Sequence[Piece]], None]) -> None:
    """Take chunk after chunk until none is left; other threads take them too."""
    while left:
        try:
            chunk = left.popleft()
        except IndexError:  # another thread took the last one
            return
        work(*chunk)


def pwrite(descriptor: int, data: Any, offset: int) -> None:
    """Write bytes by calls; the system may take fewer at a time."""
    left = memoryview(data)
    while left:
        written = os.pwrite(descriptor, left, offset)
        left, offset = left[written:], offset + written


def mapped(descriptor: int, offset: int, size: int) -> Store:
    """Return what stores into a mapping of a part of a file.

    The part gets its room before: where a disk is full, that is an `OSError`, and a store would be a SIGBUS.
    """
    os.posix_fallocate(descriptor, offset, size)
    start = offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    memory = np.frombuffer(mmap.mmap(descriptor, offset + size - start, offset=start), np.uint8)

    def store(data: Any, at: int) -> None:
        np.copyto(memory[at - start : at - start + len(data)], data)  # without the lock of the interpreter

    return store

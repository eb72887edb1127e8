"""A file that threads write at known places while the device goes on.

The system lets one thread at a time write to a file by calls, so more than a few help only where several files are
written.  A file that is written alone is mapped to memory, which all threads fill at once.
"""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpuetl.engines.cudf.sinks.pieces import Piece, chunks, piece_bytes
from gpuetl.records import dataclass

Store = Callable[[Any, int], None]
"""Puts a NumPy array of bytes at an offset of a file."""
Chunk = tuple[int, Piece]
"""A part of what is written, and its offset in the file."""
WriteChunks = Callable[[Store, Iterator[Chunk]], None]
"""Stores chunk after chunk."""
FillChunks = Callable[[Any, Iterator[Chunk]], None]
"""Fills chunk after chunk, parts of arrays, with host memory from their offset on."""
THREADS_BY_CALLS = 1
"""Of each call for a file: those of different files, and two calls for one, overlap."""


@dataclass(frozen=True)
class Writers:
    """What copies between device and host: so many threads, each with memory for so many bytes.

    `begin` is called when pieces are handed over: it marks what the device has been given to do, and returns what a
    thread does with the chunks that it takes.  `begin_filling` does so for the way back.
    """

    executor: Executor
    threads: int
    chunk_bytes: int
    begin: Callable[[], WriteChunks]
    begin_filling: Callable[[], FillChunks]


class HandedOver(NamedTuple):
    """The chunks of one call: those that no thread has taken yet, and the threads."""

    left: deque[Chunk]
    futures: list[Future[None]]


class ThreadedFile:
    """A file descriptor, and what threads are still to write to it."""

    def __init__(self, descriptor: int, alone: bool, writers: Writers) -> None:
        self.descriptor, self.alone, self.writers = descriptor, alone, writers
        self.in_flight: list[HandedOver] = []

    def write(self, offset: int, piece: Piece) -> None:
        """Hand a piece to the threads, when those of all calls but the last are written."""
        self.finish(1)
        store = mapped(self.descriptor, offset, piece_bytes(piece)) if self.alone else partial(pwrite, self.descriptor)
        work = self.writers.begin()
        left = deque(chunks(offset, piece, self.writers.chunk_bytes))
        threads = min(len(left), self.writers.threads if self.alone else THREADS_BY_CALLS)
        futures = [self.writers.executor.submit(work, store, taken(left)) for _ in range(threads)]
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


def taken(left: deque[Chunk]) -> Iterator[Chunk]:
    """Take chunk after chunk until none is left; other threads take them too."""
    while True:
        try:
            yield left.popleft()
        except IndexError:
            return


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

"""A file that threads write at known places while the device goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from pathlib import Path

from gpuetl.backends.cudf.sinks.pieces import Piece, chunks

WriteChunk = Callable[[int, int, Sequence[Piece]], None]
"""Writes pieces, one behind another, to a file descriptor from an offset on."""


class ThreadedFile:
    """A file descriptor, and what threads are still to write to it.

    Parameters
    ----------
    descriptor
        Where they write.
    threads
        That write, chunk by chunk.
    chunk_bytes
        The most that a thread writes at once.
    begin
        Called when pieces are handed over: marks what the device has been given to do, and returns what the threads
        do with each chunk.
    """

    def __init__(self, descriptor: int, threads: Executor, chunk_bytes: int, begin: Callable[[], WriteChunk]) -> None:
        self.descriptor, self.threads, self.chunk_bytes, self.begin = descriptor, threads, chunk_bytes, begin
        self.in_flight: list[list[Future[None]]] = []

    def write(self, offset: int, pieces: Sequence[Piece]) -> None:
        """Hand pieces to the threads, when those of all calls but the last are written."""
        self.finish(1)
        write_chunk, submit = self.begin(), self.threads.submit
        calls = [submit(write_chunk, self.descriptor, *chunk) for chunk in chunks(offset, pieces, self.chunk_bytes)]
        self.in_flight.append(calls)

    def finish(self, most: int = 0) -> None:
        """Wait until the pieces of no more than so many calls are left; raise `OSError` where one cannot be written."""
        while len(self.in_flight) > most:
            for future in self.in_flight[0]:
                future.result()
            del self.in_flight[0]

    def abandon(self) -> None:
        """Wait for the threads, of which nothing more is wanted: none may write to a descriptor that is closed."""
        futures = [future for call in self.in_flight for future in call]
        wait([future for future in futures if not future.cancel()])


@contextmanager
def threaded_file(
    path: Path, threads: Executor, chunk_bytes: int, begin: Callable[[], WriteChunk]
) -> Iterator[ThreadedFile]:
    """Open a new file; at the end of the block all is written, and the file is closed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    file = ThreadedFile(descriptor, threads, chunk_bytes, begin)
    try:
        yield file
        file.finish()
    finally:
        file.abandon()
        os.close(descriptor)


def write_all(descriptor: int, data: memoryview, offset: int) -> None:
    """Write bytes at a place of a file; the system may take fewer at a time."""
    while data:
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written

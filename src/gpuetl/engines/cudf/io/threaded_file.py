"""A file that threads write at known places while the device goes on, from pieces on the host and on the device."""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.places.filesystem import OpenFile
from gpuetl.records import dataclass

# What a file is put together from: bytes on the host, and parts of arrays on the device.


class Span(NamedTuple):
    """So many bytes of a contiguous array, from a byte of it on."""

    array: Array
    start: int
    size: int


Piece: TypeAlias = bytes | Span


def piece_bytes(piece: Piece) -> int:
    """Return a piece's size."""
    return piece.size if isinstance(piece, Span) else len(piece)


def total_bytes(pieces: Iterable[Piece]) -> int:
    """Return the size of pieces one after another."""
    return sum(map(piece_bytes, pieces))


def chunks(offset: int, piece: Piece, most: int) -> Iterator[tuple[int, Piece]]:
    """Yield the parts of a piece that lies at an offset, of up to so many bytes, each with its own offset."""
    size = piece_bytes(piece)
    for start in range(0, size, most):
        yield offset + start, cut(piece, start, min(most, size - start))


def cut(piece: Piece, start: int, size: int) -> Piece:
    """Return so many bytes of a piece."""
    if isinstance(piece, Span):
        return Span(piece.array, piece.start + start, size)
    return piece[start : start + size]


# Pieces put side by side in device memory, as they are to lie in a file: threads then copy many bytes by one call.
#
# Each call of a thread needs the interpreter, for which others wait; a pass over device memory takes a hundredth of
# the
# time that writing takes.


UNIT = 16
"""Bytes that a thread stores, as in device/assembly.cuh."""


def assembled(pieces: Sequence[Piece], machine: Machine) -> Span:
    """Return pieces, one behind another, in device memory; those of the host go there in one copy."""
    arrays = machine.arrays
    heads = arrays.asarray(np.frombuffer(b"".join(piece for piece in pieces if isinstance(piece, bytes)), np.uint8))
    table = np.array(places_of(pieces, machine.address(heads), machine), np.int64).T.copy()
    np.cumsum(table[1], out=table[1])
    total = int(table[1, -1])
    whole = arrays.empty(total, "uint8")
    arguments: list[Any] = [-(-total // UNIT), len(pieces), total, arrays.asarray(table), whole]
    machine.launch(machine.closed("pages"), "assemble", arguments[0], arguments)
    return Span(whole, 0, total)


def places_of(pieces: Sequence[Piece], heads: int, machine: Machine) -> list[tuple[int, int]]:
    """Return the address and the size of each piece; those of the host lie one behind another from `heads` on."""
    places, addresses = list[tuple[int, int]](), dict[int, int]()  # many pieces are of one array
    for piece in pieces:
        if isinstance(piece, bytes):
            places.append((heads, len(piece)))
            heads += len(piece)
        else:
            array, start, size = piece
            address = addresses.get(id(array))
            if address is None:
                address = addresses[id(array)] = machine.address(array)
            places.append((address + start, size))
    return places


# A file that threads write at known places while the device goes on.
#
# The system lets one thread at a time write to a file by calls, so more than a few help only where several files are
# written.  A file that is written alone is mapped to memory, which all threads fill at once.


Store = Callable[[Any, int], None]
"""Puts a NumPy array of bytes at an offset of a file."""
Chunk = tuple[int, Piece]
"""A part of what is written, and its offset in the file."""
WriteChunks = Callable[[Store, Iterator[Chunk]], None]
"""Stores chunk after chunk."""
Load = Callable[[NDArray[np.uint8], int], None]
"""Fills host memory with the bytes that begin at an offset."""
FillChunks = Callable[[Load, Iterator[Chunk]], None]
"""Loads chunk after chunk, parts of arrays, from their offset on."""
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


# Arrays copied between the device and any host memory, by the threads that write files, through their pinned memory.
#
# The device reaches memory that is not pinned at a seventh of the link's rate.


LEAST_CHUNK = 1 << 20
"""What is worth a thread: the host finds pages for new memory slower than it copies, but on several threads at once."""
PAGE = 4096


def copy_to_host(arrays: Sequence[Array], memory: NDArray[Any], threads: Writers) -> None:
    """Copy contiguous arrays into host memory (bytes), one behind another, and wait for that."""

    def store(data: Any, offset: int) -> None:
        np.copyto(memory[offset : offset + len(data)], data)

    with copied_chunks(arrays, partial(threads.begin(), store), threads) as copies:
        copies.wait()


def copy_from_host(memory: NDArray[Any], arrays: Sequence[Array], threads: Writers) -> None:
    """Fill contiguous arrays, which lie one behind another in host memory (bytes), and wait for that."""

    def load(data: NDArray[np.uint8], offset: int) -> None:
        np.copyto(data, memory[offset : offset + len(data)])

    with copied_chunks(arrays, partial(threads.begin_filling(), load), threads) as copies:
        copies.wait()


def begin_reading(source: OpenFile, start: int, array: Array, threads: Writers) -> Copies:
    """Begin to fill a contiguous array with the bytes of a file from a place on.

    Threads read and copy; the caller waits for them, or abandons what is left, before the file is closed.
    """

    def load(data: NDArray[np.uint8], offset: int) -> None:
        source.read_into(data.data, start + offset)

    return copied_chunks([array], partial(threads.begin_filling(), load), threads)


class Copies:
    """Chunks that threads copy; as a context, none of them is at any when it ends, by an interrupt too."""

    def __init__(self, left: deque[Chunk], futures: Sequence[Future[None]]) -> None:
        self.left, self.futures = left, futures

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, *error: object) -> None:
        self.abandon()

    def wait(self) -> None:
        """Wait until all is copied; raise what a thread raised."""
        wait(self.futures)
        for future in self.futures:
            future.result()

    def abandon(self) -> None:
        """Copy no more chunks, and wait for the threads."""
        self.left.clear()
        wait(self.futures)


def copied_chunks(arrays: Sequence[Array], work: Callable[[Iterator[Chunk]], None], threads: Writers) -> Copies:
    """Let threads take chunk after chunk of arrays."""
    sizes = [int(array.nbytes) for array in arrays]
    starts = accumulate(sizes, initial=0)
    share = -(-sum(sizes) // (threads.threads * PAGE)) * PAGE
    size = min(threads.chunk_bytes, max(LEAST_CHUNK, share))
    spans = [(start, Span(array, 0, size)) for start, array, size in zip(starts, arrays, sizes, strict=False)]
    left = deque(chunk for start, span in spans for chunk in chunks(start, span, size))
    return Copies(left, [threads.executor.submit(work, taken(left)) for _ in range(min(len(left), threads.threads))])

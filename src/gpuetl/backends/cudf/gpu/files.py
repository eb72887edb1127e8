"""Files written from device memory: by threads, each with a stream and pinned memory of its own.

A thread copies some MiB to pinned memory, waits for the copy, and writes it at its place.  Writing takes ten times as
long as copying, so while some threads copy the others write.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import local
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from gpuetl.backends.cudf.sinks.pieces import Piece, Span, piece_bytes

THREADS = 16
CHUNK_BYTES = 4 << 20
_THREAD = local()


class GpuFile:
    """A file descriptor, and what threads are still to write to it: the pieces of two calls at most."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.in_flight: list[list[Future[None]]] = []

    def write(self, offset: int, pieces: Sequence[Piece]) -> None:
        """Hand pieces to the threads, whose copies wait for what the current stream has been given."""
        self.finish(1)
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record()
        submit = writers(cupy.cuda.Device().id).submit
        self.in_flight.append([submit(write_chunk, self.descriptor, *chunk, ready) for chunk in chunks(offset, pieces)])

    def finish(self, most: int = 0) -> None:
        """Wait until the pieces of no more than so many calls are left; raise `OSError` where one cannot be written."""
        while len(self.in_flight) > most:
            for future in self.in_flight[0]:
                future.result()
            del self.in_flight[0]

    def abandon(self) -> None:
        """Wait for the threads, for which nothing more is to do: they must not write to a descriptor that is closed."""
        futures = [future for call in self.in_flight for future in call]
        wait([future for future in futures if not future.cancel()])


@contextmanager
def written_file(path: Path) -> Iterator[GpuFile]:
    """Open a new file; at the end of the block all is written, and the file is closed."""
    file = GpuFile(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666))
    try:
        yield file
        file.finish()
    finally:
        file.abandon()
        os.close(file.descriptor)


@cache
def writers(device: int) -> ThreadPoolExecutor:
    """Return the process's threads for a device."""
    return ThreadPoolExecutor(THREADS, "gpuetl-write", begin_thread, (device,))


def begin_thread(device: int) -> None:
    """Give a thread its stream and its pinned memory."""
    cupy.cuda.Device(device).use()
    _THREAD.stream = cupy.cuda.Stream(non_blocking=True)
    _THREAD.pinned = cupy.cuda.alloc_pinned_memory(CHUNK_BYTES)
    _THREAD.view = np.frombuffer(_THREAD.pinned, np.uint8, CHUNK_BYTES)


def chunks(offset: int, pieces: Sequence[Piece]) -> Iterator[tuple[int, list[Piece]]]:
    """Yield places in the file and what goes there, as much as a thread's memory holds."""
    held: list[Piece] = []
    room = CHUNK_BYTES
    for piece in pieces:
        done, size = 0, piece_bytes(piece)
        while done < size:
            part = min(room, size - done)
            held.append(cut(piece, done, part))
            done, room = done + part, room - part
            if not room:
                yield offset, held
                offset, held, room = offset + CHUNK_BYTES, [], CHUNK_BYTES
    if held:
        yield offset, held


def cut(piece: Piece, start: int, size: int) -> Piece:
    """Return so many bytes of a piece."""
    if isinstance(piece, Span):
        return Span(piece.array, piece.start + start, size)
    return piece[start : start + size]


def write_chunk(descriptor: int, offset: int, pieces: Sequence[Piece], ready: Any) -> None:
    """Copy pieces to the thread's memory and write them."""
    stream, view = _THREAD.stream, _THREAD.view
    stream.wait_event(ready)
    at = 0
    for piece in pieces:
        size = piece_bytes(piece)
        if isinstance(piece, Span):
            source, target = piece.array.data.ptr + piece.start, view.ctypes.data + at
            runtime.memcpyAsync(target, source, size, runtime.memcpyDeviceToHost, stream.ptr)
        else:
            view[at : at + size] = np.frombuffer(piece, np.uint8)
        at += size
    stream.synchronize()
    write_all(descriptor, memoryview(view[:at]), offset)


def write_all(descriptor: int, data: memoryview, offset: int) -> None:
    """Write bytes at a place of a file; the system may take fewer at a time."""
    while data:
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written

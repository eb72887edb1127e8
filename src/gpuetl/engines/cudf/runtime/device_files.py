"""Files written from device memory, and frames copied to and from it: by threads, each with a stream and pinned memory.

A thread copies a chunk to its memory, and puts it at its place in the file.  A second chunk that was copied meanwhile
would gain nothing: writing takes many times as long as copying, and memory that is used again sooner is in a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import Lock, local
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from gpuetl.engines.cudf.io.threaded_file import (
    Chunk,
    FillChunks,
    Load,
    Piece,
    Span,
    Store,
    WriteChunks,
    Writers,
)
from gpuetl.records import dataclass

THREADS = 16
CHUNK_BYTES = 4 << 20
"""Large, since a thread needs the interpreter, for which others wait, before and after each call."""
_THREAD = local()
_MAKING = Lock()


def writers(device: int) -> Writers:
    """Return the process's threads for a device; they get their memory while the first pages are encoded."""
    with _MAKING:  # the files of a sink ask for them at the same time
        return _writers(device)


@cache
def _writers(device: int) -> Writers:
    threads = ThreadPoolExecutor(THREADS, "gpuetl-write", begin_thread, (device,))
    for _ in range(THREADS):
        threads.submit(thread_storage)
    return Writers(threads, THREADS, CHUNK_BYTES, begin_copies, begin_filling)


def begin_thread(device: int) -> None:
    """Make the device current.  What can fail for want of memory is left to `own`: no thread would begin again."""
    cupy.cuda.Device(device).use()


@dataclass(frozen=True)
class ThreadStorage:
    """A thread's stream, and pinned memory for a chunk."""

    stream: Any
    pinned: Any

    def copied(self, piece: Piece) -> np.ndarray[Any, Any]:
        """Copy a chunk to the host; return its bytes, which stay until the next one's come."""
        if not isinstance(piece, Span):
            return np.frombuffer(piece, np.uint8)
        self.copy(self.pinned.ptr, piece.array.data.ptr + piece.start, piece.size, runtime.memcpyDeviceToHost)
        return np.frombuffer(self.pinned, np.uint8, piece.size)

    def fill(self, load: Load, offset: int, span: Span) -> None:
        """Load bytes, and copy them to a part of an array."""
        load(np.frombuffer(self.pinned, np.uint8, span.size), offset)
        self.copy(span.array.data.ptr + span.start, self.pinned.ptr, span.size, runtime.memcpyHostToDevice)

    def copy(self, target: int, source: int, size: int, kind: int) -> None:
        """Copy bytes, and wait for them."""
        runtime.memcpyAsync(target, source, size, kind, self.stream.ptr)
        self.stream.synchronize()


def thread_storage() -> ThreadStorage:
    """Return what the thread has, made when it is first asked for; raise where the host or the device has no memory."""
    if not hasattr(_THREAD, "storage"):
        pinned = cupy.cuda.alloc_pinned_memory(CHUNK_BYTES)
        _THREAD.storage = ThreadStorage(cupy.cuda.Stream(non_blocking=True), pinned)
    storage: ThreadStorage = _THREAD.storage
    return storage


def begin_copies() -> WriteChunks:
    """Return what copies when the current stream has done what it has been given."""
    return partial(write_chunks, recorded_event())


def begin_filling() -> FillChunks:
    """Return what fills arrays when the current stream has done what it has been given, such as their allocation."""
    return partial(fill_chunks, recorded_event())


def recorded_event() -> Any:
    """Return an event of the current stream."""
    event = cupy.cuda.Event(disable_timing=True)
    event.record()
    return event


def write_chunks(event: Any, store: Store, chunks: Iterator[Chunk]) -> None:
    """Copy chunks to the thread's memory, and from there to the file."""
    thread_storage().stream.wait_event(event)
    for offset, piece in chunks:
        store(thread_storage().copied(piece), offset)


def fill_chunks(event: Any, load: Load, chunks: Iterator[Chunk]) -> None:
    """Load chunks into the thread's memory, and copy them to parts of arrays."""
    thread_storage().stream.wait_event(event)
    for offset, span in chunks:
        assert isinstance(span, Span)
        thread_storage().fill(load, offset, span)

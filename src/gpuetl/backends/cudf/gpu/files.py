"""Files written from device memory, and frames copied to and from it: by threads, each with a stream and pinned memory.

A thread copies a chunk to one half of its memory while it puts the one before, in the other half, at its place in the
file.  Writing takes many times as long as copying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from threading import Lock, local
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from gpuetl.backends.cudf.sinks.pieces import Piece, Span, piece_bytes
from gpuetl.backends.cudf.sinks.threaded_file import Chunk, FillChunks, Store, WriteChunks, Writers

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
        threads.submit(own)
    return Writers(threads, THREADS, CHUNK_BYTES, begin_copies, begin_filling)


@dataclass(frozen=True)
class Half:
    """Pinned memory for a chunk, and what is recorded when the chunk is there."""

    pinned: Any
    copied: Any

    def copy(self, piece: Piece, stream: Any) -> Any:
        """Begin to copy a chunk; return its bytes, which are there when `copied` has happened."""
        size = piece_bytes(piece)
        if isinstance(piece, Span):
            source = piece.array.data.ptr + piece.start
            runtime.memcpyAsync(self.pinned.ptr, source, size, runtime.memcpyDeviceToHost, stream.ptr)
            self.copied.record(stream)
            return np.frombuffer(self.pinned, np.uint8, size)
        return np.frombuffer(piece, np.uint8)

    def fill(self, data: np.ndarray[Any, Any], span: Span, stream: Any) -> None:
        """Begin to copy host memory to a part of an array, when the copy before is done with the pinned memory."""
        np.copyto(np.frombuffer(self.pinned, np.uint8, span.size), data)
        target = span.array.data.ptr + span.start
        runtime.memcpyAsync(target, self.pinned.ptr, span.size, runtime.memcpyHostToDevice, stream.ptr)
        self.copied.record(stream)


def begin_thread(device: int) -> None:
    """Make the device current.  What can fail for want of memory is left to `own`: no thread would begin again."""
    cupy.cuda.Device(device).use()


@dataclass(frozen=True)
class Own:
    """A thread's stream, and its pinned memory."""

    stream: Any
    halves: tuple[Half, Half]


def own() -> Own:
    """Return what the thread has, made when it is first asked for; raise where the host or the device has no memory."""
    if not hasattr(_THREAD, "own"):
        one, other = (
            Half(cupy.cuda.alloc_pinned_memory(CHUNK_BYTES), cupy.cuda.Event(disable_timing=True)) for _ in range(2)
        )
        _THREAD.own = Own(cupy.cuda.Stream(non_blocking=True), (one, other))
    made: Own = _THREAD.own
    return made


def begin_copies() -> WriteChunks:
    """Return what copies when the current stream has done what it has been given."""
    return partial(write_chunks, recorded())


def begin_filling() -> FillChunks:
    """Return what fills arrays when the current stream has done what it has been given, such as their allocation."""
    return partial(fill_chunks, recorded())


def recorded() -> Any:
    """Return an event of the current stream."""
    ready = cupy.cuda.Event(disable_timing=True)
    ready.record()
    return ready


def write_chunks(ready: Any, store: Store, taken: Iterator[Chunk]) -> None:
    """Copy chunks to the thread's memory, and from there to the file; no copy goes on when that fails."""
    stream = own().stream
    stream.wait_event(ready)
    waiting: Callable[[], object] = int
    try:
        for half, (offset, piece) in zip(cycle(own().halves), taken, strict=False):
            data = half.copy(piece, stream)
            waiting()
            waiting = partial(store_copied, half, store, data, offset)
        waiting()
    finally:
        stream.synchronize()


def store_copied(half: Half, store: Store, data: Any, offset: int) -> None:
    """Wait for a chunk's copy, and store it."""
    half.copied.synchronize()
    store(data, offset)


def fill_chunks(ready: Any, memory: np.ndarray[Any, Any], taken: Iterator[Chunk]) -> None:
    """Copy chunks of host memory to the thread's own, and from there to parts of arrays."""
    stream = own().stream
    stream.wait_event(ready)
    for half, (offset, span) in zip(cycle(own().halves), taken, strict=False):
        assert isinstance(span, Span)
        half.copied.synchronize()
        half.fill(memory[offset : offset + piece_bytes(span)], span, stream)
    stream.synchronize()

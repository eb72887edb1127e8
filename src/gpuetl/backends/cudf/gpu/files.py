"""Files written from device memory, and frames copied to and from it: by threads, each with a stream and pinned memory.

A thread copies some MiB to pinned memory, waits for the copy, and puts it at its place in the file.  That takes ten
times as long as the copy, so while some threads copy the others write.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import local
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from gpuetl.backends.cudf.sinks.pieces import Piece, Span, piece_bytes, total_bytes
from gpuetl.backends.cudf.sinks.threaded_file import FillChunk, Store, WriteChunk, Writers

THREADS = 16
CHUNK_BYTES = 8 << 20
"""Large, since a thread needs the interpreter, for which others wait, before and after each copy."""
_THREAD = local()


@cache
def writers(device: int) -> Writers:
    """Return the process's threads for a device; they get their memory while the first pages are encoded."""
    threads = ThreadPoolExecutor(THREADS, "gpuetl-write", begin_thread, (device,))
    for _ in range(THREADS):
        threads.submit(int)
    return Writers(threads, THREADS, CHUNK_BYTES, begin_copies, begin_filling)


def begin_thread(device: int) -> None:
    """Give a thread its stream and its pinned memory."""
    cupy.cuda.Device(device).use()
    _THREAD.stream = cupy.cuda.Stream(non_blocking=True)
    _THREAD.pinned = cupy.cuda.alloc_pinned_memory(CHUNK_BYTES)
    _THREAD.view = np.frombuffer(_THREAD.pinned, np.uint8, CHUNK_BYTES)


def begin_copies() -> WriteChunk:
    """Return what copies when the current stream has done what it has been given."""
    return partial(write_chunk, recorded())


def begin_filling() -> FillChunk:
    """Return what fills arrays when the current stream has done what it has been given, such as their allocation."""
    return partial(fill_chunk, recorded())


def recorded() -> Any:
    """Return an event of the current stream."""
    ready = cupy.cuda.Event(disable_timing=True)
    ready.record()
    return ready


def write_chunk(ready: Any, store: Store, offset: int, pieces: Sequence[Piece]) -> None:
    """Copy pieces to the thread's memory, and from there to the file."""
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
    store(view[:at], offset)


def fill_chunk(ready: Any, memory: np.ndarray[Any, Any], offset: int, spans: Sequence[Span]) -> None:
    """Copy host memory to the thread's own, and from there to parts of arrays."""
    stream, view = _THREAD.stream, _THREAD.view
    stream.wait_event(ready)
    total = total_bytes(spans)
    np.copyto(view[:total], memory[offset : offset + total])
    at = view.ctypes.data
    for array, start, size in spans:
        runtime.memcpyAsync(array.data.ptr + start, at, size, runtime.memcpyHostToDevice, stream.ptr)
        at += size
    stream.synchronize()

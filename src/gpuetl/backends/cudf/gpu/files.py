"""Files written from device memory: by threads, each with a stream and pinned memory of its own.

A thread copies some MiB to pinned memory, waits for the copy, and writes it at its place.  Writing takes ten times as
long as copying, so while some threads copy the others write.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, partial
from pathlib import Path
from threading import local
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from gpuetl.backends.cudf.sinks import threaded_file
from gpuetl.backends.cudf.sinks.pieces import Piece, Span, piece_bytes
from gpuetl.backends.cudf.sinks.threaded_file import ThreadedFile, WriteChunk

THREADS = 16
CHUNK_BYTES = 4 << 20
_THREAD = local()


def written_file(path: Path) -> AbstractContextManager[ThreadedFile]:
    """Open a new file; at the end of the block all is written, and the file is closed."""
    return threaded_file.threaded_file(path, writers(cupy.cuda.Device().id), CHUNK_BYTES, begin_copies)


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


def begin_copies() -> WriteChunk:
    """Return what copies when the current stream has done what it has been given."""
    ready = cupy.cuda.Event(disable_timing=True)
    ready.record()
    return partial(write_chunk, ready)


def write_chunk(ready: Any, descriptor: int, offset: int, pieces: Sequence[Piece]) -> None:
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
    threaded_file.write_all(descriptor, memoryview(view[:at]), offset)

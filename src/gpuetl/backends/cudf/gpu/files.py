"""Files written from device memory: by threads, each with a stream and pinned memory of its own.

A thread copies some MiB to pinned memory, waits for the copy, and writes it at its place.  Writing takes ten times as
long as copying, so while some threads copy the others write.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from gpuetl.backends.cudf.gpu.transfers import CHUNK_BYTES, this_thread, transfers
from gpuetl.backends.cudf.sinks import threaded_file
from gpuetl.backends.cudf.sinks.pieces import Piece, Span, piece_bytes
from gpuetl.backends.cudf.sinks.threaded_file import ThreadedFile, WriteChunk


def written_file(path: Path) -> AbstractContextManager[ThreadedFile]:
    """Open a new file; at the end of the block all is written, and the file is closed."""
    return threaded_file.threaded_file(path, transfers(cupy.cuda.Device().id), CHUNK_BYTES, begin_copies)


def begin_copies() -> WriteChunk:
    """Return what copies when the current stream has done what it has been given."""
    ready = cupy.cuda.Event(disable_timing=True)
    ready.record()
    return partial(write_chunk, ready)


def write_chunk(ready: Any, descriptor: int, offset: int, pieces: Sequence[Piece]) -> None:
    """Copy pieces to the thread's memory and write them."""
    own = this_thread()
    stream, view = own.stream, own.view
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

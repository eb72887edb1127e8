"""Arrays copied between the device and any host memory, by the threads that write files, through their pinned memory.

The device reaches memory that is not pinned at a seventh of the link's rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from functools import partial
from typing import Any

import numpy as np

from gpuetl.backends.cudf.machine import Array
from gpuetl.backends.cudf.sinks.pieces import Piece, Span, chunks
from gpuetl.backends.cudf.sinks.threaded_file import Writers, drain


def copy_to_host(arrays: Sequence[Array], memory: np.ndarray[Any, Any], threads: Writers) -> None:
    """Copy contiguous arrays into host memory (bytes), one behind another, and wait for that."""

    def store(data: Any, offset: int) -> None:
        np.copyto(memory[offset : offset + len(data)], data)

    copy_chunks(arrays, partial(threads.begin(), store), threads)


def copy_from_host(memory: np.ndarray[Any, Any], arrays: Sequence[Array], threads: Writers) -> None:
    """Fill contiguous arrays, which lie one behind another in host memory (bytes), and wait for that."""
    copy_chunks(arrays, partial(threads.begin_filling(), memory), threads)


def copy_chunks(arrays: Sequence[Array], work: Callable[[int, Sequence[Piece]], None], threads: Writers) -> None:
    """Let threads work on chunk after chunk."""
    left = deque(chunks(0, [Span(array, 0, int(array.nbytes)) for array in arrays], threads.chunk_bytes))
    futures = [threads.executor.submit(drain, left, work) for _ in range(min(len(left), threads.threads))]
    wait(futures)
    for future in futures:
        future.result()

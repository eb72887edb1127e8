"""Arrays copied between the device and any host memory, by the threads that write files, through their pinned memory.

The device reaches memory that is not pinned at a seventh of the link's rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from gpuetl.backends.cudf.machine import Array
from gpuetl.backends.cudf.sinks.pieces import Span, chunks
from gpuetl.backends.cudf.sinks.threaded_file import Chunk, Writers, taken


def copy_to_host(arrays: Sequence[Array], memory: np.ndarray[Any, Any], threads: Writers) -> None:
    """Copy contiguous arrays into host memory (bytes), one behind another, and wait for that."""

    def store(data: Any, offset: int) -> None:
        np.copyto(memory[offset : offset + len(data)], data)

    copy_chunks(arrays, partial(threads.begin(), store), threads)


def copy_from_host(memory: np.ndarray[Any, Any], arrays: Sequence[Array], threads: Writers) -> None:
    """Fill contiguous arrays, which lie one behind another in host memory (bytes), and wait for that."""
    copy_chunks(arrays, partial(threads.begin_filling(), memory), threads)


def copy_chunks(arrays: Sequence[Array], work: Callable[[Iterator[Chunk]], None], threads: Writers) -> None:
    """Let threads take chunk after chunk; when this ends, by an interrupt too, none of them is at any."""
    starts = accumulate((int(array.nbytes) for array in arrays), initial=0)
    spans = ((start, Span(array, 0, int(array.nbytes))) for start, array in zip(starts, arrays, strict=False))
    left = deque(chunk for start, span in spans for chunk in chunks(start, span, threads.chunk_bytes))
    futures = [threads.executor.submit(work, taken(left)) for _ in range(min(len(left), threads.threads))]
    try:
        wait(futures)
    finally:
        left.clear()
        wait(futures)
    for future in futures:
        future.result()

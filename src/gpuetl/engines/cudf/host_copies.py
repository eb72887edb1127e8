"""Arrays copied between the device and any host memory, by the threads that write files, through their pinned memory.

The device reaches memory that is not pinned at a seventh of the link's rate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from functools import partial
from itertools import accumulate, repeat
from typing import Any

import numpy as np

from gpuetl.engines.cudf.machine import Array
from gpuetl.engines.cudf.sinks.pieces import Span, chunks
from gpuetl.engines.cudf.sinks.threaded_file import Chunk, Writers, taken

LEAST_CHUNK = 1 << 20
"""What is worth a thread: the host finds pages for new memory slower than it copies, but on several threads at once."""
PAGE = 4096


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
    sizes = [int(array.nbytes) for array in arrays]
    starts = accumulate(sizes, initial=0)
    share = -(-sum(sizes) // (threads.threads * PAGE)) * PAGE
    size = min(threads.chunk_bytes, max(LEAST_CHUNK, share))
    spans = [(start, Span(*whole)) for start, *whole in zip(starts, arrays, repeat(0), sizes, strict=False)]
    left = deque(chunk for start, span in spans for chunk in chunks(start, span, size))
    futures = [threads.executor.submit(work, taken(left)) for _ in range(min(len(left), threads.threads))]
    try:
        wait(futures)
    finally:
        left.clear()
        wait(futures)
    for future in futures:
        future.result()

"""The threads that move bytes between files and the device, each with a stream and pinned memory of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import local
from typing import Any

import cupy
import numpy as np

THREADS = 16
CHUNK_BYTES = 8 << 20
"""Of pinned memory a thread: large, since a thread needs the interpreter before and after each copy and each write."""
_THREAD = local()


@cache
def transfers(device: int) -> ThreadPoolExecutor:
    """Return the process's threads for a device."""
    return ThreadPoolExecutor(THREADS, "gpuetl-transfer", begin_thread, (device,))


def begin_thread(device: int) -> None:
    """Give a thread its stream and its pinned memory."""
    cupy.cuda.Device(device).use()
    _THREAD.stream = cupy.cuda.Stream(non_blocking=True)
    _THREAD.pinned = cupy.cuda.alloc_pinned_memory(CHUNK_BYTES)
    _THREAD.view = np.frombuffer(_THREAD.pinned, np.uint8, CHUNK_BYTES)


def this_thread() -> Any:
    """Return the `stream` and the pinned memory (`view`, uint8) of the thread that asks."""
    return _THREAD

"""What the workers of a cluster have, asked before a run is planned."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from gpuetl.engines.capacity import Capacity, free_memory
from gpuetl.engines.registry import load_backend
from gpuetl.errors import EngineUnavailable, first_line
from gpuetl.executors.dask.cluster import RESULT_SHARE
from gpuetl.executors.dask.installed import check_installed, check_same, installed
from gpuetl.executors.dask.liveness import ask
from gpuetl.messages import coded
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Progress

Answer = TypeVar("Answer")
WAIT_S = 60
"""How long a run waits for a first worker."""
RECENT_S = 1.0
"""How long what workers say of their memory is taken for true: to ask them takes a short run some milliseconds."""
Memory = dict[str, tuple[int, bool]]
"""By address the bytes that frames may take there, and whether others on the host share them."""


class MemoryAnswer(NamedTuple):
    """What workers said of their memory for a backend, and when."""

    at: float
    backend: str
    memory: Memory


_LAST_ANSWERS: WeakKeyDictionary[Any, MemoryAnswer] = WeakKeyDictionary()
"""The last that workers of a client said."""


def capacity_of(client: Any, backend: str, progress: Progress) -> Capacity:
    """Return how many workers a cluster has, and what the one with the least may take for frames of a backend.

    Workers on one host share its memory; each has a GPU of its own.

    Raises
    ------
    EngineUnavailable
        Where no worker is there, or one cannot run the backend as the driver would.
    """
    answers = worker_memory(client, backend, progress)
    on_host = Counter(urlsplit(worker).hostname for worker in answers)
    least = min(free // (on_host[urlsplit(at).hostname] if shared else 1) for at, (free, shared) in answers.items())
    return Capacity(least, len(answers), frozenset(answers))


def worker_memory(client: Any, backend: str, progress: Progress) -> Memory:
    """Return what workers say of their memory, or have said just now; wait for one where none is there."""
    until, scheduler = time.monotonic() + WAIT_S, client.scheduler.address
    while time.monotonic() < until:
        workers = frozenset(ask(client, client.nthreads))
        check_installed(client, workers)
        if memory := recent_memory(client, backend, workers) or ask_workers(client, backend):
            return memory
        progress(Origin("first worker of", scheduler), 0, 1)
        with suppress(TimeoutError):
            ask(client, lambda: client.wait_for_workers(1, timeout=max(1, until - time.monotonic())))
    raise EngineUnavailable(
        coded(
            "GE3006",
            f"the scheduler at {scheduler} had no worker for {WAIT_S} s.\n"
            f"Start some by `dask worker {scheduler} --nthreads 1 --memory-limit 0`, for dask-cuda "
            f"`dask cuda worker {scheduler}`, and see in their logs whether they reach it.",
        )
    )


def recent_memory(client: Any, backend: str, workers: frozenset[str]) -> Memory | None:
    """Return what these workers have said just now, if they have."""
    last = _LAST_ANSWERS.get(client)
    if last is None or last.backend != backend or last.memory.keys() != workers:
        return None
    return last.memory if time.monotonic() - last.at < RECENT_S else None


def ask_workers(client: Any, backend: str) -> Memory:
    """Return what workers say of their memory now.

    They say what is installed once more: one may have been started anew at the address of another.
    """
    answers = ask(client, lambda: client.run(in_worker_thread, memory_here, backend, on_error="return"))
    answers = {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}  # dead since
    for worker, answer in answers.items():
        if isinstance(answer, Exception):
            raise EngineUnavailable(
                coded("GE3006", f"the worker at {worker} cannot run the engine: {first_line(answer)}")
            )
        check_same(f"worker at {worker}", answer[-1])
    memory = {worker: answer[:2] for worker, answer in answers.items()}
    _LAST_ANSWERS[client] = MemoryAnswer(time.monotonic(), backend, memory)
    return memory


async def in_worker_thread(function: Callable[..., Answer], *args: Any) -> Answer:
    """Call a function in a thread of a worker: its event loop sends heartbeats meanwhile, also while engines load."""
    return await asyncio.to_thread(function, *args)


def memory_here(name: str) -> tuple[int, bool, str]:
    """Return the bytes that a task's frames may take here, whether others on the host share them, and `installed`.

    Of a GPU's, results of other tasks have their share.
    """
    backend = load_backend(name)
    backend.count_memory()
    free, on_cpu = free_memory(backend), backend.device == "CPU"
    return free if on_cpu else int(free * (1 - RESULT_SHARE)), on_cpu, installed()

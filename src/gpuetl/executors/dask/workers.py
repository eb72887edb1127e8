"""What the workers of a cluster have, asked before a run is planned."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from gpuetl.backends.engines import load_backend
from gpuetl.errors import EngineUnavailable, first_line
from gpuetl.planning import Capacity, free_memory

WAIT_S = 60
"""How long a run waits for a first worker."""


def capacity_of(client: Any, backend: str) -> Capacity:
    """Return how many workers a cluster has, and what the one with the least may take for frames of a backend.

    Workers on one host share its memory; each has a GPU of its own.

    Raises
    ------
    EngineUnavailable
        Where no worker is there.
    """
    told = asked(client, backend)
    on_host = Counter(urlsplit(worker).hostname for worker in told)
    least = min(free // (on_host[urlsplit(at).hostname] if shared else 1) for at, (free, shared) in told.items())
    return Capacity(least, len(told))


def asked(client: Any, backend: str) -> dict[str, tuple[int, bool]]:
    """Return what workers say of their memory, by address; wait for one where none is there.

    Raises
    ------
    EngineUnavailable
        Where none is there in time, or none can run the backend.
    """
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        told = client.run(memory_here, backend, on_error="return")
        if found := {at: memory for at, memory in told.items() if isinstance(memory, tuple)}:
            return found
        for at, error in told.items():
            if not isinstance(error, OSError):  # one that dies meanwhile
                raise EngineUnavailable(f"the worker at {at} cannot run engine '{backend}': {first_line(error)}")
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=max(1, until - time.monotonic()))
    raise EngineUnavailable(
        f"the cluster at {client.scheduler.address} had no worker for {WAIT_S} s.  Start some, then run again"
    )


def memory_here(name: str) -> tuple[int, bool]:
    """Return the bytes that frames may take in this process, and whether others on the host share them."""
    backend = load_backend(name)
    return free_memory(backend), backend.device == "CPU"

"""The memory and the workers that a run has."""

from __future__ import annotations

from typing import NamedTuple

from gpuetl.engines.interface import Backend

HOST_SHARE = 0.8


class Capacity(NamedTuple):
    """What a plan is made for: the bytes that frames of one worker may take, how many workers there are, and where."""

    memory: int
    workers: int = 1
    addresses: frozenset[str] = frozenset()


def memory_of(backend: Backend, limit: int | None) -> int:
    """Return the bytes that a run may take: what is free, or the user's limit where that is less."""
    free = free_memory(backend)
    return free if limit is None else min(free, limit)


def free_memory(backend: Backend) -> int:
    """Return the bytes that a backend's frames may still take: on the host, others want some of what is there, too."""
    use = backend.memory_use()
    return int((use.limit - use.in_use) * (HOST_SHARE if backend.device == "CPU" else 1))

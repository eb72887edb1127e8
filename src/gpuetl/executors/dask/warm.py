"""The first move of rows between two GPUs takes a second or more: it is made while the first files are read."""

from __future__ import annotations

import uuid
from typing import Any

from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.vector import Vector
from gpuetl.executors.dask.once import is_first_time
from gpuetl.executors.dask.parcels import Parcel
from gpuetl.types.data_types import INT64

Futures = tuple[Any, ...]
ROWS = 1 << 20
"""8 MB: enough that UCX takes the way of large messages."""
_WARMING: set[Futures] = set()
"""Those that are not done yet, which nobody else holds: the run that began with them may end before."""


def warm(client: Any, workers: frozenset[str]) -> None:
    """Let each of the workers, by address, take a frame from each of the others, once."""
    if not is_first_time(client, "warm", workers):
        return
    run = uuid.uuid4().hex
    made = [client.submit(some_rows, key=f"warm make-{run}-{w}", workers=[w], priority=1) for w in workers]
    taken = [client.submit(take, made, key=f"warm take-{run}-{w}", workers=[w], priority=1) for w in workers]
    held: Futures = (*made, *taken)
    _WARMING.add(held)

    def let_go(_: Any) -> None:
        if all(future.done() for future in taken):
            _WARMING.discard(held)

    for future in taken:
        future.add_done_callback(let_go)


def some_rows() -> Parcel:
    """Return a frame on the worker's device; the engine is loaded by that, and its memory pool made."""
    from gpuetl.engines.cudf.gpu.machine import machine

    return Parcel(Frame({"x": Vector(INT64, ROWS, machine().arrays.zeros(ROWS, "int64"))}, ROWS))


def take(frames: list[Parcel]) -> int:
    """Have frames come, and say how many did."""
    return len(frames)

"""The first move of rows between two GPUs takes a second or more: it is made while the first files are read."""

from __future__ import annotations

import uuid
from typing import Any

from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.vector import Vector
from gpuetl.executors.dask.parcels import Parcel
from gpuetl.expressions.types import INT64

ROWS = 1 << 20
"""8 MB: enough that UCX takes the way of large messages."""


def warm(client: Any) -> list[Any]:
    """Have each worker take a frame from each of the others; return the futures, to be held while that goes on."""
    workers = list(client.scheduler_info()["workers"])
    run = uuid.uuid4().hex
    made = [client.submit(some_rows, key=f"warm make-{run}-{w}", workers=[w], priority=1) for w in workers]
    taken = [client.submit(take, made, key=f"warm take-{run}-{w}", workers=[w], priority=1) for w in workers]
    return [*made, *taken]


def some_rows() -> Parcel:
    """Return a frame on the worker's device; the engine is loaded by that, and its memory pool made."""
    from gpuetl.backends.cudf.gpu.machine import machine

    return Parcel(Frame({"x": Vector(INT64, ROWS, machine().arrays.zeros(ROWS, "int64"))}, ROWS))


def take(frames: list[Parcel]) -> int:
    """Have frames come, and say how many did."""
    return len(frames)

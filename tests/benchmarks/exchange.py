"""A hash exchange of frames that the workers of a cluster hold, as a run's tasks make it."""

from __future__ import annotations

import time
import uuid
from operator import getitem
from typing import Any

import numpy as np
import pyarrow as pa
from dask.task_spec import Task, TaskRef

from gpuetl.engines.registry import load_backend, load_cluster_support
from gpuetl.executors.dask.results import place_tasks
from gpuetl.executors.dask.spillable_frames import all_wrapped, unwrapped
from gpuetl.types.schema import Schema

SCHEMA = Schema({"key": pa.int64(), "x": pa.float64(), "y": pa.float64()})
HELD: dict[int, Any] = {}
"""The frame of this worker, by its rows."""


def exchange_seconds(client: Any, rows: int, backend: str = "cudf") -> float:
    """Return the seconds from the sending of the tasks until each worker has put its pieces together.

    Each has so many rows of 24 bytes, of which all but its own share leave.
    """
    workers = sorted(client.nthreads())
    count, run = len(workers), uuid.uuid4().hex
    client.run(hold, rows, backend)
    tasks: dict[Any, Any] = {}
    for source in range(count):
        split = (f"split-{run}", source)
        tasks[split] = Task(split, cut, backend, rows, count)
        for target in range(count):
            take = (f"take-{run}-{source}", target)  # a group for each, as in `executors/dask/task_graph.py`
            tasks[take] = Task(take, getitem, TaskRef(split), target)
    wanted = [(f"join-{run}", target) for target in range(count)]
    for target, join in enumerate(wanted):
        pieces = [TaskRef((f"take-{run}-{source}", target)) for source in range(count)]
        tasks[join] = Task(join, joined, backend, *pieces)
    shares = {(f"split-{run}", source): source / count for source in range(count)}
    began = time.perf_counter()
    there = client.gather(client.get(place_tasks(tasks, shares, workers), wanted, sync=False))
    seconds = time.perf_counter() - began
    assert sum(there) == count * rows
    return seconds


def hold(rows: int, backend: str) -> None:
    """Make this worker's frame, and let go of one of another size."""
    if rows in HELD:
        return
    HELD.clear()
    if backend == "pandas":
        numbers = np.random.default_rng(1).integers(0, rows, rows)
        HELD[rows] = pa.table({name: pa.array(numbers).cast(dtype) for name, dtype in SCHEMA.items()})
        return
    import cupy

    from gpuetl.engines.cudf.columns.frame import Frame
    from gpuetl.engines.cudf.columns.vector import Vector

    numbers = cupy.random.default_rng(1).integers(0, rows, rows, "int64")
    kinds = {pa.int64(): "int64", pa.float64(): "float64"}
    columns = {name: Vector(dtype, rows, numbers.astype(kinds[dtype])) for name, dtype in SCHEMA.items()}
    HELD[rows] = Frame(columns, rows)
    cupy.cuda.Device().synchronize()


def cut(backend: str, rows: int, count: int) -> list[Any]:
    """Return this worker's pieces."""
    pieces = load_backend(backend).split_by_hash(HELD[rows], ["key"], count)
    return all_wrapped(pieces, load_cluster_support(backend))


def joined(backend: str, *pieces: Any) -> int:
    """Put pieces together; return how many rows they have, when they have them."""
    engine = load_backend(backend)
    return engine.rows(engine.concat([unwrapped(piece) for piece in pieces], SCHEMA))

"""What workers do before they are needed: the first move of rows between GPUs, and programs compiled ahead."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from gpuetl.engines.cudf.choices import skipping
from gpuetl.engines.cudf.codegen.compile_ahead import best_effort
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.source_kinds import KnownScan, ScanKinds, scan_kinds
from gpuetl.engines.interface import ALONE, Share
from gpuetl.engines.registry import load_backend
from gpuetl.executors.dask.accounts import Reduced, nodes_of, pack_nodes, unpack_nodes
from gpuetl.executors.dask.installed import is_first_time
from gpuetl.executors.dask.liveness import asked
from gpuetl.executors.dask.parcels import Parcel
from gpuetl.io.data_file import RowGroup
from gpuetl.options import RunOptions
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.physical.size_estimates import read_rows
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64

# The first move of rows between two GPUs takes a second or more: it is made while the first files are read.


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
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    return Parcel(Frame({"x": Vector(INT64, ROWS, machine().arrays.zeros(ROWS, "int64"))}, ROWS))


def take(frames: list[Parcel]) -> int:
    """Have frames come, and say how many did."""
    return len(frames)


# Programs are compiled ahead on workers: each lists those of the plan while its tasks begin.
#
# Workers are called out of band, since tasks would wait for a worker's one thread.  The kinds of the sources' columns
# travel with the plan.  The driver has the footers of all files and the rows of sources in memory, and workers do not.


PLAN = "programs of a plan"


@dataclass(frozen=True)
class PackedPlan:
    """A plan whose programs to compile, under its name, and each worker's share by its address."""

    packed: bytes
    name: str
    backend: str
    skipped: frozenset[str]
    shares: Mapping[str, Share]

    def compile_ahead(self, worker: str) -> None:
        """Begin, in the process of a worker; one that came later takes all programs as its share."""
        with best_effort(PLAN), skipping(self.skipped):
            physical = unpack_plan(self.packed)
            load_backend(self.backend).compile_ahead(physical, self.name, self.shares.get(worker, ALONE))


def compile_on_workers(
    options: RunOptions, workers: frozenset[str], backend: str, physical: PhysicalPlan, plan: str
) -> None:
    """Have workers, by address, compile a plan's programs; return when all have been told, which they are once.

    How a plan is lowered depends on how many they are, and so do its programs.
    """
    client = options.cluster.client
    with best_effort(PLAN):
        if is_first_time(client, plan, workers):
            name = f"{plan} on {len(workers)} workers"
            packed = PackedPlan(pack_plan(physical), name, backend, options.skipped_choices, shares_of(workers))
            asked(client, lambda: client.run(begin, packed, on_error="ignore"))


def begin(plan: PackedPlan, dask_worker: Any) -> None:
    """Begin on a thread, for which a worker's messages do not wait."""
    Thread(target=plan.compile_ahead, args=(dask_worker.address,), name="gpuetl-compile", daemon=True).start()


def shares_of(workers: Iterable[str]) -> dict[str, Share]:
    """Return the shares of workers, by address: those on one host have the cache of kernels in common."""
    on_host = defaultdict(list)
    for worker in sorted(workers):
        on_host[urlsplit(worker).hostname].append(worker)
    return {one: Share(place, len(those)) for those in on_host.values() for place, one in enumerate(those)}


def pack_plan(physical: PhysicalPlan) -> bytes:
    """Return a plan as bytes, with the kinds of its sources' columns."""
    return pack_nodes([*nodes_of(physical), physical], with_kinds)


def unpack_plan(packed: bytes) -> PhysicalPlan:
    """Return the plan of `pack_plan`."""
    plan: PhysicalPlan = unpack_nodes(packed)[-1]
    return plan


def with_kinds(scan: Scan) -> Reduced:
    """Return a scan as listing needs it: one row group stands for all of its rows."""
    groups = [group for part in scan.parts for group in part if group.rows]
    all_rows = tuple(replace(group.without_ranges, rows=read_rows(groups)) for group in groups[:1])
    return known_scan, (scan.read, all_rows, scan.partitions, scan_kinds(scan))


def known_scan(read: Read, groups: tuple[RowGroup, ...], partitions: int, known: ScanKinds) -> KnownScan:
    """Return the scan of `with_kinds`, all of it in the first of as many partitions as there were."""
    return KnownScan(read, (groups, *((),) * (partitions - 1)), known=known)

"""Programs are compiled ahead on workers: each lists those of the plan while its tasks begin.

Workers are called out of band, since tasks would wait for a worker's one thread.  The kinds of the sources' columns
travel with the plan.  The driver has the footers of all files and the rows of sources in memory, and workers do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from gpuetl.engines.cudf.choices import skipping
from gpuetl.engines.cudf.compile_ahead import forgiven
from gpuetl.engines.cudf.sources.kinds import KnownScan, ScanKinds, scan_kinds
from gpuetl.engines.interface import ALONE, Share
from gpuetl.engines.registry import load_backend
from gpuetl.executors.dask.liveness import asked
from gpuetl.executors.dask.once import is_first_time
from gpuetl.executors.dask.packing import Reduced, nodes_of, pack_nodes, unpack_nodes
from gpuetl.io.data_file import RowGroup
from gpuetl.options import RunOptions
from gpuetl.physical.estimate import read_rows
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass

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
        with forgiven(PLAN), skipping(self.skipped):
            physical = unpack_plan(self.packed)
            load_backend(self.backend).compile_ahead(physical, self.name, self.shares.get(worker, ALONE))


def compile_on_workers(
    options: RunOptions, workers: frozenset[str], backend: str, physical: PhysicalPlan, plan: str
) -> None:
    """Have workers, by address, compile a plan's programs; return when all have been told, which they are once.

    How a plan is lowered depends on how many they are, and so do its programs.
    """
    client = options.cluster.client
    with forgiven(PLAN):
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

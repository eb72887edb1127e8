"""Kernels are compiled ahead on workers: each rehearses the plan beside its tasks, those of one host in turns.

Workers are called out of band, since tasks would wait for a worker's one thread.  What a rehearsal reads travels with
the plan: of sources in memory some rows, of files the place of one row group, and what the footers of all tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from gpuetl.backends.backend import ALONE, Share
from gpuetl.backends.cudf.choices import skipping
from gpuetl.backends.cudf.rehearsal.forgiven import forgiven
from gpuetl.backends.cudf.rehearsal.limits import ROWS, limits_of
from gpuetl.backends.engines import load_backend
from gpuetl.executors.dask.liveness import asked
from gpuetl.executors.dask.once import is_first_time
from gpuetl.executors.dask.packing import Reduced, nodes_of, pack_nodes, unpack_nodes
from gpuetl.executors.dask.tasks import RowsInMemory
from gpuetl.io.dataset import RowGroup
from gpuetl.io.frames import FrameDataset
from gpuetl.options import RunOptions
from gpuetl.physical.estimate import read_rows
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass

PLAN = "the plan"


@dataclass(frozen=True)
class PackedPlan:
    """A plan to rehearse, under its name in caches, and each worker's share by its address."""

    packed: bytes
    name: str
    backend: str
    skipped: frozenset[str]
    shares: Mapping[str, Share]

    def rehearse(self, worker: str) -> None:
        """Begin the rehearsal, in the process of a worker; one that came later takes all kernels as its share."""
        with forgiven(PLAN), skipping(self.skipped):
            physical = unpack_plan(self.packed)
            load_backend(self.backend).rehearse(physical, self.name, self.shares.get(worker, ALONE))


def rehearse_on_workers(
    options: RunOptions, workers: frozenset[str], backend: str, physical: PhysicalPlan, plan: str
) -> None:
    """Have workers, by address, rehearse a plan; return when all have been told, which they are once.

    How a plan is lowered depends on how many they are, and so do its kernels.
    """
    client = options.cluster.client
    with forgiven(PLAN):
        if is_first_time(client, plan, workers):
            name = f"{plan} on {len(workers)} workers"
            packed = PackedPlan(pack_plan(physical), name, backend, options.skipped_choices, shares_of(workers))
            asked(client, lambda: client.run(begin, packed, on_error="ignore"))


def begin(plan: PackedPlan, dask_worker: Any) -> None:
    """Rehearse on a thread, for which a worker's messages do not wait."""
    Thread(target=plan.rehearse, args=(dask_worker.address,), name="gpuetl-rehearsal", daemon=True).start()


def shares_of(workers: Iterable[str]) -> dict[str, Share]:
    """Return the shares of workers, by address: those on one host have the cache of kernels in common."""
    on_host = defaultdict(list)
    for worker in sorted(workers):
        on_host[urlsplit(worker).hostname].append(worker)
    return {one: Share(place, len(those)) for those in on_host.values() for place, one in enumerate(those)}


def pack_plan(physical: PhysicalPlan) -> bytes:
    """Return a plan as bytes, with what a rehearsal reads of its sources."""
    return pack_nodes([*nodes_of(physical), physical], with_sample)


def unpack_plan(packed: bytes) -> PhysicalPlan:
    """Return the plan of `pack_plan`."""
    plan: PhysicalPlan = unpack_nodes(packed)[-1]
    return plan


def with_sample(scan: Scan) -> Reduced:
    """Return a scan as a rehearsal needs it."""
    read, dataset = scan.read, scan.read.dataset
    sample = RowsInMemory(dataset.table.select(list(read.schema))[:ROWS]) if isinstance(dataset, FrameDataset) else None
    return sampled_scan, (read, few_groups(scan), scan.partitions, sample)


def few_groups(scan: Scan) -> tuple[RowGroup, ...]:
    """Return the first row group that has rows, with the limits of all; and one that stands for the others' rows."""
    groups = [group for part in scan.parts for group in part if group.rows]
    if not groups:
        return ()
    first, *others = groups
    limits = limits_of(list(scan.schema), scan.read.dataset.row_groups)
    return replace(first, ranges=limits), replace(first, rows=read_rows(others))


def sampled_scan(read: Read, groups: tuple[RowGroup, ...], partitions: int, sample: RowsInMemory | None) -> Scan:
    """Return the scan of few row groups, in the first of as many partitions as there were."""
    if sample is not None:
        read = replace(read, dataset=FrameDataset.of(read.dataset.name, sample.table))
    return Scan(read, (groups, *((),) * (partitions - 1)))

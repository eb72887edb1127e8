"""What workers do before they are needed: the first move of rows between GPUs, and programs compiled ahead."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from gpuetl.choices import skipping
from gpuetl.engines.interface import ALONE, Share
from gpuetl.engines.registry import load_backend, load_cluster_support
from gpuetl.executors.dask.installed import is_first_time
from gpuetl.executors.dask.liveness import ask
from gpuetl.executors.dask.packed_plan import nodes_of, pack_nodes, unpack_nodes
from gpuetl.executors.dask.spillable_frames import wrapped
from gpuetl.options import RunOptions
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.records import dataclass
from gpuetl.telemetry.trace import best_effort

# The first move of rows between two GPUs takes a second or more: it is made while the first files are read.


Futures = tuple[Any, ...]
_WARMING: set[Futures] = set()
"""Futures that are not done yet.  Without a reference here they would be cancelled when the run ends first."""


def warm(client: Any, engine: str, workers: frozenset[str]) -> None:
    """Let each of the workers, by address, take a frame of an engine from each of the others, once."""
    if not is_first_time(client, "warm", workers):
        return
    run = uuid.uuid4().hex
    sends = [client.submit(some_rows, engine, key=f"warm make-{run}-{w}", workers=[w], priority=1) for w in workers]
    receives = [client.submit(receive, sends, key=f"warm take-{run}-{w}", workers=[w], priority=1) for w in workers]
    futures: Futures = (*sends, *receives)
    _WARMING.add(futures)

    def discard_when_done(_: Any) -> None:
        if all(future.done() for future in receives):
            _WARMING.discard(futures)

    for future in receives:
        future.add_done_callback(discard_when_done)


def some_rows(engine: str) -> Any:
    """Return a frame on the worker's device; the engine is loaded by that, and its memory pool made."""
    support = load_cluster_support(engine)
    return wrapped(support.warm_up_frame(), support) if support else None


def receive(frames: list[Any]) -> int:
    """Have frames come, and say how many did."""
    return len(frames)


# Programs are compiled ahead on workers: each lists those of the plan while its tasks begin.
#
# Workers are called out of band, since tasks would wait for a worker's one thread.  The kinds of the sources' columns
# travel with the plan.  The driver has the footers of all files and the rows of sources in memory, and workers do not.


NOT_LISTED = "programs of a plan were not listed"


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
        with best_effort(NOT_LISTED, "compilation"), skipping(self.skipped):
            physical = unpack_plan(self.packed)
            load_backend(self.backend).compile_ahead(physical, self.name, self.shares.get(worker, ALONE))


def compile_on_workers(
    options: RunOptions, workers: frozenset[str], backend: str, physical: PhysicalPlan, plan: str
) -> None:
    """Have workers, by address, compile a plan's programs; return when all have received it; each plan is sent once.

    How a plan is lowered depends on how many they are, and so do its programs.
    """
    client = options.cluster.client
    with best_effort(NOT_LISTED, "compilation"):
        if is_first_time(client, plan, workers):
            name = f"{plan} on {len(workers)} workers"
            packed = PackedPlan(
                pack_plan(physical, backend), name, backend, options.skipped_choices, shares_of(workers)
            )
            ask(client, lambda: client.run(begin, packed, on_error="ignore"))


def begin(plan: PackedPlan, dask_worker: Any) -> None:
    """Begin on a thread, for which a worker's messages do not wait."""
    Thread(target=plan.compile_ahead, args=(dask_worker.address,), name="gpuetl-compile", daemon=True).start()


def shares_of(workers: Iterable[str]) -> dict[str, Share]:
    """Return the shares of workers, by address: those on one host have the cache of kernels in common."""
    on_host = defaultdict(list)
    for worker in sorted(workers):
        on_host[urlsplit(worker).hostname].append(worker)
    return {one: Share(place, len(those)) for those in on_host.values() for place, one in enumerate(those)}


def pack_plan(physical: PhysicalPlan, engine: str) -> bytes:
    """Return a plan as bytes, with what an engine's workers cannot know of its sources."""
    support = load_cluster_support(engine)
    nodes = [*nodes_of(physical), physical]
    return pack_nodes(nodes, support.pack_scan) if support else pack_nodes(nodes)


def unpack_plan(packed: bytes) -> PhysicalPlan:
    """Return the plan of `pack_plan`."""
    plan: PhysicalPlan = unpack_nodes(packed)[-1]
    return plan

"""A physical plan executed for a run, in this process or on a cluster, in partitions that fit memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from gpuetl.engines.capacity import Capacity, memory_of
from gpuetl.engines.interface import Backend
from gpuetl.engines.registry import capabilities_of, computing_engine, is_clustered
from gpuetl.executors.checkpointing import Checkpointing
from gpuetl.executors.deferred import DeferredSinks
from gpuetl.executors.handover import Handover
from gpuetl.executors.outputs import Accepts, Outputs, StageState, execute
from gpuetl.executors.run_memory import run_until_fit
from gpuetl.options import Cluster, RunOptions
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.planned_work import planned_work
from gpuetl.places.publishing import StagedSink
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import Progress, Recorder
from gpuetl.telemetry.trace import timed


@contextmanager
def on_workers(
    engine: str, backend: Backend, options: RunOptions, seconds: dict[str, float], progress: Progress
) -> Iterator[tuple[RunOptions, Capacity]]:
    """Give the options with a client of the cluster that the engine runs on, if it does, and what a plan is made for.

    A cluster that is made for the run is closed at the end.
    """
    if not is_clustered(engine):
        yield options, Capacity(memory_of(backend, options.memory_bytes))
        return
    from gpuetl.executors.dask.cluster import open_client
    from gpuetl.executors.dask.workers import capacity_of

    with ExitStack() as stack:
        with timed(seconds, "cluster"):
            client = stack.enter_context(open_client(engine, options.cluster, progress))
            found = capacity_of(client, computing_engine(engine), progress)
        memory = found.memory if options.memory_bytes is None else min(found.memory, options.memory_bytes)
        yield replace(options, cluster=Cluster(client=client)), found._replace(memory=memory)


def accept_all(checks: object) -> bool:
    """Let sinks change whatever was counted."""
    return True


def no_state(checks: object) -> Sequence[StagedSink]:
    """Leave the state of the pipeline as it is."""
    return ()


@dataclass(frozen=True)
class Execution:
    """What plans of one run are executed with; `seconds` gets the wall time of each phase.

    `workers` are the addresses of those on a cluster.  `accepts` looks at what was counted, before sinks change.
    `stage_state` stages what the pipeline remembers, which changes with the sinks.
    `deferred` takes over what was written where a later plan of the run commits it.
    `stream` gets the partitions of kept stages, of a plan that streams.
    """

    engine: str
    backend: Backend
    options: RunOptions
    recorder: Recorder
    run_id: str
    seconds: dict[str, float]
    workers: frozenset[str] = frozenset()
    accepts: Accepts = accept_all
    pipeline: str = ""
    stage_state: StageState = no_state
    checkpointing: Checkpointing | None = None
    deferred: DeferredSinks | None = None
    stream: Handover[Any] | None = None

    def compile_ahead(self, physical: PhysicalPlan, plan: str) -> None:
        """Begin to compile, where frames will be, what the run will need: see `Backend.compile_ahead`."""
        if not is_clustered(self.engine):
            self.backend.compile_ahead(physical, plan)
        elif capabilities_of(self.engine).takes("compile_ahead"):
            from gpuetl.executors.dask.warm_up import compile_on_workers

            compile_on_workers(self.options, self.workers, computing_engine(self.engine), physical, plan)

    def run(self, physical: PhysicalPlan, ahead: int = 0) -> Outputs:
        """Execute a plan; `ahead` is for how many partitions of sources there is memory before they are asked for."""
        self.recorder.begin_plan(partial(planned_work, physical))
        if not is_clustered(self.engine):
            step = partial(execute, physical, self, ahead)
            return step() if self.stream is None else self.stream.execute(step)
        from gpuetl.executors.dask.cluster_run import Workers, execute_on_cluster

        return execute_on_cluster(physical, self, Workers(self.workers, ahead > 0))

    def run_to_fit(
        self, physical: PhysicalPlan, lowered: Callable[[int], PhysicalPlan], ahead: int = 0
    ) -> tuple[PhysicalPlan, Outputs]:
        """Execute a plan, or one that `lowered` gives for fewer rows a partition; return the one that fitted."""
        return run_until_fit(
            physical, lowered, lambda one: self.run(one, ahead if one is physical else 0), self.recorder, self.seconds
        )

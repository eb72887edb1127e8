"""What all tasks of a run share; it travels with each of them, and a worker unpacks it once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field
from functools import lru_cache
from typing import Any, cast

from gpuetl.choices import skipping
from gpuetl.engines.interface import Backend, Frame
from gpuetl.engines.registry import load_backend, load_cluster_support
from gpuetl.errors import RunFailed
from gpuetl.executors.dask.packed_plan import operation_of, unpack_nodes
from gpuetl.executors.dask.spill_registry import SPILL_REGISTRY
from gpuetl.executors.dask.spillable_frames import unwrapped
from gpuetl.executors.dask.task_reports import TaskReport, inline_if_small, send_report, usage_of
from gpuetl.executors.dask.task_slots import TaskSlot
from gpuetl.executors.runner import Runner
from gpuetl.lost_device import is_lost
from gpuetl.physical.nodes import Exchange, Physical
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.plan.nodes import Write
from gpuetl.records import dataclass
from gpuetl.telemetry.memory_meter import resident_set
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder, recording
from gpuetl.user_kernels.kernel_options import KernelOptions, kernel_options

EXIT_DELAY_S = 2.0
"""The time that a worker without a GPU has to report the error of its task."""


@dataclass(frozen=True)
class Job:
    """A run as workers see it: the plan's nodes as bytes, the backend by name, and the options that matter there.

    The tasks carry the bytes themselves: a task that all others read would draw them to the worker that has its result.
    They are called by `name`, another one where the run begins again: workers may still be at tasks of the first
    attempt, which have the same numbers.  `driver` is the id of its client, to which they tell what they did.
    A run `reads_ahead` where there is memory for what one task reads while another one computes.
    """

    run_id: str
    name: str
    driver: str
    backend: str
    nodes: bytes
    skipped: frozenset[str] = frozenset()
    profile: bool = False
    reads_ahead: bool = False
    head_rows: int = 0
    spill_folder: str | None = None
    resident_bytes: int | None = None
    kernels: KernelOptions = field(default_factory=KernelOptions)
    sync: bool = True

    def __dask_tokenize__(self) -> str:
        """Tell dask by what runs differ."""
        return self.name

    def opened(self) -> OpenJob:
        """Return the job with its nodes; this process keeps it for later tasks."""
        return _opened(self)


@contextmanager
def exit_when_device_lost() -> Iterator[None]:
    """End this worker a little after a task that lost the GPU, so that its nanny starts it again.

    The driver gets the task's error before.
    """
    try:
        yield
    except BaseException:
        if is_lost():
            leave = threading.Timer(EXIT_DELAY_S, os._exit, (1,))
            leave.daemon = True
            leave.start()
        raise


@lru_cache(maxsize=4)
def _opened(job: Job) -> OpenJob:
    return OpenJob(job)


class TaskRunner(Runner):
    """Runs the nodes of one task in its `slot`; `task_result` is its result where the driver wants that.

    `numbers` are those of the plan's nodes, by the id of their operation.
    """

    def __init__(self, backend: Backend, recorder: Recorder, slot: TaskSlot) -> None:
        super().__init__(backend, recorder)
        self.slot = slot
        self.task_result: Any = None
        self.numbers: Mapping[int, int] = {}

    def where(self, failed: RunFailed, node: Physical, index: int, row: int) -> str:
        """Leave it to the driver, which knows the files."""
        failed.failing = self.numbers.get(id(operation_of(node)), -1), index, row
        return ""

    def opened(self, origin: Origin, results: Sequence[Any]) -> list[Frame]:
        """Return the frames that results hold, in the engine's memory; they are brought back where they were spilled.

        Raises
        ------
        OutOfMemory
            Where that has no room for them.
        """
        return self.guard.run(origin, lambda: list(map(unwrapped, results)))


class OpenJob:
    """A job in the process of a worker, whose threads share it: the nodes, and the numbers of what work is recorded
    under, by its id.

    `memory_before` are the bytes of host memory that the process had before the job: libraries are none of the run's.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.nodes = unpack_nodes(job.nodes)
        self.numbers = {id(operation_of(node)): number for number, node in enumerate(self.nodes)}
        self.backend: Backend = load_backend(job.backend)
        self.support = load_cluster_support(job.backend)
        self.memory_before = resident_set()

    def physical(self, number: int) -> Physical:
        """Return the physical node of a number."""
        return cast("Physical", self.nodes[number])

    def exchange(self, number: int) -> Exchange:
        """Return the exchange of a number."""
        return cast("Exchange", self.nodes[number])

    def window(self, number: int) -> StatefulWindow:
        """Return the stateful window of a number."""
        return cast("StatefulWindow", self.nodes[number])

    def write(self, number: int) -> Write:
        """Return the sink of a number."""
        return cast("Write", self.nodes[number])

    @contextmanager
    def runner(self, task: str) -> Iterator[TaskRunner]:
        """Run nodes in the block, with the run's options; tell the driver at its end what the task did."""
        recorder = Recorder()
        slot = TaskSlot(self.backend.device == "GPU" and not self.job.profile, self.job.reads_ahead)
        runner = TaskRunner(self.backend, recorder, slot)
        runner.numbers = self.numbers
        if self.support is not None:  # else dask itself moves frames to disk
            SPILL_REGISTRY.use(self.backend, self.job.spill_folder, self.job.resident_bytes)
            runner.guard.frees += (slot.make_room, SPILL_REGISTRY.spill_all)
        measured = self.backend.memory_meter() if self.job.profile else nullcontext()
        with (
            slot,
            skipping(self.job.skipped),
            kernel_options(self.job.kernels),
            exit_when_device_lost(),
            recording(recorder),
            measured as recorder.meter,
        ):
            try:
                yield runner
            except BaseException:
                self.report(task, runner, {})  # what was done until then
                raise
            peaks = dict(recorder.meter.peaks()) if recorder.meter else {}
        self.report(task, runner, peaks)

    def report(self, task: str, runner: TaskRunner, peaks: Mapping[str, int]) -> None:
        """Tell the driver what a task did."""
        recorder = runner.recorder
        work = {self.numbers[key]: work for key, work in recorder.work.items()}
        report = TaskReport(
            task,
            work,
            recorder.notes,
            dict(peaks),
            SPILL_REGISTRY.drain_link_bytes(),
            inline_if_small(runner.task_result),
            recorder.warnings,
            usage_of(recorder.timeline, self.backend, self.memory_before),
        )
        send_report(self.job.driver, self.job.name, report)

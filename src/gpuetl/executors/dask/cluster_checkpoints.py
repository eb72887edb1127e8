"""Checkpoints on a cluster: workers write partitions, the driver publishes when it knows all of a stage's.

A task that fails elsewhere does not end the run before the checkpoints that do not need it are complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gpuetl.errors import GpuetlError
from gpuetl.executors.checkpointing import Checkpointing, reason_of
from gpuetl.executors.dask.cluster_sinks import WrittenPartition
from gpuetl.executors.dask.task_graph import TaskGraph
from gpuetl.physical.lower import PhysicalPlan, checkpoint_name
from gpuetl.places.publishing import RunIdentity
from gpuetl.plan.nodes import Write
from gpuetl.state.checkpoint_files import CheckpointFiles, CheckpointTarget
from gpuetl.telemetry.recorder import Recorder

if TYPE_CHECKING:
    from gpuetl.executors.execution import Execution


class ClusterCheckpoint:
    """The checkpoint of one stage: its partitions as they become known, by task."""

    def __init__(self, write: Write, keys: list[Any], run: Execution) -> None:
        assert isinstance(write.target, CheckpointTarget)
        self.write = write
        self.files = CheckpointFiles(write.target, RunIdentity(run.run_id, run.pipeline, run.options.sync))
        self.tasks = [str(key) for key in keys]
        self.partitions: dict[str, WrittenPartition] = {}

    @property
    def problem(self) -> str:
        """Why a partition was not written."""
        return next((one.problem for one in self.partitions.values() if one.problem), "")

    def publish(self, checkpointing: Checkpointing) -> None:
        """Make the checkpoint valid."""
        parts = [self.partitions[task] for task in self.tasks]
        written = [file._replace(name=f"{part.attempt}/{file.name}") for part in parts for file in part.files]
        checkpointing.publish(self.write, self.files, written, sum(part.rows for part in parts))


class ClusterCheckpoints:
    """The checkpoints of a run, and the counts that go with them, as results of tasks come in.

    `tasks` are those that the driver waits for although another one has failed.
    """

    def __init__(self, physical: PhysicalPlan, graph: TaskGraph, run: Execution) -> None:
        self.checkpointing, self.recorder = run.checkpointing, run.recorder
        self.stages = [
            ClusterCheckpoint(write, graph.writes[checkpoint_name(name)], run)
            for name, (write, _) in physical.checkpoints.items()
        ]
        counts = self.checkpointing.counts if self.checkpointing and self.stages else {}
        self.names = {str(key): name for name, key in graph.checks.items() if name in counts}
        self.of = {task: stage for stage in self.stages for task in stage.tasks}
        self.tasks = frozenset({*self.of, *self.names})
        self.thread = ThreadPoolExecutor(1, "gpuetl-checkpoint")

    def add(self, task: str, result: Any) -> None:
        """Take the result of a task; publish the checkpoint of which it is the last one."""
        if isinstance(result, pa.Table) and task in self.names:
            assert self.checkpointing is not None
            self.thread.submit(self.checkpointing.keep_counts, {self.names[task]: result})
        if not isinstance(result, WrittenPartition) or (stage := self.of.get(task)) is None:
            return
        if task in stage.partitions:  # a task that ran twice
            return
        stage.partitions[task] = result
        if len(stage.partitions) == len(stage.tasks):
            self.thread.submit(self.publish, stage, self.recorder)

    def publish(self, stage: ClusterCheckpoint, recorder: Recorder) -> None:
        """Publish a checkpoint, or warn that it cannot be."""
        assert self.checkpointing is not None
        target = stage.files.checkpoint
        if stage.problem:
            self.checkpointing.lose(target, stage.problem, recorder)
            return
        try:
            stage.publish(self.checkpointing)
        except (GpuetlError, OSError) as error:
            self.checkpointing.lose(target, reason_of(error), recorder)

    @contextmanager
    def closing(self) -> Iterator[ClusterCheckpoints]:
        """Wait, at the end, until what is complete is published; remove what is not."""
        try:
            yield self
        finally:
            self.thread.shutdown(wait=True)
            for stage in self.stages:
                stage.files.close()

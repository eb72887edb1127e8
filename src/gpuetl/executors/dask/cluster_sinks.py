"""Sinks on a cluster: workers write partitions, the driver takes the files."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gpuetl.engines.interface import Backend
from gpuetl.errors import OutOfMemory, RunFailed
from gpuetl.executors.checkpointing import CheckpointWriter, reason_of
from gpuetl.executors.dask.spill_registry import SPILL_REGISTRY
from gpuetl.executors.outputs import file_writer, note_files, write_frame
from gpuetl.executors.run_memory import Guard
from gpuetl.io.staging import MOST_PARTS, SinkWriter
from gpuetl.messages import coded
from gpuetl.places.publishing import RunIdentity, StagedSink, WrittenFile
from gpuetl.places.registry import publisher_of
from gpuetl.plan.nodes import Write
from gpuetl.records import dataclass
from gpuetl.state.checkpoint_files import CheckpointTarget
from gpuetl.threads import thread_count

if TYPE_CHECKING:
    from gpuetl.executors.dask.job import OpenJob, TaskRunner


# A worker stages a partition's files under the name of that attempt; only the driver commits.  Of several attempts at a
# partition, made where a worker was lost, the driver takes the one whose result it got, and removes the others.


@dataclass(frozen=True)
class WrittenPartition:
    """What became of one partition: its files, below the attempt's folder, and its first rows.

    `problem` says why a partition of a checkpoint was not written.
    """

    attempt: str
    files: tuple[WrittenFile, ...]
    rows: int
    head: Any
    problem: str = ""


@dataclass
class AttemptWriter(SinkWriter):
    """Writes one partition on a worker; `name` is that of the attempt."""

    name: str = ""

    @cached_property
    def staged(self) -> StagedSink:
        """The files of the attempt."""
        run = RunIdentity(self.run_id, self.pipeline, self.sync)
        return publisher_of(self.target.path).stage(self.target, run).attempt(self.name)


def write_partition(job: OpenJob, runner: TaskRunner, write: Write, results: list[Any]) -> WrittenPartition:
    """Write one partition of a sink, when the task has a slot to write: `results` holds that frame, and is emptied.

    Raises
    ------
    RunFailed
        Where it cannot be written.
    OutOfMemory
        Where there is no memory for what is written, either.
    """
    if isinstance(write.target, CheckpointTarget):
        return write_checkpoint(job, runner, write, results)
    runner.slot.write()
    (frame,), backend, attempt = runner.opened(write.origin, results), job.backend, uuid.uuid4().hex
    results.clear()
    in_threads = Guard(backend, SPILL_REGISTRY.spill_all)  # the task's own may wait, also for its turn
    with ThreadPoolExecutor(files_at_once(backend), "gpuetl-writer", backend.thread_setup()) as threads:
        files = file_writer(backend, write.target.name, write, write.source.schema, in_threads)
        writer = AttemptWriter(write.target, job.job.run_id, files, threads, job.job.sync, name=attempt)
        writer.prepare()
        work = runner.recorder.of(write, write.origin)
        head = runner.guard.run(write.origin, partial(backend.head, frame, job.job.head_rows))
        write_frame(runner, work, frame, write.source.schema, writer)
        runner.finish(work, frame, 1)
        del frame  # who waits for files waits for the memory that they take
        writer.finish()
    writer.close()
    note_files(work, writer, backend)
    return WrittenPartition(attempt, tuple(writer.files), writer.rows, head)


def write_checkpoint(job: OpenJob, runner: TaskRunner, write: Write, results: list[Any]) -> WrittenPartition:
    """Write one partition of a checkpoint; one that cannot be written says why, and the run goes on without it."""
    runner.slot.write()
    (frame,), backend, attempt = runner.opened(write.origin, results), job.backend, uuid.uuid4().hex
    results.clear()
    in_threads = Guard(backend, SPILL_REGISTRY.spill_all)
    with ThreadPoolExecutor(files_at_once(backend), "gpuetl-writer", backend.thread_setup()) as threads:
        files = file_writer(backend, write.target.name, write, write.source.schema, in_threads)
        writer = CheckpointWriter(write.target, job.job.run_id, files, threads, job.job.sync, name=attempt)
        work = runner.recorder.of(write, write.origin)
        try:
            write_frame(runner, work, frame, write.source.schema, writer)
            runner.finish(work, frame, 1)
            del frame
            writer.finish()
        except OutOfMemory:
            raise
        except RunFailed as error:
            return WrittenPartition(attempt, (), 0, None, reason_of(error))
        finally:
            writer.close()
    note_files(work, writer, backend)
    return WrittenPartition(attempt, tuple(writer.files), writer.rows, None)


def files_at_once(backend: Backend) -> int:
    """Return how many files a worker writes at a time.

    Dask expects a worker for each processor, and tells it by OMP_NUM_THREADS to take one thread.  A worker for each GPU
    has processors to spare, and needs them, since the system lets one call at a time write to a file.
    """
    return thread_count() if backend.device == "CPU" else min(MOST_PARTS, len(os.sched_getaffinity(0)))


@dataclass
class SharedSinkWriter(SinkWriter):
    """The driver's side of a sink that workers write: takes their files, and commits them."""

    def prepare(self) -> None:
        """Make room for the files of workers, too."""
        super().prepare()
        self.staged.share()

    def take(self, partitions: Sequence[WrittenPartition]) -> None:
        """Take the files of all partitions, in order, to where a commit finds them; remove what else is there.

        Raises
        ------
        RunFailed
            Where a file is not to be seen here.
        """
        for partition in partitions:
            self.rows += partition.rows
            for file in partition.files:
                self.take_file(partition.attempt, file)
        self.staged.remove_attempts()

    def take_file(self, attempt: str, file: WrittenFile) -> None:
        """Take one file of an attempt; its name is numbered anew."""
        name = str(PurePosixPath(file.name).with_name(self.file_name()))
        try:
            self.staged.take(attempt, file.name, name)
        except OSError as error:
            why = f"cannot move {file.name} of {attempt}, which a worker wrote: {error.strerror}"
            raise self.failed(coded("GE1508", why)) from error
        self.files.append(file._replace(name=name))

    def close(self, keep: bool = False) -> bool:
        """Remove what workers left, too."""
        self.staged.remove_attempts()
        return super().close(keep)

"""Sinks on a cluster: workers write partitions, the driver takes the files."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl.engines.interface import Backend
from gpuetl.executors.dask.spill_registry import SPILL_REGISTRY
from gpuetl.executors.outputs import file_writer, note_files, write_frame
from gpuetl.executors.run_memory import Guard
from gpuetl.io.staging import MOST_PARTS, SinkWriter, WrittenFile
from gpuetl.messages import coded
from gpuetl.places.local.folders import remove_folder
from gpuetl.plan.nodes import Write
from gpuetl.records import dataclass
from gpuetl.threads import thread_count

if TYPE_CHECKING:
    from gpuetl.executors.dask.job import OpenJob, TaskRunner


# Sinks on a cluster: a worker writes a partition into a folder of that attempt, only the driver commits.
#
# The folders are beside the target, where all workers and the driver see them.  Of several attempts at a partition,
# made
# where a worker was lost, the driver takes the one whose result it got, and removes the others: see `cluster_sinks.py`.


@dataclass(frozen=True)
class Written:
    """What became of one partition: its files, below the attempt's folder, and its first rows."""

    attempt: str
    files: tuple[WrittenFile, ...]
    rows: int
    head: Any


@dataclass
class AttemptWriter(SinkWriter):
    """Writes one partition on a worker, into a folder of its own."""

    attempt: str = ""

    @property
    def new(self) -> Path:
        """The folder of the attempt."""
        return self.staging / "attempts" / self.attempt

    def prepare(self) -> None:
        """Make the folder; raise `RunFailed` where the driver's is not there to be seen."""
        try:
            self.new.mkdir()
        except OSError:
            where = f"the worker on {socket.gethostname()} does not see the folder {self.new.parent}"
            raise self.failed(
                coded("GE1508", f"{where}, which the run made.  Workers write to a folder that all of them share")
            ) from None

    def make_folder(self, folder: Path) -> None:
        """Make a folder below the attempt's, and never that: the run may have ended, and removed it."""
        for part in reversed((folder, *folder.parents)):
            if part.is_relative_to(self.new) and part != self.new:
                part.mkdir(exist_ok=True)


def write_partition(job: OpenJob, runner: TaskRunner, write: Write, results: list[Any]) -> Written:
    """Write one partition of a sink, when it is the task's turn: `results` holds that frame, and is emptied.

    Raises
    ------
    RunFailed
        Where it cannot be written.
    OutOfMemory
        Where there is no memory for what is written, either.
    """
    runner.turn.write()
    (frame,), backend, attempt = runner.opened(write.origin, results), job.backend, uuid.uuid4().hex
    results.clear()
    in_threads = Guard(backend, SPILL_REGISTRY.spill_all)  # the task's own may wait, also for its turn
    with ThreadPoolExecutor(files_at_once(backend), "gpuetl-writer", backend.thread_setup()) as threads:
        files = file_writer(backend, write.target.name, write, write.source.schema, in_threads)
        writer = AttemptWriter(write.target, job.job.run_id, files, threads, job.job.sync, attempt=attempt)
        writer.prepare()
        work = runner.recorder.of(write, write.origin)
        head = runner.guard.run(write.origin, partial(backend.head, frame, job.job.head_rows))
        write_frame(runner, work, frame, write.source.schema, writer)
        runner.finish(work, frame, 1)
        del frame  # who waits for files waits for the memory that they take
        writer.finish()
    note_files(work, writer, backend)
    return Written(attempt, tuple(writer.files), writer.rows, head)


def files_at_once(backend: Backend) -> int:
    """Return how many files a worker writes at a time.

    Dask expects a worker for each processor, and tells it by OMP_NUM_THREADS to take one thread.  A worker for each GPU
    has processors to spare, and needs them, since the system lets one call at a time write to a file.
    """
    return thread_count() if backend.device == "CPU" else min(MOST_PARTS, len(os.sched_getaffinity(0)))


# Sinks on a cluster, as the driver sees them: it takes the files that workers wrote (`cluster_sinks.py`), and commits.


@dataclass
class SharedSinkWriter(SinkWriter):
    """The driver's side of a sink that workers write: takes their files, and commits them."""

    @property
    def attempts(self) -> Path:
        """The folder of workers' folders."""
        return self.staging / "attempts"

    def prepare(self) -> None:
        """Make the folder of attempts, too."""
        super().prepare()
        self.attempts.mkdir()

    def take(self, partitions: Sequence[Written]) -> None:
        """Move the files of all partitions, in order, to where a commit finds them; remove what else is there.

        Raises
        ------
        RunFailed
            Where a file is not to be seen here.
        """
        for written in partitions:
            self.rows += written.rows
            for file in written.files:
                self.take_file(self.attempts / written.attempt, file)
        self.remove_attempts()

    def remove_attempts(self) -> None:
        """Remove the folder of attempts, under another name: a task that still runs finds none to write to."""
        left = self.staging / "left"
        with suppress(OSError):
            self.attempts.rename(left)
        remove_folder(left)

    def take_file(self, attempt: Path, file: WrittenFile) -> None:
        """Move one file from the folder of an attempt; its name is numbered anew."""
        name, path = Path(file.name).with_name(self.file_name()), attempt / file.name
        self.make_folder((self.new / name).parent)
        try:
            path.rename(self.new / name)
        except OSError as error:
            raise self.failed(coded("GE1508", f"cannot move {path}, which a worker wrote: {error.strerror}")) from error
        self.files.append(file._replace(name=str(name)))

    def close(self, keep: bool = False) -> bool:
        """Remove what workers left, too."""
        self.remove_attempts()
        return super().close(keep)

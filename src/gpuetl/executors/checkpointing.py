"""Checkpoints of a run: written as sinks are, and published as soon as the last partition is written.

A run that fails later has them, then.  A checkpoint that cannot be written is a warning: the sinks do not need it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from gpuetl.engines.interface import Frame
from gpuetl.errors import GpuetlError, OutOfMemory, RunFailed, first_line, system_reason
from gpuetl.io.staging import SinkWriter
from gpuetl.lost_device import is_lost
from gpuetl.messages import coded, redacted
from gpuetl.places.file_state import DatasetError, FileState
from gpuetl.places.paths import FilePath
from gpuetl.places.publishing import RunIdentity, StagedSink, WrittenFile
from gpuetl.places.registry import filesystem_of
from gpuetl.plan.nodes import Write
from gpuetl.records import dataclass
from gpuetl.state.checkpoint_files import CheckpointFiles, CheckpointTarget
from gpuetl.state.checkpoints import Checkpoint, CheckpointFile, CheckpointStore, counts_of
from gpuetl.state.files import state_files
from gpuetl.telemetry.recorder import Recorder, Work
from gpuetl.version import __version__

if TYPE_CHECKING:
    from gpuetl.executors.runner import Runner
    from gpuetl.physical.nodes import Physical

SETTLED_NS = 1_000_000_000
"""A file that changed more recently may change again without a new time of change."""


@dataclass(frozen=True)
class CheckpointReport:
    """What became of a stage's checkpoint.

    `state` is `reused`, where the run read it, `written`, or `lost`, where it could not be written: `why` says so.
    `run_id` is the run that wrote it, `seconds` how long all threads together took to write or check it.
    """

    stage: str
    state: Literal["reused", "written", "lost"]
    run_id: str
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    path: str = ""
    engine: str = ""
    why: str = ""


@dataclass
class Checkpointing:
    """The checkpoints that a run writes, and what has become of them.

    Parameters
    ----------
    pipeline, run_id, engine
        What the manifests name.
    sources
        The files that decide the rows of each stage, with the states in which they were planned.
    counts
        The keys of the counts that rules need: of stages with a checkpoint, and of those above.
    state
        The state folder.
    keys
        The keys of the checkpoints that the run reads or writes.
    reports
        What became of each checkpoint so far.
    """

    pipeline: str
    run_id: str
    engine: str
    state: FilePath
    sources: Mapping[str, tuple[tuple[FilePath, FileState | None], ...]] = field(default_factory=dict)
    counts: Mapping[str, str] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    reports: dict[str, CheckpointReport] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def store(self) -> CheckpointStore:
        """The checkpoints of the state folder."""
        return CheckpointStore(state_files(self.state))

    def is_written(self, stage: str) -> bool:
        """Tell whether the stage has its checkpoint: the run may begin again, in smaller partitions."""
        return stage in self.reports and self.reports[stage].state == "written"

    def publish(self, write: Write, files: CheckpointFiles, written: Iterable[WrittenFile], rows: int) -> None:
        """Make a checkpoint valid, all files of which are written, in the order of their rows.

        Raises
        ------
        RunFailed
            Where a file that decides the rows has changed meanwhile.
        OSError
            Where the state folder does not take the manifest.
        """
        target, found = files.checkpoint, list(written)
        self.check_sources(target.name, files)
        kept = tuple(CheckpointFile(files.named(one.name), one.size, one.checksum) for one in found)
        checkpoint = Checkpoint(
            target.key, self.pipeline, target.name, self.run_id, self.engine, __version__, time.time(), rows,
            target.format, write.schema.to_arrow(), kept,
        )  # fmt: skip
        self.store.publish(checkpoint)
        files.is_published = True
        files.remove_others([one.name for one in kept])
        self.add(
            CheckpointReport(
                target.name, "written", self.run_id, rows, checkpoint.file_bytes, sum(one.seconds for one in found),
                redacted(str(target.path)), self.engine,
            )
        )  # fmt: skip

    def check_sources(self, stage: str, files: CheckpointFiles) -> None:
        """Raise `RunFailed` for a file that is not as it was planned; wait until a change would be seen."""
        for path, planned in self.sources.get(stage, ()):
            if planned is None:
                continue
            if not planned.is_settled(SETTLED_NS):
                time.sleep(SETTLED_NS / 1e9)
            try:
                difference = planned.difference(filesystem_of(path).info(path))
            except (OSError, DatasetError) as error:
                difference = system_reason(error) or first_line(error)
            if difference:
                raise files.failed(coded("GE1420", f"{path} changed during the run: {difference}"))

    def keep_counts(self, tables: Mapping[str, pa.Table]) -> None:
        """Keep what was counted for rules, so that a run that reads a checkpoint need not count again.

        Where the state folder does not take it, it is counted again.
        """
        for name, key in self.counts.items():
            if name in tables:
                table = tables[name]
                made = Checkpoint(
                    key, self.pipeline, name, self.run_id, self.engine, __version__, time.time(), table.num_rows, "",
                    table.schema, (), counts_of(table),
                )  # fmt: skip
                with suppress(OSError):
                    self.store.publish(made)

    def lose(self, target: CheckpointTarget, why: str, recorder: Recorder) -> None:
        """Report that a stage has no checkpoint, as a warning."""
        place = redacted(str(target.state))
        message = f"stage '{target.name}': the checkpoint was not written: {why}.  The sinks are not concerned"
        recorder.warn(coded("GE1558", f"{message}; look at the state folder {place}"))
        self.add(CheckpointReport(target.name, "lost", self.run_id, path=redacted(str(target.path)), why=why))

    def add(self, report: CheckpointReport) -> None:
        """Keep a report."""
        with self.lock:
            self.reports[report.stage] = report


@dataclass
class CheckpointWriter(SinkWriter):
    """Writes the files of a checkpoint, in one process or, with the `name` of an attempt, on a worker."""

    name: str = ""

    @cached_property
    def staged(self) -> StagedSink:
        """The files, in their last place."""
        return self.checkpoint_files

    @cached_property
    def checkpoint_files(self) -> CheckpointFiles:
        """The files, in their last place."""
        return CheckpointFiles(self.target, RunIdentity(self.run_id, self.pipeline, self.sync), self.name)

    def write_piece(self, name: str, rows: object) -> WrittenFile:
        """Write one file, and add its checksum."""
        found = super().write_piece(name, rows)
        return found._replace(checksum=self.checkpoint_files.checksums[name])

    def failed(self, why: str) -> RunFailed:
        """Word a failure of this checkpoint."""
        return self.checkpoint_files.failed(why)


class CheckpointOutput:
    """Writes a checkpoint's partitions as they come, and publishes it after the last one, beside what comes then.

    `begin` begins to write a partition.
    """

    def __init__(
        self,
        runner: Runner,
        source: Physical,
        write: Write,
        writer: CheckpointWriter,
        checkpointing: Checkpointing,
        begin: Callable[[Work, Frame], None],
    ) -> None:
        self.runner, self.source, self.write, self.writer = runner, source, write, writer
        self.checkpointing, self.begin = checkpointing, begin
        self.work = runner.recorder.of(write, write.origin)
        self.target = writer.checkpoint_files.checkpoint
        self.left = source.partitions
        self.is_skipped = checkpointing.is_written(self.target.name)
        self.thread = ThreadPoolExecutor(1, "gpuetl-checkpoint")
        self.publishing: Future[None] | None = None

    def take(self, frame: Frame) -> None:
        """Begin to write a partition; after the last one, have the checkpoint published when all is written."""
        self.left -= 1
        if self.is_skipped:
            return
        try:
            self.begin(self.work, frame)
        except OutOfMemory:
            raise
        except RunFailed as error:
            self.lose(error)
            return
        self.runner.finish(self.work, frame, self.source.partitions)
        if not self.left:
            self.publishing = self.thread.submit(self.publish)

    def publish(self) -> None:
        """Wait until all is written, and publish the checkpoint."""
        try:
            self.writer.finish()
            files = self.writer.checkpoint_files
            self.checkpointing.publish(self.write, files, self.writer.files, self.writer.rows)
        except (GpuetlError, OSError) as error:
            self.lose(error)

    def lose(self, error: Exception) -> None:
        """Give the checkpoint up."""
        self.is_skipped = True
        self.checkpointing.lose(self.target, reason_of(error), self.runner.recorder)

    def end(self) -> None:
        """Wait until the checkpoint is published, if it is going to be."""
        self.thread.shutdown(wait=not is_lost())


def reason_of(error: Exception) -> str:
    """Return what went wrong, without the stage, for a sentence."""
    if isinstance(error, RunFailed) and error.problem is not None:
        return error.problem.message.rstrip(".")
    return system_reason(error) or first_line(error)

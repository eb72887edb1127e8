"""Outputs of a run: the sinks, written while it runs and committed together, and the stages that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gpuetl.allocators import trim
from gpuetl.engines.interface import Backend, Frame
from gpuetl.errors import GpuetlError, OutOfMemory
from gpuetl.executors.ahead import ReadAhead
from gpuetl.executors.checkpointing import Checkpointing, CheckpointOutput, CheckpointWriter
from gpuetl.executors.committing import SinkReport, commit
from gpuetl.executors.local import LocalExecutor, Take
from gpuetl.executors.run_memory import Budget, Guard
from gpuetl.executors.runner import Runner, write_traffic
from gpuetl.executors.store import Store
from gpuetl.formats.registry import format_named
from gpuetl.io.spill_space import SpillSpace
from gpuetl.io.staging import Closable, FileWriter, SinkWriter, close_writers
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.physical.lower import PhysicalPlan, checkpoint_name
from gpuetl.physical.memory import expected_memory
from gpuetl.physical.nodes import Physical
from gpuetl.physical.working_sets import HOST
from gpuetl.places.publishing import StagedSink
from gpuetl.plan.nodes import Write
from gpuetl.state.checkpoint_files import CheckpointTarget
from gpuetl.telemetry.memory_meter import Growth
from gpuetl.telemetry.recorder import Recorder, Work
from gpuetl.telemetry.trace import spanned, timed
from gpuetl.threads import thread_count
from gpuetl.types.schema import Schema
from gpuetl.units import size

if TYPE_CHECKING:
    from gpuetl.executors.execution import Execution

EXCESS = 1.15
"""A limit is met up to this factor: pages of libraries and threads' stacks count too."""
SPILLED_BYTES = 8 << 20
"""Of frames that are spilled at a time, before it is measured what that has freed."""
Accepts = Callable[[Mapping[str, pa.Table]], bool]
"""Looks at what was counted, by check, and tells whether the sinks may change."""
StageState = Callable[[Mapping[str, pa.Table]], Sequence[StagedSink]]
"""Stages what the pipeline remembers, from what was counted, once the sinks may change."""


class Outputs(NamedTuple):
    """What a run is for: the reports of sinks, the first rows of these and of kept stages, the kept frames, and counts.

    No sink has changed, and none is reported, where the counts were not accepted.  `tables` are all rows of those kept
    stages that were copied whole.
    """

    sinks: tuple[SinkReport, ...]
    heads: Mapping[str, pa.Table]
    kept: Mapping[str, Frame]
    checks: Mapping[str, pa.Table]
    tables: Mapping[str, pa.Table] = MappingProxyType({})


def execute(physical: PhysicalPlan, run: Execution, ahead: int = 0) -> Outputs:
    """Compute all roots, write the sinks beside their targets, and commit them together at the end.

    They stay as they were where the run does not accept what was counted.  `ahead` is for how many partitions of
    sources there is memory before they are asked for.
    """
    backend, recorder, options, seconds = run.backend, run.recorder, run.options, run.seconds
    store = waiting_frames(backend, recorder, options)
    budget = budget_of(physical, backend, options)
    runner = Runner(backend, recorder, budget=budget)
    reader = ReadAhead(runner, physical.roots, ahead) if ahead else None
    executor = LocalExecutor(runner, physical.roots, store, reader)
    threads = ThreadPoolExecutor(thread_count(), "gpuetl-writer", backend.thread_setup())
    in_threads = Guard(backend, store.spill_all)  # not the runner's, which waits for the threads
    writers: dict[str, SinkWriter] = {
        name: (CheckpointWriter if isinstance(write.target, CheckpointTarget) else SinkWriter)(
            write.target,
            run.run_id,
            file_writer(backend, name, write, source.schema, in_threads, budget),
            threads,
            options.sync,
            run.pipeline,
        )
        for name, (write, source) in physical.written.items()
    }
    runner.guard.frees.extend(partial(wait_until_written, writer) for writer in writers.values())
    if budget:
        settled = (partial(is_settled, writer) for writer in writers.values())
        budget.frees += [trimmed, *settled, partial(spilled_and_trimmed, store)]
    head_rows, pending = options.head_rows, list[Closable](sinks_first(writers))
    try:
        with timed(seconds, "run"), reader or nullcontext():
            for writer in writers.values():
                writer.prepare()
            sinks = {
                name: SinkOutput(runner, source, write, writers[name], head_rows)
                for name, (write, source) in physical.sinks.items()
            }
            stream = partial(run.stream.take, backend) if run.stream else None
            checkpoints = checkpoint_outputs(physical, runner, writers, run.checkpointing)
            kept, counted = dict[str, Frame](), dict[str, Frame]()
            counts = run.checkpointing.counts if run.checkpointing else {}
            receivers: list[tuple[bool, Take]] = [
                *((name in counts, partial(counted.__setitem__, name)) for name in physical.first),
                *((True, checkpoint.take) for checkpoint in checkpoints),
                *((False, sink.take) for sink in sinks.values()),
                *((False, stream or partial(kept.__setitem__, name)) for name in physical.kept),
                *((name in counts, partial(counted.__setitem__, name)) for name in physical.along),
            ]

            def counted_tables() -> dict[str, pa.Table]:
                return {
                    name: runner.step(physical.checks[name], 1, partial(backend.to_arrow, frame))
                    for name, frame in counted.items()
                }

            with completing(executor, receivers, checkpoints, run.checkpointing, counted_tables):
                executor.compute([take for _, take in receivers])
            checks = counted_tables()
            if run.checkpointing:
                run.checkpointing.keep_counts(checks)
            heads = {name: sink.head() for name, sink in sinks.items()}
            for name, (write, _) in physical.written.items():
                if name in physical.sinks:  # checkpoints are written, or given up
                    writers[name].finish()
                note_files(recorder.of(write, write.origin), writers[name], backend)
        tables = dict[str, pa.Table]()
        for name, frame in kept.items():
            heads[name], table = runner.step(physical.kept[name], 0, partial(shown_rows, backend, frame, head_rows))
            tables |= {} if table is None else {name: table}
        reports = ended(run, {name: writers[name] for name in physical.sinks}, pending, threads, checks)
    finally:
        close_writers(pending, threads)
    if budget:
        warn_of_excess(budget, recorder)
    return Outputs(reports, heads, kept, checks, tables)


def ended(
    run: Execution,
    writers: Mapping[str, SinkWriter],
    pending: list[Closable],
    threads: Executor,
    checks: Mapping[str, pa.Table],
) -> tuple[SinkReport, ...]:
    """Commit sinks whose counts are accepted, or leave them to a later plan of the run; return reports.

    What is staged then is `pending`, to be closed by the caller, unless it is left to a later plan.
    """
    if not run.accepts(checks):
        return ()
    if run.deferred is not None:
        run.deferred.take(writers, run.stage_state(checks), threads)
        taken = {id(writer) for writer in writers.values()}
        pending[:] = [one for one in pending if id(one) not in taken]
        return ()
    with timed(run.seconds, "commit"):
        state = run.stage_state(checks)
        pending += state
        return commit(writers, run.recorder, state)


def checkpoint_outputs(
    physical: PhysicalPlan, runner: Runner, writers: Mapping[str, SinkWriter], checkpointing: Checkpointing | None
) -> list[CheckpointOutput]:
    """Return what takes the partitions of each checkpoint."""
    found = []
    for name, (write, source) in physical.checkpoints.items():
        writer = writers[checkpoint_name(name)]
        assert isinstance(writer, CheckpointWriter)
        assert checkpointing is not None

        def begin(work: Work, frame: Frame, source: Physical = source, writer: SinkWriter = writer) -> None:
            write_frame(runner, work, frame, source.schema, writer)

        found.append(CheckpointOutput(runner, source, write, writer, checkpointing, begin))
    return found


@contextmanager
def completing(
    executor: LocalExecutor,
    receivers: Sequence[tuple[bool, Take]],
    checkpoints: Sequence[CheckpointOutput],
    checkpointing: Checkpointing | None,
    counted: Callable[[], Mapping[str, pa.Table]],
) -> Iterator[None]:
    """Complete the checkpoints where something else fails in the block, and wait until they are published.

    `receivers` say of each root whether a checkpoint needs it, and `counted` gives what was counted for rules.
    """
    try:
        try:
            yield
        except OutOfMemory:  # the run begins again in smaller partitions
            raise
        except GpuetlError:
            if checkpointing is not None and checkpoints:
                with suppress(Exception):  # the first error is the one to tell
                    executor.complete([take if needed else None for needed, take in receivers])
                    checkpointing.keep_counts(counted())
            raise
    finally:
        for checkpoint in checkpoints:
            checkpoint.end()


def sinks_first(writers: Mapping[str, SinkWriter]) -> list[SinkWriter]:
    """Return the writers, those of checkpoints last: the folder of the first one says that a commit is done."""
    return sorted(writers.values(), key=lambda writer: isinstance(writer, CheckpointWriter))


def shown_rows(backend: Backend, frame: Frame, count: int) -> tuple[pa.Table, pa.Table | None]:
    """Return the first rows of a frame, and all of them if it has no more or is small."""
    table = backend.small_table(frame)
    if table is not None:
        return table.slice(0, count), table
    head = backend.head(frame, count)
    return head, head if head.num_rows == backend.rows(frame) else None


def budget_of(physical: PhysicalPlan, backend: Backend, options: RunOptions) -> Budget | None:
    """Return what keeps to the limit of a run on the host, whose allocators keep to none; a GPU's does."""
    if options.memory_bytes is None or backend.device == "GPU":
        return None
    backend.release()  # what planning leaves would be taken for memory that the process needs by itself
    return Budget(options.memory_bytes, Growth(), expected_memory(physical, HOST).steps)


def warn_of_excess(budget: Budget, recorder: Recorder) -> None:
    """Warn where a run took more than its limit and what measurement may be off by."""
    if (highest := budget.highest()) > EXCESS * budget.limit:
        took, most = size(highest), size(budget.limit)
        advice = "Give it that much with --memory, write its sources in smaller row groups, or read fewer columns"
        recorder.warn(coded("GE2021", f"the run took {took} of memory, and --memory allows {most}.  {advice}"))


def waiting_frames(backend: Backend, recorder: Recorder, options: RunOptions) -> Store:
    """Return what holds frames that wait, by default in up to half of the engine's memory."""
    limit = options.resident_bytes
    if limit is None:
        limit = (options.memory_bytes or backend.memory_use().limit) // 2
    return Store(
        backend, recorder, limit, SpillSpace(None if options.spill_folder is None else Path(options.spill_folder))
    )


def file_writer(
    backend: Backend, sink: str, write: Write, schema: Schema, guard: Guard, budget: Budget | None = None
) -> FileWriter:
    """Return what writes a sink's files, the engine itself where it can; the trace of the run shows each file.

    Under a `budget` room is reserved for what a table is encoded to.
    """
    writer = backend.file_writer(write.target, schema) or format_named(write.target.format).writer(write.target.options)

    def guarded(table: Any, path: Path) -> None:
        encoded = int(HOST.encoded(write.target.format).share * table.nbytes) if budget else 0
        with budget.reserving(encoded) if budget else nullcontext():
            guard.run(write.origin, partial(writer.write, table, path))

    return replace(writer, write=spanned(guarded, f"write {sink}", "file"))


def wait_until_written(writer: SinkWriter) -> str:
    """Wait until what was handed over is written, and so held no more."""
    writer.settle()
    return ""


def is_settled(writer: SinkWriter) -> bool:
    """Wait until what was handed over is written; nothing more is to be had of this writer."""
    writer.settle()
    return False


def trimmed() -> bool:
    """Give back what the allocator keeps; nothing more is to be had of it."""
    trim()
    return False


def spilled_and_trimmed(store: Store) -> bool:
    """Spill the oldest frames that wait; tell whether there may be more.

    Pieces of an exchange have small buffers, which the allocator keeps when they are freed.
    """
    found = store.spill_oldest(SPILLED_BYTES)
    trim()
    return found


def note_files(work: Work, writer: SinkWriter, backend: Backend) -> None:
    """Record the files of a sink; what a GPU has encoded comes from it as it is in the file."""
    work.seconds += writer.seconds
    work.moved["host to file"] += writer.file_bytes
    if backend.device == "GPU" and not writer.writer.takes_arrow:
        work.moved["device to host"] += writer.file_bytes


class SinkOutput:
    """Writes a sink's partitions as they come, and keeps its first rows."""

    def __init__(self, runner: Runner, source: Physical, write: Write, writer: SinkWriter, head_rows: int) -> None:
        self.runner, self.source, self.write, self.writer = runner, source, write, writer
        self.work = runner.recorder.of(write, write.origin)
        self.missing, self.heads = head_rows, list[pa.Table]()

    def take(self, frame: Frame) -> None:
        """Begin to write a partition."""
        backend, guard = self.runner.backend, self.runner.guard
        if self.missing > 0:
            self.heads.append(guard.run(self.write.origin, partial(backend.head, frame, self.missing)))
            self.missing -= self.heads[-1].num_rows
        write_frame(self.runner, self.work, frame, self.source.schema, self.writer)
        self.runner.finish(self.work, frame, self.source.partitions)

    def head(self) -> pa.Table:
        """Return the first rows."""
        return pa.concat_tables(self.heads) if self.heads else self.write.schema.to_arrow().empty_table()


def write_frame(runner: Runner, work: Work, frame: Frame, schema: Schema, writer: SinkWriter) -> None:
    """Begin to write one partition of a sink."""
    backend, guard, as_arrow = runner.backend, runner.guard, writer.writer.takes_arrow
    rows = backend.rows(frame)
    if runner.budget:
        runner.budget.make_room(int(HOST.encoded(writer.target.format).share * backend.nbytes(frame, schema)))
    with runner.recorder.timed(work):
        table = guard.run(work.origin, partial(backend.to_arrow, frame), rows) if as_arrow else frame
    if as_arrow:
        work.moved.update(write_traffic(backend, frame, schema))
    guard.run(work.origin, partial(writer.write, table, rows), rows)
    work.rows_in += rows

"""Does the work of physical nodes on frames that are there, and records it: what all executors share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from gpuetl.engines.interface import Backend, Frame
from gpuetl.errors import EvaluationError, GpuetlError, OutOfMemory, RunFailed, StepError
from gpuetl.executors.budget import Budget
from gpuetl.executors.carries import carried_by_itself, carried_on, combined
from gpuetl.executors.failures import row_in_source, row_values, step_failed
from gpuetl.executors.guard import Guard
from gpuetl.executors.ranges import boundaries, sampled, split_by_range
from gpuetl.executors.traffic import copy_traffic, operation_traffic, read_traffic
from gpuetl.physical.carries import Carried
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, gathers
from gpuetl.physical.ranges import Boundaries, RangeExchange
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder, Work

Result = TypeVar("Result")


class Runner:
    """Runs one node on one partition at a time.  It holds no frame and knows no other partition.

    Each step is done again, once, where memory runs out: see `Guard`, by default one that has nothing to spill.  A
    `budget` makes room for each step before it is done.
    """

    def __init__(
        self, backend: Backend, recorder: Recorder, guard: Guard | None = None, budget: Budget | None = None
    ) -> None:
        self.backend, self.recorder, self.guard, self.budget = backend, recorder, guard or Guard(backend), budget

    def room_for(self, node: Physical) -> AbstractContextManager[None]:
        """Make and hold room for what a node takes on one partition, where there is a limit that no allocator keeps."""
        return self.budget.making_room_for(id(node)) if self.budget else nullcontext()

    def step(
        self, node: Physical, rows: int, step: Callable[[], Result], index: int = 0, frames: Sequence[Frame] = ()
    ) -> Result:
        """Do a step of a node on partition `index`; `frames` are its inputs, and `rows` how many they have.

        Raises
        ------
        OutOfMemory, RunFailed
            With the stage and step of the pipeline, also for an error that nobody expects.
        """
        try:
            return self.guard.run(node.origin, step, rows)
        except OutOfMemory as error:
            error.gathered = gathers(node)
            raise
        except EvaluationError as error:
            raise self.explained(node, index, frames, error) from (error.__cause__ or error)
        except Exception as error:
            if isinstance(error, GpuetlError) and not isinstance(error, StepError):
                raise
            if (failed := step_failed(node.origin, error)) is error:
                raise
            raise failed from error

    def explained(self, node: Physical, index: int, frames: Sequence[Frame], error: EvaluationError) -> StepError:
        """Name the step of an error, and the row that explains it, if there is one."""
        failed = step_failed(node.origin, error)
        assert isinstance(failed, RunFailed)
        assert failed.problem is not None
        try:
            values = row_values(self.backend, error, frames)
            where = "" if error.row is None or not frames else self.where(failed, node, index, error.row)
        except Exception:  # a device that does not work any more, a file that is gone: the error itself matters
            return failed
        row = f"{where or 'The row'}: {values}" if values else error.shown or where
        return failed.told(replace(failed.problem, row=row))

    def where(self, failed: RunFailed, node: Physical, index: int, row: int) -> str:
        """Name the row of a source that failed, or nothing where it is not one of a source."""
        return row_in_source(node, index, row)

    def scan(self, scan: Scan, index: int) -> Frame:
        """Read one partition of a source."""
        work = self.recorder.of(scan.read, scan.origin)
        part, work.device = scan.parts[index], self.backend.device_of(scan.read)
        rows = sum(max(group.rows, 0) for group in part)
        with self.room_for(scan), self.recorder.timed(work):
            frame = self.step(scan, rows, lambda: self.backend.read(scan.read, part), index)
        of_files = scan.part_file_bytes[index]
        with self.recorder.lock:
            work.rows_in += rows or self.backend.rows(frame)
            work.file_bytes += of_files
            work.moved.update(read_traffic(self.backend, scan.read, of_files, frame))
            self.finish(work, frame, scan.partitions)
        return frame

    def apply(self, node: Map | Concat, index: int, frames: Sequence[Frame]) -> Frame:
        """Take partition `index` through a node: `frames` are those of its inputs, of a union the one that it has."""
        return self.map(node, index, frames) if isinstance(node, Map) else self.pass_on(node, index, frames[0])

    def map(self, node: Map, index: int, frames: Sequence[Frame]) -> Frame:
        """Run an operation on one partition of each of its inputs."""
        (frame,) = self.operate(node, index, frames, lambda: [self.backend.run(node.operation, *frames)])
        return frame

    def carry(self, node: Carried, index: int, frame: Frame, before: Sequence[Frame]) -> list[Frame]:
        """Run a window on one partition and the rows carried to it, if there are any.

        Return the partition and, unless it is the last one, or others wait for none, the rows to carry to the next.
        """
        last = node.combined or index == node.partitions - 1
        return self.operate(node, index, [frame], lambda: carried_on(self.backend, node.steps, frame, before, last))

    def carry_by_itself(self, node: Carried, frame: Frame) -> Frame:
        """Return the rows that one partition carries on as though it were the first."""
        (made,) = self.carries(node, [frame], lambda: [carried_by_itself(self.backend, node.steps, frame)])
        return made

    def combine(self, node: Carried, carried: Sequence[Frame]) -> list[Frame]:
        """Return what each partition and those before it carry on."""
        return self.carries(node, carried, lambda: combined(self.backend, node.steps, carried))

    def carries(self, node: Carried, frames: Sequence[Frame], step: Callable[[], list[Frame]]) -> list[Frame]:
        """Do a step for what partitions carry on, and record its time: no partition is done."""
        work = self.recorder.of(node.operation, node.origin)
        with self.recorder.timed(work):
            return self.step(node, sum(map(self.backend.rows, frames)), step)

    def operate(self, node: Map, index: int, frames: Sequence[Frame], step: Callable[[], list[Frame]]) -> list[Frame]:
        """Do an operation's step on one partition, and record it; the first frame that it gives is its partition."""
        main = node.inputs[node.main]
        work = self.recorder.of(node.operation, node.origin)
        work.device = self.backend.device_of(node.operation)
        work.rows_in += self.backend.rows(frames[node.main]) if index < main.partitions else 0  # one that goes with all
        rows = sum(self.backend.rows(frame) for frame in frames)
        with self.room_for(node), self.recorder.timed(work):
            made = self.step(node, rows, step, index, frames)
        work.moved.update(operation_traffic(self.backend, node.operation, frames, made[0]))
        self.finish(work, made[0], node.partitions)
        return made

    def pass_on(self, node: Concat, index: int, frame: Frame) -> Frame:
        """Record a partition that a union passes on; what comes in is the first input, as for other operations."""
        work = self.recorder.of(node.operation, node.origin)
        work.rows_in += self.backend.rows(frame) if index < node.inputs[0].partitions else 0
        self.finish(work, frame, node.partitions)
        return frame

    def split(self, node: Exchange, index: int, frames: Sequence[Frame]) -> list[Frame]:
        """Cut partition `index` into its pieces for the partitions to come: `frames` are those of the node's inputs."""
        if node.whole:
            return [frames[0]]
        work = self.recorder.of(node, node.origin)
        rows = self.backend.rows(frames[0])
        with self.room_for(node), self.recorder.timed(work):
            pieces = self.step(node, rows, lambda: self.pieces(node, index, *frames))
        work.moved.update(copy_traffic(self.backend, pieces, node.schema))
        return pieces

    def pieces(self, node: Exchange, index: int, frame: Frame, *others: Frame) -> list[Frame]:
        """Cut a partition by the route of the exchange."""
        if isinstance(node, Boundaries):
            return [sampled(self.backend, node, index, frame)]
        if isinstance(node, RangeExchange):
            return split_by_range(self.backend, node, index, frame, *others)
        return self.backend.split_by_hash(frame, node.keys, node.partitions)

    def merge(self, node: Exchange, pieces: Sequence[Frame]) -> Frame:
        """Put the pieces of one partition together, in the order of where they come from; one alone is not copied."""
        work = self.recorder.of(node, node.origin)
        rows = sum(self.backend.rows(piece) for piece in pieces)
        with self.recorder.timed(work):
            frame = self.step(node, rows, lambda: self.merged(node, pieces))
        work.rows_out += self.backend.rows(frame)
        if len(pieces) > 1:
            work.moved.update(copy_traffic(self.backend, [frame], node.schema))
        return frame

    def merged(self, node: Exchange, pieces: Sequence[Frame]) -> Frame:
        """Make one partition of its pieces by the route of the exchange."""
        if isinstance(node, Boundaries):
            return boundaries(self.backend, node, pieces)
        return self.backend.concat(pieces, node.schema)

    def finish(self, work: Work, frame: Frame, partitions: int) -> None:
        """Record a partition that is done, and tell of it."""
        work.rows_out += self.backend.rows(frame)
        work.partitions += 1
        self.recorder.progress(work.origin, work.partitions, partitions)


def source_of(node: Physical) -> Origin:
    """Return where rows come from, through exchanges."""
    return source_of(node.source) if isinstance(node, Exchange) else node.origin

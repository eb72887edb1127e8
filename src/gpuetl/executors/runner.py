"""Does the work of physical nodes on frames that are there, and records it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.capabilities import Device
from gpuetl.engines.interface import Backend, Frame
from gpuetl.errors import EvaluationError, GpuetlError, OutOfMemory, RunFailed, StepError
from gpuetl.executors.failures import row_in_source, row_values, step_failed
from gpuetl.executors.run_memory import Budget, Guard
from gpuetl.physical.nodes import Boundaries, Concat, Exchange, Map, Physical, RangeExchange, Scan, gathers
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.physical.window_state_steps import StatefulSteps, WindowPass
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Window
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder, Work
from gpuetl.types.data_types import INT64

# Boundaries between ranges of an order, found by a sample, and rows split by them.


def sampled(backend: Backend, node: Boundaries, index: int, frame: Frame) -> Frame:
    """Return the keys of a sample of partition `index`, with that number beside them."""
    rows, (*names, partition) = sampled_rows(backend.rows(frame), node.one_in), node.schema
    keys = backend.take(frame, names, rows)
    numbers = pa.repeat(pa.scalar(index, INT64), len(rows))
    return backend.from_arrow(backend.to_arrow(keys).append_column(partition, numbers))


def sampled_rows(rows: int, one_in: int) -> NDArray[np.int64]:
    """Return the numbers, ascending, of one row in `one_in`, each drawn from as many that follow each other.

    They are the same for as many rows: a partition that is computed again has the same sample.
    """
    starts = np.arange(0, rows, one_in, dtype=np.int64)
    places = starts + np.random.default_rng(0).integers(0, one_in, len(starts))
    return places[places < rows]


def boundaries(backend: Backend, node: Boundaries, pieces: Sequence[Frame]) -> Frame:
    """Sort the sample, a piece from each partition in order; return its rows at even ranks."""
    sample, nothing = backend.concat(pieces, node.schema), backend.concat([], node.schema)
    (ordered,) = backend.split_by_order(sample, node.by, nothing, nothing)
    return backend.take(ordered, node.schema, np.array(node.ranks(backend.rows(sample)), np.int64))


def split_by_range(backend: Backend, node: RangeExchange, index: int, frame: Frame, boundaries: Frame) -> list[Frame]:
    """Split rows by range; a boundary of this partition, or one before, comes before the rows that tie with it."""
    table, pieces = backend.to_arrow(boundaries), [frame]
    if table.num_rows:
        partition, keys = table.column(-1).to_numpy(), table.select(table.column_names[:-1])
        sides = (backend.from_arrow(keys.filter(pa.array(side))) for side in (partition <= index, partition > index))
        pieces = backend.split_by_order(frame, node.by, *sides)
    nothing = backend.concat([], node.schema)
    return pieces + [nothing] * (node.partitions - len(pieces))


# A stateful window on one partition, by operations of the backend: see `physical.stateful_window`.


def window_with_state(
    backend: Backend, steps: StatefulSteps, frame: Frame, before: Sequence[Frame], last: bool
) -> list[Frame]:
    """Return a partition with the window's columns and, unless it is the `last`, the rows for the next one.

    `before` has the state of earlier partitions: none, or one frame.
    """
    own = steps.results_only if last else steps.whole
    windowed = continued(backend, own.window, [*before, backend.run(steps.prepare, frame)])
    result = through(backend, own.results if before else own.results[-1:], windowed)
    return [result] if last else [result, through(backend, own.keep, windowed)]


def own_state(backend: Backend, steps: StatefulSteps, frame: Frame) -> Frame:
    """Return the state of a partition as though it were the first."""
    return state_rows(backend, steps.state_only, [backend.run(steps.prepare, frame)])


def combined(backend: Backend, steps: StatefulSteps, states: Sequence[Frame]) -> list[Frame]:
    """Return the state after each partition, given the state of each by itself."""
    found = list(states[:1])
    for frame in states[1:]:
        found.append(state_rows(backend, steps.state_only, [found[-1], frame]))
    return found


def state_rows(backend: Backend, state_only: WindowPass, frames: Sequence[Frame]) -> Frame:
    """Return the state after rows that follow each other."""
    return through(backend, state_only.keep, continued(backend, state_only.window, frames))


def continued(backend: Backend, window: Window, frames: Sequence[Frame]) -> Frame:
    """Run a window over rows that follow each other."""
    rows = backend.concat(frames, window.source.schema)
    del frames  # before more is computed
    return backend.run(window, rows)


def through(backend: Backend, operations: Iterable[Node], frame: Frame) -> Frame:
    """Run operations one after another."""
    for operation in operations:
        frame = backend.run(operation, frame)
    return frame


# The bytes that an operation had to move over each link, at least: what it reads once, and what it writes.


Traffic = Mapping[Link, int]

MEMORY: dict[Device, Link] = {"GPU": "device memory", "CPU": "host memory"}
TO_OTHER: dict[Device, Link] = {"GPU": "device to host", "CPU": "host to device"}
FROM_FILE: dict[Device, Link] = {"GPU": "file to device", "CPU": "file to host"}


def operation_traffic(backend: Backend, operation: Node, frames: Sequence[Frame], output: Frame) -> Traffic:
    """Return what an operation moved: the columns that it touches, which also come and go where it ran elsewhere."""
    read, written = operation.touched
    schemas = (read, *(node.schema for node in operation.inputs[1:]))
    input_bytes = sum(backend.nbytes(frame, names) for frame, names in zip(frames, schemas, strict=True))
    output_bytes = backend.nbytes(output, written)
    at, home = backend.device_of(operation), backend.device
    crossed: Traffic = {TO_OTHER[home]: input_bytes, TO_OTHER[at]: output_bytes} if at != home else {}
    return {MEMORY[at]: input_bytes + output_bytes, **crossed}


def read_traffic(backend: Backend, read: Read, file_bytes: int, output: Frame) -> Traffic:
    """Return what a source moved: bytes of files and of the frame, which the GPU gets of the CPU where that reads."""
    at, home, size = backend.device_of(read), backend.device, backend.nbytes(output, read.schema)
    if read.dataset.file_format.in_memory:
        return {"host to device": size} if home == "GPU" else {}
    crossed: Traffic = {TO_OTHER[at]: size} if at != home else {}
    return {FROM_FILE[at]: file_bytes, MEMORY[at]: file_bytes + size, **crossed}


def copy_traffic(backend: Backend, output: Iterable[Frame], columns: Iterable[str]) -> Traffic:
    """Return what was moved to copy frames."""
    return {MEMORY[backend.device]: 2 * sum(backend.nbytes(frame, columns) for frame in output)}


def write_traffic(backend: Backend, frame: Frame, columns: Iterable[str]) -> Traffic:
    """Return what is moved to hand a frame over to the writer of files."""
    return {"device to host": backend.nbytes(frame, columns)} if backend.device == "GPU" else {}


# Does the work of physical nodes on frames that are there, and records it: what all executors share.


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
        return self.budget.freed_for(id(node)) if self.budget else nullcontext()

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
        return failed.with_problem(replace(failed.problem, row=row))

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

    def run_stateful(self, node: StatefulWindow, index: int, frame: Frame, before: Sequence[Frame]) -> list[Frame]:
        """Run a window on one partition and the state of earlier partitions, if there is any.

        Return the partition and, unless it is the last one, or others wait for none, the rows to carry to the next.
        """
        last = node.combined or index == node.partitions - 1
        return self.operate(
            node, index, [frame], lambda: window_with_state(self.backend, node.steps, frame, before, last)
        )

    def own_state_of(self, node: StatefulWindow, frame: Frame) -> Frame:
        """Return the state of one partition as though it were the first."""
        (output,) = self.state_step(node, [frame], lambda: [own_state(self.backend, node.steps, frame)])
        return output

    def combine(self, node: StatefulWindow, states: Sequence[Frame]) -> list[Frame]:
        """Return the state after each partition."""
        return self.state_step(node, states, lambda: combined(self.backend, node.steps, states))

    def state_step(self, node: StatefulWindow, frames: Sequence[Frame], step: Callable[[], list[Frame]]) -> list[Frame]:
        """Compute window state in a step, and record its time: no partition is done."""
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
            output = self.step(node, rows, step, index, frames)
        work.moved.update(operation_traffic(self.backend, node.operation, frames, output[0]))
        self.finish(work, output[0], node.partitions)
        return output

    def pass_on(self, node: Concat, index: int, frame: Frame) -> Frame:
        """Record a partition that a union passes on; what comes in is the first input, as for other operations."""
        work = self.recorder.of(node.operation, node.origin)
        is_main = (index < node.inputs[0].partitions) == (node.main == 0)
        work.rows_in += self.backend.rows(frame) if is_main else 0
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
        work.exchanged_bytes += (size := self.backend.nbytes(frame, node.schema))
        if len(pieces) > 1:
            work.moved[MEMORY[self.backend.device]] += 2 * size
        return frame

    def merged(self, node: Exchange, pieces: Sequence[Frame]) -> Frame:
        """Make one partition of its pieces by the route of the exchange."""
        if isinstance(node, Boundaries):
            return boundaries(self.backend, node, pieces)
        return self.backend.concat(pieces, node.schema)

    def finish(self, work: Work, frame: Frame, partitions: int) -> None:
        """Record a partition that is done, and report the progress."""
        work.rows_out += self.backend.rows(frame)
        work.partitions += 1
        self.recorder.progress(work.origin, work.partitions, partitions)


def source_of(node: Physical) -> Origin:
    """Return where rows come from, through exchanges."""
    return source_of(node.source) if isinstance(node, Exchange) else node.origin

"""A plan's operations run over a few rows of its sources, in the order of a run, for the kernels that they ask for."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from weakref import WeakSet

import numpy as np
import pyarrow as pa

from gpuetl.backends.backend import Backend
from gpuetl.backends.cudf.columns.dictionaries import decoded
from gpuetl.backends.cudf.columns.text_codes import with_dictionary
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.rehearsal.expected import Expected
from gpuetl.backends.cudf.rehearsal.forgiven import CATEGORY, forgiven
from gpuetl.backends.cudf.rehearsal.limits import ROWS, limits_of
from gpuetl.backends.cudf.rehearsal.machine import RehearsalMachine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.executors.carries import carried_by_itself, carried_on, combined
from gpuetl.executors.ranges import boundaries, sampled, split_by_range
from gpuetl.expressions.types import DataType
from gpuetl.io.frames import FrameDataset
from gpuetl.physical.carries import Carried
from gpuetl.physical.estimate import estimated_rows
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.ranges import Boundaries, RangeExchange
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Join, Write
from gpuetl.plan.schema import Schema
from gpuetl.report.recorder import Recorder, recording
from gpuetl.report.trace import span

HEAD_ROWS = 10
"""As many as `RunOptions` shows of each sink."""
RANGES = 3
FILES = 4
"""Of a sink with a folder for each value of a column: the others' kernels are the same."""


def begin_rehearsal(
    physical: PhysicalPlan, expected: Expected, backend_on: Callable[[RehearsalMachine], Backend]
) -> None:
    """Rehearse a plan on a thread, with the choices that are made here.

    A process that ends waits for the node that the thread is at, and for no more: Arrow and NumPy crash where a thread
    is in them while the interpreter is torn down.
    """
    run = partial(copy_context().run, rehearse, physical, expected, backend_on)
    thread = Thread(target=run, name="gpuetl-rehearsal", daemon=True)
    _REHEARSING.add(thread)
    thread.start()


_REHEARSING: WeakSet[Thread] = WeakSet()
_ENDING = Event()
MOST_WAIT_S = 10.0


@atexit.register
def end_rehearsals() -> None:
    """Let rehearsals stop at their next node, and wait for that."""
    _ENDING.set()
    for thread in list(_REHEARSING):
        thread.join(MOST_WAIT_S)


def rehearse(physical: PhysicalPlan, expected: Expected, backend_on: Callable[[RehearsalMachine], Backend]) -> None:
    """Rehearse a plan; notes and warnings are those of the run, which has them once more."""
    machine = RehearsalMachine(expected)
    with forgiven("the plan"), recording(Recorder()), np.errstate(all="ignore"), span("rehearse", CATEGORY):
        Rehearsal(backend_on(machine), machine).run(physical)
    expected.end()  # also after a failure, which would be that of each later run


class Rehearsal:
    """The frames of a plan's nodes; of a node at which the rehearsal fails, rows that are made up."""

    def __init__(self, backend: Backend, machine: RehearsalMachine) -> None:
        self.backend, self.machine = backend, machine
        self.frames: dict[int, Frame] = {}
        self.rows: dict[int, int] = {}

    def run(self, physical: PhysicalPlan) -> None:
        """Rehearse what sinks write, what is kept and what is counted, in the order of a run."""
        self.rows = estimated_rows(*physical.roots)
        for source in physical.first.values():
            self.compute(source)
        for write, source in physical.sinks.values():
            self.compute(source)
            frame = self.frames[id(source)]
            with forgiven(f"sink {write.target.name}"), self.standing_for(self.rows[id(source)] // max(1, frame.rows)):
                self.written(write, frame)
        for source in (*physical.kept.values(), *physical.along.values()):
            self.compute(source)
        for source in physical.kept.values():
            with forgiven("a head"):
                self.backend.head(self.frames[id(source)], HEAD_ROWS)

    def compute(self, root: Physical) -> None:
        """Rehearse a node and what it needs."""
        for node in walk_graph(root):
            if _ENDING.is_set():
                raise RuntimeError("the process ends")
            if id(node) in self.frames:
                continue
            with forgiven(type(node).__name__):
                self.frames[id(node)] = self.frame_of(node)
            if id(node) not in self.frames:
                self.frames[id(node)] = self.made_up(node.schema)

    def frame_of(self, node: Physical) -> Frame:
        """Return some rows of a node."""
        frames = [self.frames[id(child)] for child in node.inputs]
        if isinstance(node, Scan):
            return self.scanned(node)
        if isinstance(node, Map) and isinstance(node.operation, Join):
            return self.joined(node, frames)
        if isinstance(node, Carried):
            return self.filled(self.carried(node, *frames), node)
        if isinstance(node, Map):
            return self.filled(self.backend.run(node.operation, *frames), node)
        if isinstance(node, Exchange):
            return self.exchanged(node, *frames)
        assert isinstance(node, Concat)
        return frames[0]

    def exchanged(self, node: Exchange, frame: Frame, *others: Frame) -> Frame:
        """Split rows by the route of an exchange, and put pieces together."""
        if isinstance(node, Boundaries):
            node = replace(node, one_in=2, least=1, ranges=RANGES)  # rows are far fewer than those of a run
            pieces = [sampled(self.backend, node, partition, frame) for partition in range(2)]
            found: Frame = boundaries(self.backend, node, pieces)
            return found
        if isinstance(node, RangeExchange):
            split_by_range(self.backend, node, 0, frame, *others)
        elif node.route == "hash":
            self.backend.split_by_hash(frame, node.keys, node.partitions)
        if node.source.partitions > 1:
            self.backend.concat([frame, frame], node.schema)
        return frame

    def joined(self, node: Map, frames: Sequence[Frame]) -> Frame:
        """Join; which of two ways a large right side takes depends on how many rows of it there are: it goes both."""
        rows_a_row = self.rows[id(node.inputs[1])] // max(1, frames[1].rows)
        if rows_a_row > 1:
            self.backend.run(node.operation, *frames)
        with self.standing_for(rows_a_row):
            return self.filled(self.backend.run(node.operation, *frames), node)

    @contextmanager
    def standing_for(self, rows_a_row: int) -> Iterator[None]:
        """Let each row stand for so many."""
        self.machine.rehearsed.rows_a_row = max(1, rows_a_row)
        try:
            yield
        finally:
            self.machine.rehearsed.rows_a_row = 1

    def carried(self, node: Carried, frame: Frame) -> Frame:
        """Run the steps of a window by carries as on the first partition, then as on the next."""
        if node.combined:
            alone = carried_by_itself(self.backend, node.steps, frame)
            _, before = combined(self.backend, node.steps, [alone, alone])
        else:
            _, before = carried_on(self.backend, node.steps, frame, [], last=False)
        found: Frame = carried_on(self.backend, node.steps, frame, [before], last=True)[0]
        return found

    def filled(self, frame: Frame, node: Physical) -> Frame:
        """Return a frame, other rows where it has none."""
        return frame if frame.rows else self.made_up(node.schema)

    def scanned(self, scan: Scan) -> Frame:
        """Read the first rows of a source; those of CSV files are made up.

        A plan that came to a worker has the limits of all row groups at its first one: see executors/dask/rehearse.py.
        """
        read, dataset = scan.read, scan.read.dataset
        groups = [group for part in scan.parts for group in part if group.rows]
        if isinstance(dataset, FrameDataset):
            rows = dataset.table.select(list(read.schema))[:ROWS]
            return self.as_read({name: from_arrow(rows.column(name), self.machine) for name in read.schema}, len(rows))
        if dataset.format != "parquet" or not groups:
            return self.made_up(read.schema)
        self.machine.limits = groups[0].ranges or limits_of(list(read.schema), dataset.row_groups)
        first = replace(groups[0], rows=min(ROWS, groups[0].rows))
        frame: Frame = self.backend.read(read, [first])
        return frame

    def as_read(self, columns: Mapping[str, Vector], rows: int) -> Frame:
        """Return columns with dictionaries where few texts are distinct."""
        return Frame({name: with_dictionary(column, self.machine) for name, column in columns.items()}, rows)

    def made_up(self, schema: Schema) -> Frame:
        """Return rows without nulls, of few values a column."""
        columns = {name: from_arrow(values_of(dtype), self.machine) for name, dtype in schema.items()}
        return self.as_read(columns, ROWS)

    def written(self, write: Write, frame: Frame) -> None:
        """Write a sink's frame, and copy its first rows to the host."""
        writer = self.backend.file_writer(write.target, write.schema)
        if writer is None:
            for vector in frame.columns.values():
                decoded(vector, self.machine)
        else:
            keys = write.target.partition_by
            parts = [rows for _, rows in writer.split(frame, keys)] if keys else writer.parts(frame)
            for part in parts[:FILES]:
                writer.write(part, Path(os.devnull))
        self.backend.head(frame, HEAD_ROWS)


def values_of(dtype: DataType) -> pa.Array:
    """Return values of a type, few of them different."""
    numbers = pa.array([row % 50 for row in range(ROWS)], pa.int64())
    try:
        return numbers.cast(dtype)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(ROWS, dtype)

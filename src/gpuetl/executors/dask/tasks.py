"""The bodies of tasks, as they run on a worker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from gpuetl.backends.backend import Frame
from gpuetl.executors.dask.fetching import Places, fetched, giving_worker, let_go
from gpuetl.executors.dask.fragments import Fragment, Step
from gpuetl.executors.dask.job import Job, OpenJob, TaskRunner
from gpuetl.executors.dask.parcels import all_sealed, opened, sealed
from gpuetl.executors.dask.writing import write_partition
from gpuetl.io.frames import FrameDataset
from gpuetl.physical.nodes import Exchange, Scan

os.environ.setdefault("ACERO_ALIGNMENT_HANDLING", "ignore")
"""Buffers begin in a message wherever they begin; Arrow takes them so, and would print a warning for each."""


@dataclass(frozen=True)
class RowsInMemory:
    """Rows of a source in memory, without the rest of the table that they are cut from."""

    table: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as Arrow's stream: a pickled slice takes its whole table along."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as stream:
            stream.write_table(self.table)
        return _rows_in_memory, (sink.getvalue().to_pybytes(),)


def _rows_in_memory(stream: bytes) -> RowsInMemory:
    return RowsInMemory(pa.ipc.open_stream(stream).read_all())


def compute(job: Job, fragment: Fragment, *arguments: Any) -> Any:
    """Return a partition."""
    job_here = job.opened()
    with job_here.runner(fragment.name) as runner:
        (frame,) = computed(job_here, runner, fragment, arguments)
        return sealed(frame)


def split(job: Job, fragment: Fragment, exchange: int, index: int, *arguments: Any) -> Any:
    """Return the pieces of partition `index` for those to come; for one, its piece."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        frames = computed(here, runner, fragment, arguments)
        runner.turn.compute()
        pieces = all_sealed(runner.split(here.exchange(exchange), index, frames))
        giving_worker()  # others may know already that they are here: a worker that was lost had cut them before
        return pieces if len(pieces) > 1 else pieces[0]


def carry(job: Job, fragment: Fragment, window: int, index: int, *arguments: Any) -> list[Any]:
    """Return partition `index` of a window by carries, and what it carries to the next one."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        frame, *before = computed(here, runner, fragment, arguments)
        runner.turn.compute()
        return all_sealed(runner.carry(here.carried(window), index, frame, before))


def keep(job: Job, fragment: Fragment, *arguments: Any) -> Any:
    """Return a partition as an Arrow table, for the driver."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        (frame,) = computed(here, runner, fragment, arguments)
        runner.turn.compute()
        runner.wanted = here.backend.to_arrow(frame)
        return runner.wanted


def write(job: Job, fragment: Fragment, sink: int, *arguments: Any) -> Any:
    """Write a partition to files of this attempt."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        runner.wanted = write_partition(here, runner, here.write(sink), computed(here, runner, fragment, arguments))
        return runner.wanted


def computed(job: OpenJob, runner: TaskRunner, fragment: Fragment, arguments: Sequence[Any]) -> list[Frame]:
    """Run the steps of a fragment; return the frames that it is about.  A frame is let go when it is taken."""
    frames: list[Frame] = []

    def taken(place: int) -> Frame:
        if place < 0:
            return opened(arguments[~place])
        frame, frames[place] = frames[place], None
        return frame

    for step in fragment.steps:
        frame = stepped(job, runner, step, [taken(place) for place in step.sources])
        frames.append(frame)
    return [taken(place) for place in fragment.values]


def stepped(job: OpenJob, runner: TaskRunner, step: Step, frames: Sequence[Frame]) -> Frame:
    """Run one node on one partition, in the turn that it needs."""
    node, turn = job.physical(step.node), runner.turn
    if isinstance(node, Scan):
        turn.read()
        scan = given_to_read(step, node)
        frame = runner.scan(scan, step.partition)
        runner.recorder.rename(scan.read, node.read)
        return frame
    if len(frames) == 1 and isinstance(frames[0], Places):
        turn.read()
        frames = runner.step(node, 0, partial(pieces_of, frames[0], step.partition))
    turn.compute()
    if isinstance(node, Exchange):
        return runner.merge(node, frames)
    return runner.apply(node, step.partition, frames)


def pieces_of(places: Places, target: int) -> list[Frame]:
    """Fetch the pieces of one partition; they are let go when there was memory for all of them."""
    frames = [opened(piece) for piece in fetched(places, target)]
    let_go(places, target)
    return frames


def given_to_read(step: Step, scan: Scan) -> Scan:
    """Return the scan with the partition that the task is given."""
    read, part = scan.read, step.given
    if isinstance(part, RowsInMemory):
        dataset = FrameDataset.of(read.dataset.name, part.table)
        read, part = replace(read, dataset=dataset), dataset.row_groups
    return Scan(read, (*scan.parts[: step.partition], part, *scan.parts[step.partition + 1 :]))

"""Tasks: what one computes, as data, and how it runs on a worker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl.engines.interface import Frame
from gpuetl.executors.dask.cluster_sinks import write_partition
from gpuetl.executors.dask.fetching import Places, fetch_pieces, release_pieces, serving_worker
from gpuetl.executors.dask.job import Job, OpenJob, TaskRunner
from gpuetl.executors.dask.spillable_frames import all_wrapped, spillable, wrapped
from gpuetl.formats.frames import FrameDataset
from gpuetl.physical.nodes import Exchange, Physical, Scan
from gpuetl.records import dataclass

# What one task computes, as data: steps that each make a frame of frames made before, or of the task's arguments.


class Step(NamedTuple):
    """One physical node, by its number, on one partition.

    `sources` are the frames that it takes: of an earlier step by its place, of the task's arguments by -1, -2, …  A
    frame is taken once.  `source_part` is what a scan reads: row groups, or rows of a source in memory.
    """

    node: int
    partition: int
    sources: tuple[int, ...] = ()
    source_part: Any = None


@dataclass(frozen=True)
class Fragment:
    """The steps of a task, and the places of the frames that it is about, made by steps or given as arguments.

    `name` is the task's.
    """

    name: str
    steps: tuple[Step, ...]
    values: tuple[int, ...]

    def __dask_tokenize__(self) -> str:
        """Tell dask by what tasks differ: it would look through all that they hold."""
        return self.name


class FragmentBuilder:
    """Collects steps, and the keys of the tasks whose results they take.

    `share` is where the partition of a source that they read begins in it, 0.5 is the middle, if it is a large one.
    `light` counts the further inputs that they compute themselves.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.keys: list[Any] = []
        self.share: float | None = None
        self.light = 0

    def step(self, node: int, partition: int, sources: tuple[int, ...] = (), source_part: Any = None) -> int:
        """Add a step; return the place of its frame."""
        self.steps.append(Step(node, partition, sources, source_part))
        return len(self.steps) - 1

    def argument(self, key: Any) -> int:
        """Add the result of a task; return its place."""
        self.keys.append(key)
        return -len(self.keys)

    def fragment(self, name: str, values: tuple[int, ...]) -> Fragment:
        """Return the fragment that gives the frames at `values`."""
        return Fragment(name, tuple(self.steps), values)


# The bodies of tasks, as they run on a worker.


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
    here = job.opened()
    with here.runner(fragment.name) as runner:
        (result,) = run_fragment(here, runner, fragment, arguments)
        return wrapped(result, here.support)


def split(job: Job, fragment: Fragment, exchange: int, index: int, *arguments: Any) -> Any:
    """Return the pieces of partition `index` for those to come; for one, its piece."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        pieces = all_wrapped(
            split_frames(runner, here.exchange(exchange), index, run_fragment(here, runner, fragment, arguments)),
            here.support,
        )
        serving_worker()  # others may know already that they are here: a worker that was lost had cut them before
        return pieces if len(pieces) > 1 else pieces[0]


def window(job: Job, fragment: Fragment, window: int, index: int, *arguments: Any) -> list[Any]:
    """Return partition `index` of a stateful window, and the state for the next one."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        node = here.window(window)
        frame, *before = fragment_frames(here, runner, node, fragment, arguments)
        return all_wrapped(runner.run_stateful(node, index, frame, before), here.support)


def own_state(job: Job, fragment: Fragment, window: int, *arguments: Any) -> Any:
    """Return the state of a window's partition as though it were the first."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        node = here.window(window)
        (frame,) = fragment_frames(here, runner, node, fragment, arguments)
        return wrapped(runner.own_state_of(node, frame), here.support)


def combine(job: Job, fragment: Fragment, window: int, *arguments: Any) -> list[Any]:
    """Return the state after each partition of a window, given the state of each by itself."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        node = here.window(window)
        return all_wrapped(runner.combine(node, fragment_frames(here, runner, node, fragment, arguments)), here.support)


def keep(job: Job, fragment: Fragment, node: int, *arguments: Any) -> Any:
    """Return a partition as an Arrow table, for the driver."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        runner.task_result = here.backend.to_arrow(
            *fragment_frames(here, runner, here.physical(node), fragment, arguments)
        )
        return runner.task_result


def write(job: Job, fragment: Fragment, sink: int, *arguments: Any) -> Any:
    """Write a partition to files of this attempt."""
    here = job.opened()
    with here.runner(fragment.name) as runner:
        runner.task_result = write_partition(
            here, runner, here.write(sink), run_fragment(here, runner, fragment, arguments)
        )
        return runner.task_result


def split_frames(runner: TaskRunner, node: Exchange, index: int, results: Sequence[Any]) -> list[Frame]:
    """Return the pieces of a partition, which is let go."""
    runner.slot.compute()
    return runner.split(node, index, runner.opened(node.origin, results))


def fragment_frames(
    job: OpenJob, runner: TaskRunner, node: Physical, fragment: Fragment, arguments: Sequence[Any]
) -> list[Frame]:
    """Run the steps of a fragment; return the frames that it is about, for a node to compute."""
    results = run_fragment(job, runner, fragment, arguments)
    runner.slot.compute()
    return runner.opened(node.origin, results)


def run_fragment(job: OpenJob, runner: TaskRunner, fragment: Fragment, arguments: Sequence[Any]) -> list[Any]:
    """Run the steps of a fragment; return what it is about: frames, or results of tasks that hold some.

    A frame is let go when it is taken.
    """
    results: list[Any] = []

    def take(place: int) -> Any:
        if place < 0:
            return arguments[~place]
        result, results[place] = results[place], None
        return result

    for step in fragment.steps:
        results += [run_step(job, runner, step, [take(place) for place in step.sources])]
    return [take(place) for place in fragment.values]


def run_step(job: OpenJob, runner: TaskRunner, step: Step, results: Sequence[Any]) -> Any:
    """Run one node on one partition, in the task slot that it needs.

    A frame that was read waits for the computing slot as a task's result does, so that it can be spilled.
    """
    node, slot = job.physical(step.node), runner.slot
    if isinstance(node, Scan):
        slot.read()
        frame = run_scan(runner, step, node)
        return spillable(frame, job.support) if slot.kind == "reading" else frame
    places = results[0] if len(results) == 1 and isinstance(results[0], Places) else None
    if places is not None:
        slot.read()
        results = runner.step(node, 0, partial(fetch_pieces, places, step.partition))
    slot.compute()
    frames = runner.opened(node.origin, results)
    if places is not None:
        release_pieces(places, step.partition)
    return runner.merge(node, frames) if isinstance(node, Exchange) else runner.apply(node, step.partition, frames)


def run_scan(runner: TaskRunner, step: Step, node: Scan) -> Frame:
    """Read what the task is given."""
    scan = scan_of_part(step, node)
    frame = runner.scan(scan, step.partition)
    runner.recorder.rename(scan.read, node.read)
    return frame


def scan_of_part(step: Step, scan: Scan) -> Scan:
    """Return the scan with the partition that the task is given."""
    read, part = scan.read, step.source_part
    if isinstance(part, RowsInMemory):
        dataset = FrameDataset.of(read.dataset.name, part.table)
        read, part = replace(read, dataset=dataset), dataset.row_groups
    return Scan(read, (*scan.parts[: step.partition], part, *scan.parts[step.partition + 1 :]))

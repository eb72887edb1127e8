"""Lowers a physical plan to dask tasks: few and large ones, since each costs a millisecond or more.

A task computes a fragment: what follows on one partition up to where rows meet others or have several readers.  What is
put together of an exchange's pieces goes into the task that reads it, and so does a small table that is joined there; a
task whose rows are split by key ends with that; one task a piece, which copies nothing, is what lets a scheduler send
each piece to its reader alone, and make it again where it was lost.  Where that would be too many tasks, readers fetch
their pieces themselves: see `fetching.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import getitem
from typing import Any

from dask.task_spec import Task, TaskRef

from gpuetl.executors.dask import tasks
from gpuetl.executors.dask.fetching import all_places, has_many_pieces, place_of
from gpuetl.executors.dask.job import Job
from gpuetl.executors.dask.packed_plan import AnyNode
from gpuetl.executors.dask.tasks import FragmentBuilder
from gpuetl.formats.frames import FrameDataset
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, count_reads, first_read, matching
from gpuetl.physical.size_estimates import read_rows
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable, Write

LARGE_ROWS = 1 << 22
"""Rows of a source's partition from which computing takes longer than moving its further inputs to another worker."""
FEW_ROWS = 1 << 16
"""Rows of a source that take a few milliseconds to read, about as long as a task costs."""
MOST_LIGHT = 8
"""Small tables that a task reads itself: others may read more of them meanwhile."""
Key = Any
"""What dask calls a task: a name, and numbers of partitions."""


class TaskGraph:
    """The tasks of a run.

    `writes` has the keys of the tasks that write each sink's partitions, in order; `kept_stages` those of the stages
    that are kept; `checks` those of the counts that a run checks before it commits.  `origins` has each key's node.
    `shares` has the tasks that join results of other tasks to a large partition of a source, and where that partition
    begins in the source: see `results.py`.  `pinned` are tasks whose results stay in memory because readers fetch
    pieces of them directly.  There are none unless the run `fetches` pieces.
    """

    def __init__(self, plan: PhysicalPlan, nodes: Sequence[AnyNode], job: Job, fetches: bool = True) -> None:
        self.job, self.fetches = job, fetches
        self.numbers = {id(node): number for number, node in enumerate(nodes)}
        self.readers: Counter[tuple[int, int]] = count_reads(plan.roots)
        self.tasks: dict[Key, Any] = {}
        self.origins: dict[Key, AnyNode] = {}
        self.shares: dict[Key, float] = {}
        self.pinned: list[Key] = []
        self.pending: list[Callable[[], None]] = []
        self.writes = {name: self.write_tasks(write, source) for name, (write, source) in plan.written.items()}
        self.kept_stages = {name: self.whole(node) for name, node in plan.kept.items()}
        self.checks = {name: self.whole(node) for name, node in plan.checks.items()}
        while self.pending:
            self.pending.pop()()

    def write_tasks(self, write: Write, source: Physical) -> list[Key]:
        """Add the tasks that write a sink; return their keys."""
        number = self.numbers[id(write)]
        indices = range(source.partitions)
        return [self.task(f"write {number}", source, index, tasks.write, number) for index in indices]

    def whole(self, node: Physical) -> Key:
        """Add the task that gives the driver a node's one partition; return its key."""
        return self.task("keep", node, 0, tasks.keep, self.numbers[id(node)])

    def task(self, verb: str, node: Physical, index: int, body: Callable[..., Any], *arguments: Any) -> Key:
        """Add the task that does something with a partition; return its key."""
        key = self.key(verb, node, index)
        builder = FragmentBuilder()
        self.add(key, builder, (self.computed(builder, node, index),), body, *arguments)
        return key

    def key(self, verb: str, node: Physical, *places: int, group: str = "") -> Key:
        """Name a task, perhaps of a group of its node: the scheduler's pages show the part before the first hyphen."""
        key = (f"{verb} {node.origin.name}-{self.job.name}-{self.numbers[id(node)]}{group}", *places)
        self.origins[key] = node
        return key

    def add(
        self, key: Key, builder: FragmentBuilder, values: tuple[int, ...], body: Callable[..., Any], *arguments: Any
    ) -> None:
        """Add a task."""
        fragment = builder.fragment(str(key), values)
        if builder.keys and builder.share is not None:
            self.shares[key] = builder.share
        self.tasks[key] = Task(key, body, self.job, fragment, *arguments, *map(TaskRef, builder.keys))

    def frame(self, node: Physical, index: int) -> Key:
        """Return the key of the task that makes a partition which others read."""
        if isinstance(node, StatefulWindow):
            return self.window_partition(node, index, 0)
        return self.deferred("compute", node, index, self.compute)

    def compute(self, key: Key, node: Physical, index: int) -> None:
        """Add the task of `frame`."""
        builder = FragmentBuilder()
        self.add(key, builder, (self.computed(builder, node, index, in_this_task=True),), tasks.compute)

    def computed(self, builder: FragmentBuilder, node: Physical, index: int, in_this_task: bool = False) -> int:
        """Add the steps that compute a partition, back to where its rows are to be had; return its place.

        `in_this_task` says that it is this task which computes it for several readers.
        """
        chain: list[tuple[Map | Concat | Exchange, int]] = []
        while self.passes_on(node) and (in_this_task or self.has_one_reader(node, index)):
            chain.append((node, index))  # type: ignore[arg-type]
            node, index = self.source(node, index)
            in_this_task = False
        value = self.read(builder, node, index, in_this_task)
        for step, at in reversed(chain):
            others = self.others(builder, step, at) if isinstance(step, Map) else ()
            value = builder.step(self.numbers[id(step)], at, (value, *others))
        return value

    def others(self, builder: FragmentBuilder, node: Map | Exchange, index: int) -> tuple[int, ...]:
        """Add what goes with a partition of the first input, of each of the others; return their places."""
        found = [(child, matching(child, index)) for child in node.inputs[1:]]
        return tuple(
            self.here(builder, *one) if self.is_light(builder, *one) else self.beside(builder, *one) for one in found
        )

    def here(self, builder: FragmentBuilder, node: Physical, index: int) -> int:
        """Add the steps that compute a further input."""
        builder.light += 1
        return self.computed(builder, node, index)

    def is_light(self, builder: FragmentBuilder, node: Physical, index: int) -> bool:
        """Tell whether to compute a further input takes less time than to send a task, and wait for it.

        A user's kernel may take long for few rows.
        """
        if builder.light == MOST_LIGHT:
            return False
        while self.passes_on(node) and self.has_one_reader(node, index):
            if isinstance(node, Map) and isinstance(node.operation, Kernel | KernelReduction | KernelTable):
                return False
            node, index = self.source(node, index)
        return isinstance(node, Scan) and self.has_one_reader(node, index) and read_rows(node.parts[index]) <= FEW_ROWS

    def passes_on(self, node: Physical) -> bool:
        """Tell whether each partition of a node comes from one partition, so that one task can go on with it."""
        if isinstance(node, Exchange):
            return node.whole and node.source.partitions == 1
        return isinstance(node, Map | Concat) and not isinstance(node, StatefulWindow)

    def source(self, node: Physical, index: int) -> tuple[Physical, int]:
        """Return the node and the partition that one comes from, of a node that passes on."""
        return (node.source, 0) if isinstance(node, Exchange) else first_read(node, index)  # type: ignore[arg-type]

    def has_one_reader(self, node: Physical, index: int) -> bool:
        """Tell whether the task that reads a partition may compute it."""
        return self.readers[id(node), index] == 1

    def read(self, builder: FragmentBuilder, node: Physical, index: int, in_this_task: bool) -> int:
        """Add what a fragment begins with: a scan, an exchange's pieces, or what another task makes."""
        number = self.numbers[id(node)]
        if isinstance(node, StatefulWindow) or not (in_this_task or self.has_one_reader(node, index)):
            return builder.argument(self.frame(node, index))
        if isinstance(node, Scan):
            if node.partitions > 1 and read_rows(node.parts[index]) >= LARGE_ROWS:
                builder.share = index / node.partitions
            return builder.step(number, index, (), source_part(node, index))
        assert isinstance(node, Exchange)
        if self.fetches and has_many_pieces(node):
            return builder.step(number, index, (builder.argument(self.places(node)),))
        pieces = [builder.argument(key) for key in self.pieces(node, index)]
        return builder.step(number, index, tuple(pieces))

    def places(self, node: Exchange) -> Key:
        """Return the key of the task that puts together where all partitions are cut."""
        return self.deferred("places", node, 0, self.gather_places)

    def gather_places(self, key: Key, node: Exchange, _: int) -> None:
        """Add the tasks that say where a partition is cut, a group each (see `take_item`), and the one of all."""
        found = []
        for source in range(node.source.partitions):
            whole, place = (
                self.deferred("split", node, source, self.split),
                self.key("place", node, 0, group=f"-{source}"),
            )
            self.pinned.append(whole)
            self.tasks[place] = Task(place, place_of, whole, TaskRef(whole))
            found.append(TaskRef(place))
        self.tasks[key] = Task(key, all_places, *found)

    def beside(self, builder: FragmentBuilder, node: Physical, index: int) -> int:
        """Add a further input: pieces are put together here, anything else another task computes meanwhile."""
        if isinstance(node, Exchange) and not self.passes_on(node):
            return self.read(builder, node, index, in_this_task=False)
        return builder.argument(self.frame(node, index))

    def pieces(self, node: Exchange, index: int) -> list[Key]:
        """Return the keys of the pieces of one partition, in the order of the partitions that they come from."""
        sources = range(node.source.partitions)
        if node.whole:
            return [self.frame(node.source, source) for source in sources]
        return [self.piece(node, source, index) for source in sources]

    def piece(self, node: Exchange, source: int, index: int) -> Key:
        """Add the task that takes a piece, and for the first one the task that splits, which gives one piece itself."""
        if node.partitions == 1:
            return self.deferred("split", node, source, self.split)
        return self.take_item("split", node, source, index, self.split)

    def window_partition(self, node: StatefulWindow, index: int, place: int) -> Key:
        """Add the task that takes a partition of a window, or its state, and once the task that gives both."""
        return self.take_item("window", node, index, place, self.window)

    def state_before(self, node: StatefulWindow, index: int) -> Key:
        """Add the task that takes the state of the partitions before one, and once the task that gives it."""
        if node.combined:
            return self.take_item("combine states", node, 0, index - 1, self.combine)
        return self.window_partition(node, index - 1, 1)

    def take_item(self, verb: str, node: Physical, index: int, place: int, add: Callable[..., None]) -> Key:
        """Add the task that takes one of what another task gives for a partition; that one is added once.

        Those that take from one task are a group.  Where a group of many takes from few others, dask deals it out to
        all workers, and all that those others made is sent to each of them.
        """
        whole, key = self.deferred(verb, node, index, add), self.key(f"take {verb}", node, place, group=f"-{index}")
        self.tasks[key] = Task(key, getitem, TaskRef(whole), place)
        return key

    def deferred(self, verb: str, node: Physical, index: int, add: Callable[..., None]) -> Key:
        """Return the key of a task that others share, which is added once, and later: graphs are deep."""
        key = self.key(verb, node, index)
        if key not in self.tasks:
            self.tasks[key] = None
            self.pending.append(lambda: add(key, node, index))
        return key

    def split(self, key: Key, node: Exchange, source: int) -> None:
        """Add the task that splits one partition."""
        builder = FragmentBuilder()
        values = self.computed(builder, node.source, source), *self.others(builder, node, source)
        self.add(key, builder, values, tasks.split, self.numbers[id(node)], source)

    def window(self, key: Key, node: StatefulWindow, index: int) -> None:
        """Add the task of a stateful window.  Another one makes its rows: windows alone wait for each other."""
        builder = FragmentBuilder()
        values = [self.window_rows(builder, node, index)]
        if index:
            values.append(builder.argument(self.state_before(node, index)))
        self.add(key, builder, tuple(values), tasks.window, self.numbers[id(node)], index)

    def window_rows(self, builder: FragmentBuilder, node: StatefulWindow, index: int) -> int:
        """Add the rows of a stateful window, which has two readers of each partition where states are combined."""
        rows = node.inputs[0]
        return builder.argument(self.frame(rows, index)) if node.combined else self.beside(builder, rows, index)

    def combine(self, key: Key, node: StatefulWindow, _: int) -> None:
        """Add the task that combines the states of all partitions but the last, and the tasks of these states."""
        builder = FragmentBuilder()
        indices = range(node.partitions - 1)
        values = [builder.argument(self.deferred("window state", node, index, self.own_state)) for index in indices]
        self.add(key, builder, tuple(values), tasks.combine, self.numbers[id(node)])

    def own_state(self, key: Key, node: StatefulWindow, index: int) -> None:
        """Add the task that computes the state of a partition by itself."""
        builder = FragmentBuilder()
        values = (self.window_rows(builder, node, index),)
        self.add(key, builder, values, tasks.own_state, self.numbers[id(node)])


def source_part(scan: Scan, index: int) -> Any:
    """Return what a task is given of a source: rows that are in memory, or row groups by whole paths.

    Workers may run in another folder.
    """
    dataset, part = scan.read.dataset, scan.parts[index]
    if not isinstance(dataset, FrameDataset):
        return tuple(replace(group, file=replace(group.file, path=group.file.path.absolute())) for group in part)
    rows = dataset.rows([group.index for group in part], scan.read.columns) if part else dataset.table.slice(0, 0)
    return tasks.RowsInMemory(rows)

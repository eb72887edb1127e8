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
from gpuetl.executors.dask.accounts import AnyNode
from gpuetl.executors.dask.fetching import all_places, are_many, place_of
from gpuetl.executors.dask.job import Job
from gpuetl.executors.dask.tasks import FragmentBuilder
from gpuetl.formats.frames import FrameDataset
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, count_reads, first_read, matching
from gpuetl.physical.size_estimates import read_rows
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.plan.nodes import Kernel, KernelReduction, Write

LARGE_ROWS = 1 << 22
"""Of a partition of a source: to work on so many takes longer than to move what goes with it to another worker."""
FEW_ROWS = 1 << 16
"""Of a source: to read so many takes a few milliseconds, as a task does."""
MOST_LIGHT = 8
"""Small tables that a task reads itself: others may read more of them meanwhile."""
Key = Any
"""What dask calls a task: a name, and numbers of partitions."""


class TaskGraph:
    """The tasks of a run.

    `writes` has the keys of what each sink's partitions become, in order, `kept` those of the stages that are kept,
    `checks` those of what is counted; `origins` says for each key which node it computes.  `shares` has the keys of
    those that take what other tasks make to a large partition of a source, and where that begins in the source: see
    `results.py`.  `held` are tasks whose results are to stay in memory, since readers take of them what no task stands
    for; there are none unless the run `fetches` pieces.
    """

    def __init__(self, plan: PhysicalPlan, nodes: Sequence[AnyNode], job: Job, fetches: bool = True) -> None:
        self.job, self.fetches = job, fetches
        self.numbers = {id(node): number for number, node in enumerate(nodes)}
        self.readers: Counter[tuple[int, int]] = count_reads(plan.roots)
        self.tasks: dict[Key, Any] = {}
        self.origins: dict[Key, AnyNode] = {}
        self.shares: dict[Key, float] = {}
        self.held: list[Key] = []
        self.pending: list[Callable[[], None]] = []
        self.writes = {name: self.written(write, source) for name, (write, source) in plan.sinks.items()}
        self.kept = {name: self.whole(node) for name, node in plan.kept.items()}
        self.checks = {name: self.whole(node) for name, node in plan.checks.items()}
        while self.pending:
            self.pending.pop()()

    def written(self, write: Write, source: Physical) -> list[Key]:
        """Add the tasks that write a sink; return their keys."""
        number = self.numbers[id(write)]
        indices = range(source.partitions)
        return [self.task(f"write {number}", source, index, tasks.write, number) for index in indices]

    def whole(self, node: Physical) -> Key:
        """Add the task that gives the driver a node's one partition; return its key."""
        return self.task("keep", node, 0, tasks.keep, self.numbers[id(node)])

    def task(self, verb: str, node: Physical, index: int, body: Callable[..., Any], *given: Any) -> Key:
        """Add the task that does something with a partition; return its key."""
        key = self.key(verb, node, index)
        builder = FragmentBuilder()
        self.add(key, builder, (self.computed(builder, node, index),), body, *given)
        return key

    def key(self, verb: str, node: Physical, *places: int, group: str = "") -> Key:
        """Name a task, perhaps of a group of its node: the scheduler's pages show the part before the first hyphen."""
        key = (f"{verb} {node.origin.name}-{self.job.name}-{self.numbers[id(node)]}{group}", *places)
        self.origins[key] = node
        return key

    def add(
        self, key: Key, builder: FragmentBuilder, values: tuple[int, ...], body: Callable[..., Any], *given: Any
    ) -> None:
        """Add a task."""
        fragment = builder.fragment(str(key), values)
        if builder.keys and builder.share is not None:
            self.shares[key] = builder.share
        self.tasks[key] = Task(key, body, self.job, fragment, *given, *map(TaskRef, builder.keys))

    def frame(self, node: Physical, index: int) -> Key:
        """Return the key of the task that makes a partition which others read."""
        if isinstance(node, StatefulWindow):
            return self.carried(node, index, 0)
        return self.begun("compute", node, index, self.compute)

    def compute(self, key: Key, node: Physical, index: int) -> None:
        """Add the task of `frame`."""
        builder = FragmentBuilder()
        self.add(key, builder, (self.computed(builder, node, index, here=True),), tasks.compute)

    def computed(self, builder: FragmentBuilder, node: Physical, index: int, here: bool = False) -> int:
        """Add the steps that compute a partition, back to where its rows are to be had; return its place.

        `here` says that it is this task which computes it for several readers.
        """
        chain: list[tuple[Map | Concat | Exchange, int]] = []
        while self.passes_on(node) and (here or self.has_one_reader(node, index)):
            chain.append((node, index))  # type: ignore[arg-type]
            node, index = self.source(node, index)
            here = False
        value = self.read(builder, node, index, here)
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
            if isinstance(node, Map) and isinstance(node.operation, Kernel | KernelReduction):
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

    def read(self, builder: FragmentBuilder, node: Physical, index: int, here: bool) -> int:
        """Add what a fragment begins with: a scan, an exchange's pieces, or what another task makes."""
        number = self.numbers[id(node)]
        if isinstance(node, StatefulWindow) or not (here or self.has_one_reader(node, index)):
            return builder.argument(self.frame(node, index))
        if isinstance(node, Scan):
            if node.partitions > 1 and read_rows(node.parts[index]) >= LARGE_ROWS:
                builder.share = index / node.partitions
            return builder.step(number, index, (), what_is_read(node, index))
        assert isinstance(node, Exchange)
        if self.fetches and are_many(node):
            return builder.step(number, index, (builder.argument(self.places(node)),))
        pieces = [builder.argument(key) for key in self.pieces(node, index)]
        return builder.step(number, index, tuple(pieces))

    def places(self, node: Exchange) -> Key:
        """Return the key of the task that puts together where all partitions are cut."""
        return self.begun("places", node, 0, self.gather_places)

    def gather_places(self, key: Key, node: Exchange, _: int) -> None:
        """Add the tasks that say where a partition is cut, a group each (see `taken`), and the one of all."""
        found = []
        for source in range(node.source.partitions):
            whole, place = self.begun("split", node, source, self.split), self.key("place", node, 0, group=f"-{source}")
            self.held.append(whole)
            self.tasks[place] = Task(place, place_of, whole, TaskRef(whole))
            found.append(TaskRef(place))
        self.tasks[key] = Task(key, all_places, *found)

    def beside(self, builder: FragmentBuilder, node: Physical, index: int) -> int:
        """Add a further input: pieces are put together here, anything else another task computes meanwhile."""
        if isinstance(node, Exchange) and not self.passes_on(node):
            return self.read(builder, node, index, here=False)
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
            return self.begun("split", node, source, self.split)
        return self.taken("split", node, source, index, self.split)

    def carried(self, node: StatefulWindow, index: int, place: int) -> Key:
        """Add the task that takes a partition of a window, or what it carries on, and for the first one its task."""
        return self.taken("carry", node, index, place, self.carry)

    def carried_before(self, node: StatefulWindow, index: int) -> Key:
        """Add the task that takes what the partitions before one carry on, and for the first one their task."""
        if node.combined:
            return self.taken("combine", node, 0, index - 1, self.combine)
        return self.carried(node, index - 1, 1)

    def taken(self, verb: str, node: Physical, index: int, place: int, add: Callable[..., None]) -> Key:
        """Add the task that takes one of what another task gives for a partition; that one is added once.

        Those that take from one task are a group.  Where a group of many takes from few others, dask deals it out to
        all workers, and all that those others made is sent to each of them.
        """
        whole, key = self.begun(verb, node, index, add), self.key(f"take {verb}", node, place, group=f"-{index}")
        self.tasks[key] = Task(key, getitem, TaskRef(whole), place)
        return key

    def begun(self, verb: str, node: Physical, index: int, add: Callable[..., None]) -> Key:
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

    def carry(self, key: Key, node: StatefulWindow, index: int) -> None:
        """Add the task of a window by carries.  Another one makes its rows: windows alone wait for each other."""
        builder = FragmentBuilder()
        values = [self.window_rows(builder, node, index)]
        if index:
            values.append(builder.argument(self.carried_before(node, index)))
        self.add(key, builder, tuple(values), tasks.carry, self.numbers[id(node)], index)

    def window_rows(self, builder: FragmentBuilder, node: StatefulWindow, index: int) -> int:
        """Add the rows of a window by carries, which has two readers of each partition where carries are combined."""
        rows = node.inputs[0]
        return builder.argument(self.frame(rows, index)) if node.combined else self.beside(builder, rows, index)

    def combine(self, key: Key, node: StatefulWindow, _: int) -> None:
        """Add the task that combines what all partitions but the last carry on, and those that say what that is."""
        builder = FragmentBuilder()
        indices = range(node.partitions - 1)
        values = [builder.argument(self.begun("carry alone", node, index, self.carry_alone)) for index in indices]
        self.add(key, builder, tuple(values), tasks.combine, self.numbers[id(node)])

    def carry_alone(self, key: Key, node: StatefulWindow, index: int) -> None:
        """Add the task that says what a partition carries on by itself."""
        builder = FragmentBuilder()
        values = (self.window_rows(builder, node, index),)
        self.add(key, builder, values, tasks.carry_by_itself, self.numbers[id(node)])


def what_is_read(scan: Scan, index: int) -> Any:
    """Return what a task is given of a source: rows that are in memory, or row groups by whole paths.

    Workers may run in another folder.
    """
    dataset, part = scan.read.dataset, scan.parts[index]
    if not isinstance(dataset, FrameDataset):
        return tuple(replace(group, file=replace(group.file, path=group.file.path.absolute())) for group in part)
    rows = dataset.rows([group.index for group in part], scan.read.columns) if part else dataset.table.slice(0, 0)
    return tasks.RowsInMemory(rows)

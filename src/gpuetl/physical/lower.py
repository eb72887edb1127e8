"""Logical to physical: where rows are read, what runs partition by partition, and which exchanges lie between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import singledispatchmethod

from gpuetl.expressions.functions.aggregates import SAME_OF_DISTINCT
from gpuetl.formats.row_group_limits import may_hold
from gpuetl.physical.aggregates import two_phases
from gpuetl.physical.aligned_reads import read_near
from gpuetl.physical.column_statistics import are_apart, follow_each_other
from gpuetl.physical.layout import Layout, first_groups, split_groups
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, RangeExchange, Scan, by_range
from gpuetl.physical.row_limits import MOST_PARTITIONS, too_many
from gpuetl.physical.size_estimates import Estimates
from gpuetl.physical.stateful_window import StatefulWindow, stateful_window
from gpuetl.physical.vocabulary_batches import VocabularyBatches
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Locality, Node
from gpuetl.plan.nodes import (
    Aggregate,
    AsofJoin,
    ConditionJoin,
    Distinct,
    Grouped,
    GroupWindow,
    Join,
    Limit,
    Read,
    Sort,
    Union,
    Vocabulary,
    Window,
    Write,
)
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin

FEW_BYTES, FEW_BYTES_OF_ONE = 1 << 20, 1 << 17
"""Of groups, from all partitions together: what a task takes in less time than it takes to begin; or from each: what
one takes in less time than others take for so many pieces."""


@dataclass(frozen=True)
class PhysicalPlan:
    """The roots that a run computes: what sinks write, by sink, what is kept in memory, by stage, and its checks.

    `checkpoints` are written before sinks, by stage: a run that fails in a later stage then has them.

    What is counted `first` comes from rows that are one partition all the way: it is computed before the others, so
    that a stage's rows need not stay in memory for it.  What comes of several goes along with them: see `passes.py`.

    Where it `streams`, partitions of kept stages are handed over, and so many of them are in use at once.
    """

    sinks: Mapping[str, tuple[Write, Physical]]
    kept: Mapping[str, Physical]
    first: Mapping[str, Physical] = field(default_factory=dict)
    along: Mapping[str, Physical] = field(default_factory=dict)
    checkpoints: Mapping[str, tuple[Write, Physical]] = field(default_factory=dict)
    streams: int = 0

    @property
    def written(self) -> dict[str, tuple[Write, Physical]]:
        """All that is written to files: checkpoints, by names that no sink has, then sinks."""
        return {**{checkpoint_name(name): one for name, one in self.checkpoints.items()}, **self.sinks}

    @property
    def checks(self) -> dict[str, Physical]:
        """What is counted."""
        return {**self.first, **self.along}

    @property
    def roots(self) -> tuple[Physical, ...]:
        """All that is computed, in this order."""
        written = (source for _, source in self.written.values())
        return (*self.first.values(), *written, *self.kept.values(), *self.along.values())


def checkpoint_name(stage: str) -> str:
    """Return what the checkpoint of a stage is called among sinks."""
    return f"{stage}:checkpoint"


def lower(plan: Plan, layout: Layout) -> PhysicalPlan:
    """Lower every node once; what two stages need is computed once."""
    lowering = _Lowering(layout)
    nodes = plan.nodes if layout.batches_vocabularies else ()
    batches = VocabularyBatches.of(nodes, plan.roots, lowering.estimates.most_rows)
    done: dict[int, Physical] = {}
    for node in plan.nodes:
        inputs = [done[id(child)] for child in node.inputs]
        done[id(node)] = batches.lowered(node, inputs) or lowering.node(node, *inputs)
    sinks = {name: (node, done[id(node)]) for name, node in plan.sinks.items() if isinstance(node, Write)}
    saved = {name: (node, done[id(node)]) for name, node in plan.checkpoints.items() if isinstance(node, Write)}
    kept = {name: done[id(node)] for name, node in plan.kept.items()}
    if not plan.streams:
        kept = {name: gathered(source, plan.kept[name].origin) for name, source in kept.items()}
    checks = {name: gathered(done[id(node)], node.origin) for name, node in plan.checks.items()}
    single = in_one_partition(checks.values())
    first = {name: root for name, root in checks.items() if id(root) in single}
    along = {name: root for name, root in checks.items() if name not in first}
    return PhysicalPlan(sinks, kept, first, along, saved, plan.streams)


def in_one_partition(roots: Iterable[Physical]) -> set[int]:
    """Return the nodes, by identity, whose rows are one partition all the way from the sources."""
    single: set[int] = set()
    for node in walk_graph(*roots):
        if node.partitions == 1 and all(id(child) in single for child in node.inputs):
            single.add(id(node))
    return single


def gathered(source: Physical, origin: Origin) -> Physical:
    """Return all rows in one partition; partitions in sequence stay in order."""
    return source if source.partitions == 1 else Exchange("gather", source, origin)


def sorted_in_one(source: Physical, origin: Origin) -> Physical:
    """Return all rows in one partition, where they are sorted if they would have been sorted by ranges before."""
    if isinstance(source, Map) and isinstance(source.operation, Sort) and isinstance(source.inputs[0], RangeExchange):
        return Map(replace(source.operation), (gathered(source.inputs[0].source, origin),))
    return gathered(source, origin)


@dataclass(frozen=True)
class _Lowering:
    layout: Layout
    estimates: Estimates = field(default_factory=Estimates)

    def by_keys(self, source: Physical, keys: tuple[str, ...], origin: Origin) -> Physical:
        """Return the rows so that equal keys are in one partition; the source itself where they are already."""
        if source.partitions == 1:
            return source
        if not keys:
            return sorted_in_one(source, origin)
        if source.partitioned_by and set(source.partitioned_by) <= set(keys):
            return source
        if self.layout.keys_apart and any(are_apart(source, key) for key in keys):
            return source
        return Exchange("hash", source, origin, keys, source.partitions)

    @singledispatchmethod
    def node(self, node: Node, *sources: Physical) -> Physical:
        """By locality: rows stay, keys meet, tables gather."""
        if node.locality is Locality.TABLE:
            return Map(node, (gathered(sources[0], node.origin),))
        if node.locality is Locality.KEY:
            return Map(node, (self.by_keys(sources[0], node.keys, node.origin),))
        return Map(node, sources)

    @node.register
    def read(self, node: Read) -> Physical:
        """Group the row groups that may hold wanted rows."""
        groups = node.dataset.row_groups
        kept = [g for g in groups if all(may_hold(part, g.ranges, g.rows) for part in node.pruning)]
        kept = kept if node.limit is None else first_groups(kept, node.limit)
        parts = split_groups([g.without_ranges for g in kept], self.layout)
        return Scan(node, parts, len(groups) - len(kept))

    @node.register
    def grouped(self, node: Grouped, source: Physical) -> Physical:
        """Meet by key; an exchange in between undoes an order that the input had, unless it gathers sorted ranges.

        A window needs none over partitions that follow each other in its order; without keys they may be made so, by
        ranges.
        """
        if node.locality is Locality.ROW:
            return Map(node, (source,))
        meeting = self.by_keys(source, node.keys, node.origin)
        if isinstance(node, GroupWindow):
            return Map(node, (meeting,))
        if meeting is not source and isinstance(node, Window) and (stateful := self.stateful(node, source)):
            return stateful
        in_order = meeting is source or (not node.keys and source.in_sequence)
        return Map(node if in_order else replace(node, presorted=False), (meeting,))

    def stateful(self, node: Window, source: Physical) -> StatefulWindow | None:
        """Return a window over partitions that follow each other, or, without keys, are made so; None where it is not.

        Workers would wait for each other, unless what partitions carry on by themselves is combined.
        """
        if node.by and not self.layout.in_turn:
            return None
        share, exchanged_bytes = self.layout.state_share, self.layout.exchanged_bytes if node.by else None
        for rows in self.in_order(node, source):
            combined = stateful_window(node, rows, share, combined=True) if self.layout.side_by_side else None
            if found := combined or stateful_window(node, rows, share, exchanged_bytes or int):
                return found
        return None

    def in_order(self, node: Window, source: Physical) -> Iterator[Physical]:
        """Yield the rows of a window as they are and, without keys, sorted by ranges."""
        yield source
        if not node.by:
            yield self.sort(Sort(source=node.source, by=node.order_by, origin=node.origin), source)

    @node.register
    def sort(self, node: Sort, source: Physical) -> Physical:
        """Sort ranges of the order, or all rows in one partition that is none too large for it.

        What is in order stays as it is, and partitions that follow each other stay where they are.  Of a limit, each
        partition's first rows are taken, and then the first of them.
        """
        if node.presorted and (source.partitions == 1 or source.in_sequence):
            return source
        if source.partitions > 1 and follow_each_other(source, node.by):
            return Map(node, (source,), in_sequence=True)
        if node.limit is not None and source.partitions > 1:
            source = Map(replace(node), (source,))
        rows = self.layout.partition_rows
        node = replace(node, presorted=False)
        if node.limit is not None or source.partitions == 1 or self.estimates.most_rows(source) <= rows:
            return Map(node, (gathered(source, node.origin),))
        return Map(node, (by_range(source, node.by, rows, node.origin),), in_sequence=True)

    @node.register
    def limit(self, node: Limit, source: Physical) -> Physical:
        """Limit each partition, gather them, sort them if their rows were in orders of their own, and limit again."""
        if source.partitions == 1:
            return Map(node, (source,))
        first_of_each = source if node.first is None else Map(replace(node, count=node.first, offset=0), (source,))
        own_orders = bool(node.ordering) and not source.in_sequence
        kept: Physical = Exchange("gather", first_of_each, node.origin, limit=None if own_orders else node.first)
        if own_orders:
            kept = Map(Sort(source=node.source, by=node.ordering, origin=node.origin), (kept,))
        return Map(node, (kept,))

    @node.register
    def distinct(self, node: Distinct, source: Physical) -> Physical:
        """Drop repeats in each partition before equal keys meet."""
        if self.by_keys(source, node.keys, node.origin) is source:
            return Map(node, (source,))
        return Map(node, (self.combined_groups(Map(replace(node), (source,)), node.keys, node.origin),))

    @node.register
    def aggregate(self, node: Aggregate, source: Physical) -> Physical:
        """Aggregate each partition, then the results, where every call can; else rows of equal keys meet first."""
        meeting = self.by_keys(source, node.by, node.origin)
        phases = two_phases(node, node.source) if meeting is not source else None
        if phases is None:
            if meeting is not source and reads_distinct(node):
                first = Map(
                    Distinct(
                        source=node.source, on=tuple(sorted(node.needs(frozenset(node.schema))[0])), origin=node.origin
                    ),
                    (source,),
                )
                meeting = self.by_keys(first, node.by, node.origin)
            return Map(node, (meeting,))
        prepared = Map(phases.prepare, (source,)) if phases.prepare else source
        partial = Map(phases.partial, (prepared,))
        final = Map(phases.final, (self.combined_groups(partial, node.by, node.origin),))
        return Map(phases.finish, (final,))

    def combined_groups(self, partial: Physical, keys: tuple[str, ...], origin: Origin) -> Physical:
        """Gather the results of partitions, where they are few; else those of equal keys meet.

        An exchange by key costs a task for each pair of partitions, however little they hold.
        """
        few = max(FEW_BYTES, FEW_BYTES_OF_ONE * partial.partitions)
        most = min(few, self.layout.broadcast_bytes) if self.layout.gathers_groups else 0
        if partial.partitions > 1 and self.estimates.bytes(partial) <= most:
            return Exchange("gather", partial, origin, keys)
        return self.by_keys(partial, keys, origin)

    @node.register
    def join(self, node: Join, left: Physical, right: Physical) -> Physical:
        """Send a small right side everywhere, that of a cross join whatever its size; else rows of equal keys meet.

        Rows must meet where left keys are checked not to repeat, and in a full join, which gives the right rows that
        no left row matches.  Of a semi or anti join's right side only distinct keys are moved.
        """
        if left.partitions == 1 and right.partitions == 1:
            return Map(node, (left, right))
        if node.how in ("semi", "anti") and right.partitions > 1 and right.partitioned_by != node.right_on:
            right = Map(Distinct(source=node.right, on=node.right_on, origin=node.origin), (right,))
        if node.how == "cross" or (not must_meet(node) and self.is_small(right)):
            return Map(node, (left, Exchange("broadcast", right, node.origin)))
        return Map(node, self.co_partitioned(node, left, right))

    @node.register
    def condition_join(self, node: ConditionJoin, left: Physical, right: Physical) -> Physical:
        """Without keys, send the right side everywhere; of a full join, all rows of both sides meet.

        With keys, rows meet as in other joins.  The right side of a semi or anti join keeps all of its rows, since the
        condition may tell those of equal keys apart.
        """
        if left.partitions == 1 and right.partitions == 1:
            return Map(node, (left, right))
        if not node.left_on and node.how == "full":
            return Map(node, (gathered(left, node.origin), gathered(right, node.origin)))
        if not node.left_on or (not must_meet(node) and self.is_small(right)):
            return Map(node, (left, Exchange("broadcast", right, node.origin)))
        return Map(node, self.co_partitioned(node, left, right))

    @node.register
    def asof_join(self, node: AsofJoin, left: Physical, right: Physical) -> Physical:
        """Send a small right side everywhere; of a large one read what is near each left partition, if that is known.

        Else equal keys meet, and without keys any right side goes everywhere.
        """
        if left.partitions == 1 and right.partitions == 1:
            return Map(node, (left, right))
        is_small = self.is_small(right)
        if not is_small and self.layout.aligned_reads and (near := read_near(node, left, right)):
            return Map(node, (left, near))
        if not node.left_on or is_small:
            return Map(node, (left, Exchange("broadcast", right, node.origin)))
        return Map(node, self.co_partitioned(node, left, right))

    def is_small(self, side: Physical) -> bool:
        """Return whether a side may go whole to every partition of the other."""
        return side.partitions == 1 or self.estimates.bytes(side) <= self.layout.broadcast_bytes

    def co_partitioned(self, node: Join | AsofJoin, left: Physical, right: Physical) -> tuple[Physical, Physical]:
        """Exchange the sides by the join's keys, each only where it is not there yet."""
        count = max(left.partitions, right.partitions)
        sides = []
        for side, keys in ((left, node.left_on), (right, node.right_on)):
            there = side.partitioned_by == keys and side.partitions == count
            sides.append(side if there else Exchange("hash", side, node.origin, keys, count))
        return sides[0], sides[1]

    @node.register
    def union(self, node: Union, left: Physical, right: Physical) -> Physical:
        """Pair partitions of the same keys, and two that fit one; else one input's come after the other's."""
        rows = self.estimates.most_rows(left) + self.estimates.most_rows(right)
        small = left.partitions == right.partitions == 1 and rows <= self.layout.partition_rows
        if (count := left.partitions + right.partitions) > MOST_PARTITIONS:
            raise too_many(node.origin, f"{count:,} partitions, and a step has {MOST_PARTITIONS:,} at most")
        same_keys = left.partitions == right.partitions and left.partitioned_by == right.partitioned_by != ()
        return (Map if small or same_keys else Concat)(node, (left, right))

    @node.register
    def vocabulary(self, node: Vocabulary, source: Physical) -> Physical:
        """Number the values of one partition at once; of several, count in each, and then number what they counted."""
        if source.partitions == 1:
            return Map(node, (source,))
        for step in node.steps:
            source = self.node(step, source)
        return source

    @node.register
    def write(self, node: Write, source: Physical) -> Physical:
        """One file takes all rows in one partition; a folder takes a part from each."""
        return sorted_in_one(source, node.origin) if node.target.is_file else source


def reads_distinct(node: Aggregate) -> bool:
    """Return whether rows that repeat in all columns that an aggregate reads change none of its results."""
    names = {call.function.name for call in node.calls.values()}
    return not node.orders and all(name in SAME_OF_DISTINCT or name.endswith("_distinct") for name in names)


def must_meet(node: Join) -> bool:
    """Return whether a join needs all rows of equal keys of its left side in one place."""
    return node.how == "full" or node.unique[0]

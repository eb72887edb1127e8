"""Rows of every input of a stage, and in and out of every step: a funnel that a person can add up.

Numbers are those of operations as they ran.  The optimizer moves, adds and leaves out operations; each keeps the step
that it comes from.  So a step has a line for each place where it ran, with a remark where the optimizer has moved it.
A step that did not run has a line without numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from gpuetl.formats.rejected import without_rejected
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import AsofJoin, Join, ScalarJoin, Sort, StateUnion, Union
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Work

Relation = tuple[str, str]
"""A source, stage or sink: its kind, and its name."""
LAST = 1 << 62
"""A step after all others."""
REUSED = "kept by an earlier run, in a checkpoint"


class PipelineStep(NamedTuple):
    """A step of the pipeline: its verb, and the sources and stages that it reads besides its input."""

    verb: str
    reads: tuple[str, ...] = ()


class PipelineStage(NamedTuple):
    """A stage of the pipeline: what it begins with, and its steps."""

    begins_with: str
    steps: tuple[PipelineStep, ...]


@dataclass(frozen=True)
class InputRows:
    """What came into a stage from one source or stage: by its step 0, `from`, or by a join or union.

    None where that is not known: the steps after it ran elsewhere.
    """

    step: int
    verb: str
    name: str
    rows: int | None


@dataclass(frozen=True)
class StepRows:
    """Rows in and out of a step, where it ran; a join's or union's other inputs are in the stage's `inputs`.

    None where the step did not run.  `remark` says what the optimizer did with it.
    """

    step: int
    verb: str
    rows_in: int | None
    rows_out: int | None
    remark: str = ""


@dataclass(frozen=True)
class Part:
    """Operations of one step that follow each other: a step that the optimizer moved to two places has two."""

    nodes: tuple[Physical, ...]
    top: Physical
    below: Physical


def stage_name(name: str) -> Relation:
    """Return the relation of a stage."""
    return "stage", name


class Funnel:
    """The rows of a run.

    Parameters
    ----------
    roots
        The physical plan that ran.
    work
        What was recorded of its operations, by identity.
    written
        The stages of the pipeline, as the user wrote them.
    finished
        False for a run that failed: operations may have done some of their partitions, or none yet.
    """

    def __init__(
        self,
        roots: Sequence[Physical],
        work: Mapping[int, Work],
        written: Mapping[str, PipelineStage],
        finished: bool = True,
    ) -> None:
        self.work, self.written, self.finished = work, written, finished
        self.nodes = [node for node in walk_graph(*roots) if not isinstance(node, Exchange)]
        self.results = {id(computed(root)) for root in roots}
        self.of: dict[Origin, list[Physical]] = {}
        for node in self.nodes:
            self.of.setdefault(node.origin, []).append(node)

    @cached_property
    def readers(self) -> dict[int, list[tuple[Physical, int]]]:
        """The nodes that read each node, and as which input, but for what only says which groups are wanted."""
        found: dict[int, list[tuple[Physical, int]]] = {}
        for node in reversed(self.nodes):
            if id(node) in found or id(node) in self.results:
                for place, child in enumerate(node.inputs):
                    if not self.is_reduction(node, place):
                        found.setdefault(id(computed(child)), []).append((node, place))
        return found

    def is_reduction(self, node: Physical, place: int) -> bool:
        """Return whether an input only says which groups are wanted: the optimizer has put a join into another step."""
        joins = isinstance(node, Map) and isinstance(node.operation, Join) and node.operation.how == "semi"
        return joins and place == 1 and self.verb(node.origin) != "join"

    def verb(self, origin: Origin) -> str:
        """Return the verb of a step; nothing for what is none."""
        stage = self.written.get(origin.name) if origin.kind == "stage" else None
        return stage.steps[origin.step - 1].verb if stage and 0 < origin.step <= len(stage.steps) else ""

    def rows(self, node: Physical | None) -> int | None:
        """Return the rows that a node gave; None where it did not run."""
        work = None if node is None else self.work.get(id(operation_of(node)))
        return work.rows_out if work and work.partitions else None

    @cached_property
    def bits(self) -> dict[Relation, int]:
        """A bit for each source, stage and sink, so that sets of them are integers."""
        return {relation: 1 << place for place, relation in enumerate(self.own)}

    @cached_property
    def own(self) -> dict[Relation, list[Physical]]:
        """The nodes of each source, stage and sink."""
        found: dict[Relation, list[Physical]] = {}
        for node in self.nodes:
            found.setdefault(node.origin.relation, []).append(node)
        return found

    @cached_property
    def above(self) -> dict[int, int]:
        """For each node the sources, stages and sinks of those that read it, at any remove."""
        found: dict[int, int] = {}
        for node in reversed(self.nodes):
            found[id(node)] = 0
            for reader, _ in self.readers.get(id(node), []):
                found[id(node)] |= found[id(reader)] | self.bits[reader.origin.relation]
        return found

    @cached_property
    def upstream(self) -> dict[str, int]:
        """For each stage the bits of the sources and stages that it reads, at any remove."""
        done: dict[str, int] = {}
        for first in self.written:
            stack = [first]
            while stack:
                name = stack[-1]
                owners = map(without_rejected, self.reads(name))
                missing = [owner for owner in owners if owner in self.written and owner not in done]
                if missing:
                    stack += missing
                    continue
                done[stack.pop()] = self.bits_of(self.reads(name), done)
        return done

    def bits_of(self, names: Sequence[str], done: Mapping[str, int]) -> int:
        """Return the bits of sources and stages, and of what the stages read."""
        found = 0
        for name in names:
            owner = without_rejected(name)
            kind = "stage" if owner in self.written else "source"
            for relation in {(kind, name), (kind, owner)}:
                found |= self.bits.get(relation, 0)
            found |= done.get(owner, 0)
        return found

    def reads(self, name: str) -> tuple[str, ...]:
        """Return what a stage reads itself."""
        stage = self.written[name]
        return (stage.begins_with, *(read for step in stage.steps for read in step.reads))

    def inside(self, relation: Relation) -> int:
        """Return the bits of a stage and of what it reads."""
        kind, name = relation
        return self.bits.get(relation, 0) | (self.upstream.get(name, 0) if kind == "stage" else 0)

    @cached_property
    def stays(self) -> frozenset[int]:
        """The nodes that ran where they were written: before later steps of their stage, and not in another one."""
        least: dict[int, int] = {}
        for node in reversed(self.nodes):
            relation, inside, found = node.origin.relation, self.inside(node.origin.relation), LAST
            for reader, _ in self.readers.get(id(node), []):
                if reader.origin.relation == relation:
                    after_steps = reader.origin.step or LAST  # the stage's expectations remove rows
                    found = min(found, after_steps, least[id(reader)])
                elif (self.bits[reader.origin.relation] | self.above[id(reader)]) & inside:
                    found = -1
            least[id(node)] = found
        return frozenset(id(node) for node in self.nodes if least[id(node)] >= node.origin.step)

    def last(self, relation: Relation) -> Physical | None:
        """Return the node that gives the rows of a source or stage; None where its steps ran elsewhere."""
        inside = self.inside(relation)
        own = [node for node in self.own.get(relation, []) if not self.above[id(node)] & inside]
        return own[-1] if own else None

    def before(self, node: Physical, relation: Relation) -> Physical | None:
        """Return the node from which rows come into a stage, by the first input of `node` and of those below it.

        What others have moved in between is passed.
        """
        outside = self.inside(relation) & ~self.bits.get(relation, 0)
        while not self.bits[node.origin.relation] & outside:
            if isinstance(node, Scan):
                return None
            node = computed(first_input(node))
        return node

    def inputs(self, name: str) -> tuple[InputRows, ...]:
        """Return the rows that came into a stage."""
        stage, relation = self.written[name], stage_name(name)
        last = self.last(relation)
        began = self.rows(self.before(last, relation)) if last else None
        found = [InputRows(0, "from", stage.begins_with, began)]
        for number, step in enumerate(stage.steps, 1):
            entries = [self.rows(self.before(node, relation)) for node in self.entries(Origin(*relation, number))]
            rows = entries if len(entries) == len(step.reads) else [None] * len(step.reads)
            found += [InputRows(number, step.verb, *pair) for pair in zip(step.reads, rows, strict=True)]
        return tuple(found)

    def entries(self, origin: Origin) -> Iterator[Physical]:
        """Yield the nodes whose rows a join or union adds to those of its stage."""
        for node in self.of.get(origin, []):
            if not isinstance(node, Map | Concat) or isinstance(node.operation, StateUnion):
                continue
            if isinstance(node.operation, Join | AsofJoin | Union) and not isinstance(node.operation, ScalarJoin):
                place = 1 - node.main
                if not self.is_reduction(node, place):
                    yield computed(node.inputs[place])

    def steps(self, name: str) -> tuple[StepRows, ...]:
        """Return the rows in and out of each step of a stage; of one that was read from a checkpoint, the last rows."""
        found: list[StepRows] = []
        kept = next((node for node in self.of.get(Origin("stage", name), []) if isinstance(node, Scan)), None)
        if kept is not None:
            verbs = enumerate((step.verb for step in self.written[name].steps), 1)
            found = [StepRows(number, verb, None, None, REUSED) for number, verb in verbs]
            return (*found[:-1], *(replace(one, rows_out=self.rows(kept)) for one in found[-1:]))
        for number, step in enumerate(self.written[name].steps, 1):
            parts = self.parts(Origin("stage", name, number))
            lines = [self.step(number, step, part) for part in parts]
            several = len(lines) > 1
            found += [replace(one, remark="a part of the step") if several and not one.remark else one for one in lines]
            if not parts:
                found.append(StepRows(number, step.verb, None, None, "did not run: it changes no row here"))
        if removing := self.parts(Origin("stage", name)):
            rows = self.rows(removing[0].below), self.rows(removing[-1].top)
            found.append(StepRows(len(self.written[name].steps) + 1, "expect", *rows))
        return tuple(found)

    def step(self, number: int, step: PipelineStep, part: Part) -> StepRows:
        """Return the rows in and out of a part of a step."""
        rows_in, rows_out = self.rows(part.below), self.rows(part.top)
        if rows_out is None:
            why = "did not run: its rows were not needed" if self.finished else "had not begun"
            return StepRows(number, step.verb, None, None, why)
        remarks = [self.place(part.top) or self.moved_below(part), *self.own_remarks(part)]
        return StepRows(number, step.verb, rows_in, rows_out, "; ".join(filter(None, remarks)))

    def parts(self, origin: Origin) -> list[Part]:
        """Return the operations of a step, those that follow each other together, in their order in the plan."""
        groups: list[list[Physical]] = []
        group_of: dict[int, list[Physical]] = {}
        for node in self.of.get(origin, []):
            group: list[Physical] = [node]
            below = (group_of.get(id(child)) for child in map(computed, node.inputs))
            for other in {id(found): found for found in below if found is not None}.values():
                groups.remove(other)
                group = [*other, *group]
            groups.append(group)
            group_of.update((id(member), group) for member in group)
        return [self.part(group) for group in groups]

    def part(self, group: Sequence[Physical]) -> Part:
        """Return operations that follow each other, with the node whose rows they take first."""
        own = {id(node) for node in group}
        below = group[-1]
        while id(below) in own and not isinstance(below, Scan):
            below = computed(first_input(below))
        return Part(tuple(group), group[-1], below)

    def place(self, top: Physical) -> str:
        """Say where a step ran, if that is not where it was written."""
        if id(top) in self.stays:
            return ""
        origin = top.origin
        inside = self.inside(origin.relation)
        least, moved_to, aside = origin.step, dict[Relation, int](), False
        seen, reached = {id(top)}, [top]
        for node in reached:
            for reader, place in self.readers.get(id(node), []):
                relation, step = reader.origin.relation, reader.origin.step
                if relation == origin.relation and step < least:
                    least, aside = step, isinstance(reader, Map | Concat) and place != main_place(reader)
                elif relation != origin.relation and self.bits[relation] & inside:
                    moved_to[relation] = min(step, moved_to.get(relation, step))
                bits = self.bits[relation] | self.above[id(reader)]
                if id(reader) not in seen and bits & inside:
                    seen.add(id(reader))
                    reached.append(reader)
        for (kind, name), step in moved_to.items():
            return f"moved: ran in {kind} '{name}'" + (f", before its step {step}" if step else "")
        other = ", on the rows that it adds" if aside else ""
        return f"moved: ran before step {least}{other}" if least < origin.step else ""

    def moved_below(self, part: Part) -> str:
        """Say after what a step ran that was written after it."""
        own, below = part.top.origin, part.below.origin
        if below.relation == own.relation:
            return f"after step {below.step}, which was moved here" if below.step > own.step else ""
        outside = not self.bits[below.relation] & self.inside(own.relation)
        return f"after {below}, which was moved here" if outside else ""

    def own_remarks(self, part: Part) -> Iterator[str]:
        """Say what the optimizer has changed of a step."""
        operations = [node.operation for node in part.nodes if isinstance(node, Map)]
        if any(self.is_reduction(node, 1) for node in part.nodes):
            yield "only groups that a later join asks for"
        done, of = self.work[id(operation_of(part.top))].partitions, part.top.partitions
        if done < of:
            yield "stopped early: a limit had its rows" if self.finished else f"{done:,} of {of:,} partitions were done"
        limit = next((one.limit for one in operations if isinstance(one, Sort) and one.limit is not None), None)
        if limit is not None and self.verb(part.top.origin) == "sort":
            yield f"only the first {limit:,} rows, which is what a later limit takes"

    def grown_joins(self) -> Iterator[str]:
        """Yield a remark on each left join that gave more rows than it got."""
        for name in self.written:
            for node in self.joins(name):
                rows_in, rows_out = self.rows(computed(node.inputs[0])), self.rows(node)
                if rows_in is not None and rows_out is not None and rows_out > rows_in:
                    yield (
                        f"{node.origin}: the left join made {rows_out:,} rows of {rows_in:,}, because its right side "
                        "has several rows of one key.  Set validate: many_to_one if it should have one"
                    )

    def joins(self, name: str) -> Iterator[Map]:
        """Yield the left joins of a stage that check nothing."""
        for number in range(1, len(self.written[name].steps) + 1):
            for node in self.of.get(Origin("stage", name, number), []):
                if isinstance(node, Map) and isinstance(join := node.operation, Join):
                    unchecked = join.how == "left" and join.validate == "many_to_many"
                    if unchecked and not join.mirrored_on:
                        yield node

    def skipped_rows(self, name: str) -> int:
        """Return the rows of a source that were not read, since statistics or a limit ruled their row groups out."""
        scans = [node for node in self.of.get(Origin("source", name), []) if isinstance(node, Scan) and node.skipped]
        counts = [sum(max(group.rows, 0) for group in scan.read.dataset.row_groups) for scan in scans]
        kept = [sum(max(group.rows, 0) for part in scan.parts for group in part) for scan in scans]
        return sum(counts) - sum(kept)


def computed(node: Physical) -> Physical:
    """Return the node whose rows come through exchanges."""
    while isinstance(node, Exchange):
        node = node.source
    return node


def operation_of(node: Physical) -> object:
    """Return what the work of a node is recorded under."""
    return node.read if isinstance(node, Scan) else node if isinstance(node, Exchange) else node.operation


def main_place(node: Map | Concat) -> int:
    """Return the input that has the rows of the stage so far; others are joined or added to them."""
    return node.main if isinstance(node, Map | Concat) else 0


def first_input(node: Physical) -> Physical:
    """Return that input."""
    return node.inputs[main_place(node) if isinstance(node, Map | Concat) else 0]

"""A part of a pipeline: the sinks that a run writes, the stages that it shows, and a trial on the first rows.

dbt and Kedro select nodes of a graph in this way.  A stage above a selected one is always computed, or read from a
checkpoint: what is selected are the sinks, and so the stages that nothing else needs are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from gpuetl.errors import InvalidPipeline, have_hint
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Limit, Read, Write
from gpuetl.plan.plan import Check, Plan
from gpuetl.records import dataclass
from gpuetl.spec.model import PipelineSpec


class Atom(NamedTuple):
    """One word of a selection: a stage, source or sink, with what is above it (`+name`) or below it (`name+`)."""

    name: str
    above: bool
    below: bool

    @classmethod
    def of(cls, text: str) -> Atom:
        """Read a word."""
        name = text.strip()
        return cls(name.strip("+"), name.startswith("+"), name.endswith("+"))


@dataclass(frozen=True)
class Selection:
    """A part of a pipeline to run.

    Parameters
    ----------
    select
        Words such as `clean`, `clean+` and `+clean`: the sinks that hang on these stages are written.
    until
        The last stage: it is computed and kept, and the sinks that hang on it or on a stage above are written.
    limit
        Only the first rows of each source are read; no sink is written, unless `write_to` says where.
    write_to
        The folder in which sinks are written in the place of their own paths.
    """

    select: tuple[str, ...] = ()
    until: str = ""
    limit: int | None = None
    write_to: FilePath | None = None

    @property
    def is_partial(self) -> bool:
        """Whether the run is not one of the whole pipeline on all rows."""
        return bool(self.select or self.until or self.is_trial)

    @property
    def is_trial(self) -> bool:
        """Whether the run writes no sink at its own path."""
        return self.limit is not None or self.write_to is not None

    def check(self) -> None:
        """Refuse what contradicts itself; raise `InvalidPipeline`."""
        if self.select and self.until:
            message = coded("GE1561", "select and until exclude each other")
            raise InvalidPipeline.because(message, f"Write --select +{self.until} to write the sinks up to a stage.")
        if self.limit is not None and (not isinstance(self.limit, int) or self.limit < 1):
            message = coded("GE1561", f"limit takes a number of rows from 1, got {self.limit!r}")
            raise InvalidPipeline.because(message, "Write --limit 1000.")

    def of(self, plan: Plan, spec: PipelineSpec, keep: Iterable[str] | None, write: bool) -> Plan:
        """Restrict a plan; `keep` are the stages that it keeps, by default the last ones that no chosen sink writes.

        Raises
        ------
        InvalidPipeline
            For a name that the pipeline does not have, and a place that is that of a sink.
        """
        self.check()
        graph = Names(spec)
        chosen, named = graph.chosen(self)
        writes = write and (self.limit is None or self.write_to is not None)
        sinks = {
            name: node
            for name, node in plan.sinks.items()
            if writes and (name in named or without_rejected(spec.sinks[name].from_) in chosen)
        }
        if keep is None:
            keep = self.kept(spec, graph, chosen, sinks)
        whole, plan = plan, replace(plan, sinks=sinks).keeping(keep)
        plan = with_rules_of(plan, graph.above([*plan.kept, *(spec.sinks[name].from_ for name in sinks)]))
        if self.write_to is not None:
            plan = replace(plan, sinks=dict(self.moved(plan, spec)))
        plan = self.without_state(plan, whole)
        plan = replace(plan, notes=(*plan.notes, *partial_notes(self, plan)))
        return plan if self.limit is None else limited(plan, self.limit)

    def without_state(self, plan: Plan, whole: Plan) -> Plan:
        """Return the plan of a run that leaves the pipeline's state as it is, unless it writes all sinks of `whole`.

        The next run of the whole pipeline then takes the same new rows.  So no sink may append them here.
        """
        if plan.remembered is None or (plan.sinks.keys() == whole.sinks.keys() and not self.is_trial):
            return plan
        for name, sink in plan.sinks.items():
            assert isinstance(sink, Write)
            if self.write_to is None and sink.target.mode == "append" and not sink.target.run_key:
                why = f"sink '{name}' appends rows of an incremental source, and the next run would append them again"
                hint = "Run the whole pipeline, name a run_key, or write elsewhere: --write-to FOLDER."
                raise InvalidPipeline.because(coded("GE1561", f"a run of a part: {why}"), hint)
        note = "the run of a part leaves the state of the pipeline as it is: the next run reads the same new rows"
        return replace(plan, moves_state=False, notes=(*plan.notes, note))

    def kept(self, spec: PipelineSpec, graph: Names, chosen: set[str], sinks: Mapping[str, Node]) -> list[str]:
        """Return the stages to keep: the last one, or those that no chosen stage reads, and no sink writes."""
        if self.until:
            return [self.until]
        written = {without_rejected(spec.sinks[name].from_) for name in sinks}
        inner = {read for name in chosen for read in graph.reads.get(name, ())}
        last = [name for name in spec.stages if name in chosen and name not in inner | written]
        return last if last or sinks else [name for name in spec.sources if name in chosen]

    def moved(self, plan: Plan, spec: PipelineSpec) -> Iterator[tuple[str, Node]]:
        """Yield the sinks with places below `write_to`."""
        assert self.write_to is not None
        own = {str(sink.target.path.absolute()) for sink in plan.sinks.values() if isinstance(sink, Write)}
        for name, sink in plan.sinks.items():
            assert isinstance(sink, Write)
            target = sink.target
            path = self.write_to / (f"{name}{target.suffix}" if target.is_file else name)
            if str(path.absolute()) in own:
                message = coded("GE1562", f"{path} is the path of a sink")
                raise InvalidPipeline.because(message, "Give write_to a folder that no sink writes to.")
            moved = replace(target, path=path, mode="overwrite", run_key=(), mark="")
            yield name, replace(sink, target=moved)


class Names:
    """The names of a pipeline as a graph."""

    def __init__(self, spec: PipelineSpec) -> None:
        self.spec = spec
        self.reads = {name: tuple(map(without_rejected, stage.reads)) for name, stage in spec.stages.items()}

    def above(self, names: Iterable[str]) -> set[str]:
        """Return these relations, and all that they read at any remove."""
        return reached(map(without_rejected, names), self.reads)

    def below(self, name: str) -> set[str]:
        """Return a relation, and all that read it at any remove."""
        readers: dict[str, tuple[str, ...]] = {}
        for reader, reads in self.reads.items():
            for read in reads:
                readers[read] = (*readers.get(read, ()), reader)
        return reached([name], readers)

    def chosen(self, selection: Selection) -> tuple[set[str], set[str]]:
        """Return the sources and stages that are chosen, and the sinks that are chosen by their own names."""
        everything = {*self.spec.sources, *self.spec.stages}
        if selection.until:
            self.check("until", selection.until, self.spec.stages, "Stages")
            return self.above([selection.until]), set()
        if not selection.select:
            return everything, set(self.spec.sinks)
        found, sinks = set[str](), set[str]()
        for atom in map(Atom.of, selection.select):
            if atom.name in self.spec.sinks and atom.name not in everything:
                sinks.add(atom.name)
                found |= self.above([self.spec.sinks[atom.name].from_]) if atom.above else set()
                continue
            self.check("select", atom.name, [*self.spec.stages, *self.spec.sources, *self.spec.sinks], "Names")
            found |= self.above([atom.name]) if atom.above else {atom.name}
            found |= self.below(atom.name) if atom.below else set()
        return found, sinks

    def check(self, option: str, name: str, have: Iterable[str], noun: str) -> None:
        """Raise `InvalidPipeline` for a name that there is not."""
        names = list(have)
        if name not in names:
            what = "stage" if option == "until" else "stage, source or sink"
            raise InvalidPipeline.because(
                coded("GE1560", f"{option}: unknown {what} '{name}'"), have_hint(name, names, noun=noun)
            )


def reached(names: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Return names, and all that edges lead to at any remove."""
    todo = [str(name) for name in names]
    found = set(todo)
    while todo:
        for name in edges.get(todo.pop(), ()):
            if name not in found:
                found.add(str(name))
                todo.append(str(name))
    return found


def with_rules_of(plan: Plan, stages: set[str]) -> Plan:
    """Return the plan with the rules of these stages alone: those of others would have them computed."""
    return with_rules(plan, (rule for rule in plan.rules if rule.stage in stages))


def with_rules(plan: Plan, rules: Iterable[Check]) -> Plan:
    """Return the plan with these rules, and the counts that they need."""
    kept = tuple(rules)
    counts = {name for rule in kept for name in (rule.counts, rule.stage)}  # which counts all rows
    return replace(plan, rules=kept, checks={name: node for name, node in plan.checks.items() if name in counts})


def limited(plan: Plan, rows: int) -> Plan:
    """Return the plan that reads the first rows of each source.

    Rules warn, since few rows may break those that all rows hold; rules for the number of rows are left out.
    """
    rules = (replace(rule, on_fail="warn" if rule.on_fail == "fail" else rule.on_fail) for rule in plan.rules)
    plan = with_rules(plan, (rule for rule in rules if rule.bounds is None))
    reads = (node for node in plan.nodes if isinstance(node, Read))
    return plan.replacing({id(node): Limit(source=node, count=rows, origin=node.origin) for node in reads})


def partial_notes(selection: Selection, plan: Plan) -> Iterator[str]:
    """Yield what the user should know of a run of a part."""
    if selection.limit is not None:
        wrote = "no sink is written; --write-to names a folder for them"
        if selection.write_to is not None:
            wrote = f"sinks are written to {selection.write_to}"
        rows = f"{selection.limit:,} row{'s' * (selection.limit != 1)}"
        yield f"a trial run on the first {rows} of each source: {wrote}"
    elif selection.write_to is not None:
        yield f"sinks are written to {selection.write_to}, and not to their own paths"
    if selection.select or selection.until:
        names = ", ".join(plan.sinks) or "none"
        yield f"a part of the pipeline: sinks {names}; stages {', '.join(plan.kept) or 'none'} shown"

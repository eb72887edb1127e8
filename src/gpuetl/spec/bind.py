"""The model to a logical plan: names become nodes, expressions get types, all problems of the file are told at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property, partial

from gpuetl.errors import Problems
from gpuetl.expressions.ir import Expr
from gpuetl.formats.rejected import REJECTED
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.incremental import Incremental
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import KeptWindow
from gpuetl.plan.plan import Check, Plan
from gpuetl.records import dataclass
from gpuetl.spec.binding.paths import PathBinder
from gpuetl.spec.binding.relations import Relations, Unread
from gpuetl.spec.binding.repeated_rows import report_replaced_rows, warn_of_repeated_rows, with_sinks
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.binding.sinks import SinkBinder
from gpuetl.spec.binding.sources import SourceBinder
from gpuetl.spec.expect.bind import expected, quarantines
from gpuetl.spec.model import FrameSpec, PipelineSpec
from gpuetl.spec.places import place_of
from gpuetl.spec.steps.scalar import build_step
from gpuetl.spec.steps.step import Unknown
from gpuetl.spec.unused import NotedParameters, unused
from gpuetl.state.pipeline_state import PipelineState
from gpuetl.state.run_store import RunStore
from gpuetl.telemetry.origin import Origin


def bind(
    spec: PipelineSpec,
    parameters: Mapping[str, Expr],
    folder: FilePath,
    run_id: str,
    problems: Problems,
    files: bool = True,
    begins_anew: bool = False,
) -> Plan:
    """Build the plan of a pipeline whose relative paths start at `folder`.

    Without `files`, the columns of sources that do not state them are open.  The plan of a run that `begins_anew` does
    without a state that is damaged.

    Raises
    ------
    InvalidPipeline
        With all problems: those found here and those kept before.
    """
    noted = parameters if isinstance(parameters, NotedParameters) else NotedParameters(parameters)
    plan = _Binder(spec, noted, folder, run_id, problems, files, begins_anew).plan()
    problems.check()
    return plan


def bound_state(spec: PipelineSpec, parameters: Mapping[str, Expr], folder: FilePath, run_id: str) -> FilePath | None:
    """Return the state folder of a pipeline that may be wrong elsewhere; None where there can be none."""
    return _Binder(spec, NotedParameters(parameters), folder, run_id, Problems(), looks_at_files=False).paths.state


def bind_source(
    name: str, spec: PipelineSpec, parameters: Mapping[str, Expr], folder: FilePath, run_id: str, problems: Problems
) -> Node:
    """Return the plan of one source; one with an open schema, and its problems, where its columns are not known."""
    return _Binder(spec, NotedParameters(parameters), folder, run_id, problems).sources.source(name)


@dataclass
class _Binder:
    spec: PipelineSpec
    parameters: NotedParameters
    folder: FilePath
    run_id: str
    problems: Problems
    looks_at_files: bool = True
    begins_anew: bool = False
    checks: dict[str, Node] = field(default_factory=dict)
    rules: list[Check] = field(default_factory=list)

    @cached_property
    def reporter(self) -> Reporter:
        return Reporter(self.spec, self.problems)

    @cached_property
    def paths(self) -> PathBinder:
        return PathBinder(self.spec, self.parameters, self.folder, self.run_id, self.reporter, self.looks_at_files)

    @cached_property
    def relations(self) -> Relations:
        return Relations(self.spec, self.paths, self.reporter)

    @cached_property
    def sources(self) -> SourceBinder:
        return SourceBinder(self.spec, self.paths, self.relations, self.reporter)

    @cached_property
    def sinks(self) -> SinkBinder:
        return SinkBinder(self.spec, self.paths, self.relations, self.reporter)

    def plan(self) -> Plan:
        relations = self.relations.nodes
        for name in self.spec.sources:
            relations[name] = self.sources.source(name)
        sources = {name: relations[name] for name in self.spec.sources}
        for name in self.relations.stages_in_order():
            relations[name] = self.stage(name)
        stages = {name: relations[name] for name in self.spec.stages}
        sinks = {name: self.sinks.sink(name, sink) for name, sink in self.spec.sinks.items()}
        incremental = self.sources.incremental
        report_replaced_rows(self.reporter, sinks, incremental)
        sinks = {**self.relations.fits.sinks, **sinks}
        self.sinks.report_conflicts()
        self.relations.report_unknown()
        self.report_unread_quarantines()
        unread = unused(self.spec, self.parameters.used)
        remembered = None
        if remembers(incremental, stages):
            self.report_twin()
            remembered = self.remembered() if self.looks_at_files else None
        warn_of_repeated_rows(self.reporter, stages)
        return Plan(
            name=str(self.spec.name),
            sources=sources,
            stages=stages,
            sinks=sinks,
            checks=self.checks,
            rules=tuple(self.rules),
            rejected={name: node for name, node in relations.items() if name.endswith(REJECTED)},
            warnings=tuple(self.problems.warnings),
            unused=tuple(unread),
            notes=tuple(self.sources.notes),
            state=self.paths.state,
            remembered=remembered,
            place_of=partial(place_of, self.spec),
            incremental=with_sinks(incremental, sinks),
        )

    def report_twin(self) -> None:
        """Report another file by whose name the state folder is the same: runs would replace each other's state."""
        if not self.spec.twin or self.spec.state is not None or self.paths.state is None:
            return
        folder = f".gpuetl/{self.spec.stem}"
        message = coded("GE1573", f"this pipeline and {self.spec.twin} have one state folder, {folder}")
        hint = f"Rename one of the files.  Or name a folder in each: state: {folder} keeps the state that is there."
        place = next((self.spec.places.get(("source", name)) for name in self.sources.incremental), None)
        self.problems.add(message, hint, place)

    def remembered(self) -> PipelineState:
        """Return what the last successful run left; an empty state where there can be none."""
        path = self.paths.state
        if path is None:
            return PipelineState()
        found = RunStore.at(path).read_for(str(self.spec.name), self.begins_anew)
        if found.damaged:
            self.sources.notes.append(f"the state in {path} is damaged: this run replaces it")
        return found

    def stage(self, name: str) -> Node:
        spec = self.spec.stages[name]
        node = self.relations.named(spec.from_, "stage", name)
        for number, step in enumerate(spec.steps, 1):
            if step is None:  # it could not be read: what follows is checked as far as that goes
                node = Unknown(source=node, columns={})
                continue
            node = build_step(step, self.relations.context(Origin("stage", name, number)), node)
        return self.expected(name, node) if spec.expect else node

    def expected(self, name: str, node: Node) -> Node:
        """Keep what a run counts of a stage's rows, and the rows in quarantine; return those that others read."""
        rules = self.spec.stages[name].expect
        context = self.relations.context(Origin("stage", name))
        found = expected(context, [rule for rule in rules if rule], node, self.run_id)
        self.checks |= found.counts
        self.rules += found.checks
        if found.rejected is not None or None in rules:  # of a rule that cannot be read
            self.relations.nodes[name + REJECTED] = Unread() if found.rejected is None else found.rejected
        return found.rows

    def report_unread_quarantines(self) -> None:
        """Report a quarantine that no stage and no sink reads: its rows would be lost."""
        readers = {str(name) for stage in self.spec.stages.values() for name in stage.reads}
        readers |= {str(sink.from_) for sink in self.spec.sinks.values()}
        sound = not self.problems.found
        for name, source in self.spec.sources.items():
            rejected = f"{name}{REJECTED}"
            misspelt = any(unknown.startswith(f"{name}.") for unknown in self.relations.unknown)
            if isinstance(source, FrameSpec) or not source.options.quarantines:
                continue
            if rejected not in readers and not misspelt:
                hint = f"Add a sink, such as rejects: {{from: {rejected}, parquet: out/rejects}}, or a stage."
                message = coded("GE1413", f"bad rows go to {rejected}, and nothing reads it")
                self.reporter.add(message, hint, source.path, "source", name)
        for name, stage in self.spec.stages.items():
            rejected = f"{name}{REJECTED}"
            if sound and quarantines(stage.expect) and rejected not in readers:
                message = coded("GE1602", f"nothing reads '{rejected}', the rows that its rules put in quarantine")
                hint = f"Add a sink: {{from: {rejected}, parquet: …}}, or choose on_fail: drop."
                rule = next(rule for rule in stage.expect if rule and rule.on_fail == "quarantine")
                self.reporter.add(message, hint, rule.located, "stage", name)


def remembers(incremental: Mapping[str, Incremental], stages: Mapping[str, Node]) -> bool:
    """Return whether a run changes the state: it has an incremental source, or a window that keeps its own."""
    return bool(incremental) or any(isinstance(node, KeptWindow) for node in walk_graph(*stages.values()))

"""The model to a logical plan: names become nodes, expressions get types, all problems of the file are told at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from gpuetl.errors import Place, Problems, have_hint, listing
from gpuetl.expressions.ir import Expr, Literal, Parameter, walk
from gpuetl.expressions.syntax import names_in
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.registry import format_named
from gpuetl.formats.rejected import COLUMNS as REJECTED_COLUMNS
from gpuetl.formats.rejected import REJECTED, RejectedRows, without_rejected
from gpuetl.io.overlap import Locations, PathIndex, conflicts, fixed_part
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath, ImpossiblePath, StorePath, check_sandbox
from gpuetl.places.registry import check_store, local_path, path_of, scheme_problem
from gpuetl.places.target import Target, mark_of
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.incremental import Incremental
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, KeptWindow, Project, Read, Sort, Write, passing
from gpuetl.plan.plan import Check, Plan, digests_of
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox, current_sandbox
from gpuetl.spec.expect.bind import expected, quarantines
from gpuetl.spec.files.based import base_of, joined
from gpuetl.spec.fit_artefacts import FitArtefacts
from gpuetl.spec.forms import InferredSchema
from gpuetl.spec.incremental import bound_incremental
from gpuetl.spec.model import FrameSpec, PipelineSpec, SinkSpec, SourceSpec
from gpuetl.spec.parameters import UnboundScalar, UnresolvedScalar, remember_paths, resolve_scalars
from gpuetl.spec.places import node_in, place_of
from gpuetl.spec.steps import Context
from gpuetl.spec.steps.rows import sort_keys, warn_of_no_rows
from gpuetl.spec.steps.scalar import build_step
from gpuetl.spec.steps.step import Unknown
from gpuetl.spec.storage import StorageBinder, StorageOptions, WrongStorage
from gpuetl.spec.unused import NotedParameters, unused
from gpuetl.spec.upsert import upsert_keys
from gpuetl.spec.values import node_of
from gpuetl.state.pipeline_state import PipelineState
from gpuetl.state.run_store import RunStore, default_state
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import (
    BOOL,
    NULL,
    STRING,
    TIME,
    TIMESTAMP_NS,
    UNKNOWN,
    UUID,
    DataType,
    is_binary,
    is_opaque,
    type_name,
)
from gpuetl.types.nested_types import is_list, is_map, is_struct
from gpuetl.types.schema import Schema

IN_SANDBOX = "Use a path in the sandbox, or run without --sandbox if you trust the author of the file."
MOST_CONFLICTS = 3
"""The sinks that an error names, of those with which a sink's path is in conflict."""


def bind(
    spec: PipelineSpec,
    parameters: Mapping[str, Expr],
    folder: FilePath,
    run_id: str,
    problems: Problems,
    files: bool = True,
) -> Plan:
    """Build the plan of a pipeline whose relative paths start at `folder`.

    Without `files`, the columns of sources that do not state them are open.

    Raises
    ------
    InvalidPipeline
        With all problems: those found here and those kept before.
    """
    noted = parameters if isinstance(parameters, NotedParameters) else NotedParameters(parameters)
    plan = _Binder(spec, noted, folder, run_id, problems, files).plan()
    problems.check()
    return plan


def bound_state(spec: PipelineSpec, parameters: Mapping[str, Expr], folder: FilePath, run_id: str) -> FilePath | None:
    """Return the state folder of a pipeline that may be wrong elsewhere; None where there can be none."""
    return _Binder(spec, NotedParameters(parameters), folder, run_id, Problems(), looks_at_files=False).state


def folder_text(name: str, dtype: DataType) -> str:
    """Return the expression of a string that stands for a value in the name of a folder."""
    return f"hex({name})" if is_binary(dtype) and dtype != UUID else f"CAST({name} AS string)"


def overlap(one: FilePath, other: FilePath) -> bool:
    """Tell whether one of two paths is the other, or below it."""
    if isinstance(one, StorePath) or isinstance(other, StorePath):
        length = min(len(one.parts), len(other.parts))
        return type(one) is type(other) and one.parts[:length] == other.parts[:length]
    here, there = Path(os.path.abspath(one)), Path(os.path.abspath(other))  # noqa: PTH100  links stay as they are
    return here.is_relative_to(there) or there.is_relative_to(here)


def other_form(name: str, dtype: DataType) -> str:
    """Return what to do with a column that a sink's file cannot hold."""
    if is_struct(dtype):
        return "Unnest it, or write Parquet."
    if is_map(dtype):
        return f"Take values of it, such as {name}['key'], or write Parquet."
    if is_binary(dtype):
        return f"Write hex({name}), or write Parquet."
    return "Drop it." if is_opaque(dtype) else "Cast it to another type, or write Parquet."


def bind_source(
    name: str, spec: PipelineSpec, parameters: Mapping[str, Expr], folder: FilePath, run_id: str, problems: Problems
) -> Node:
    """Return the plan of one source; one with an open schema, and its problems, where its columns are not known."""
    return _Binder(spec, NotedParameters(parameters), folder, run_id, problems).source(name)


@dataclass
class _Binder:
    spec: PipelineSpec
    parameters: NotedParameters
    folder: FilePath
    run_id: str
    problems: Problems
    looks_at_files: bool = True
    relations: dict[str, Node] = field(default_factory=dict)
    datasets: list[Dataset] = field(default_factory=list)
    checks: dict[str, Node] = field(default_factory=dict)
    rules: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    incremental: dict[str, Incremental] = field(default_factory=dict)
    remembers: bool = False
    """Whether a source or step asked for `remembered`: then the run changes the state."""

    @cached_property
    def remembered(self) -> PipelineState:
        """What the last successful run left; an empty state where there can be none."""
        self.remembers = True
        path = self.state
        return PipelineState() if path is None else RunStore.at(path).read_for(str(self.spec.name))

    def plan(self) -> Plan:
        for name in self.spec.sources:
            self.relations[name] = self.source(name)
        sources = {name: self.relations[name] for name in self.spec.sources}
        for name in self.in_order():
            self.relations[name] = self.stage(name)
        stages = {name: self.relations[name] for name in self.spec.stages}
        sinks = {name: self.sink(name, sink) for name, sink in self.spec.sinks.items()}
        self.check_replaced_rows(sinks)
        sinks = {**self.fits.sinks, **sinks}
        self.distinct_targets()
        self.report_unknown()
        self.quarantines_are_read()
        unread = unused(self.spec, self.parameters.used)
        if self.looks_at_files and any(isinstance(node, KeptWindow) for node in walk_graph(*stages.values())):
            _ = self.remembered
        self.runs_have_new_rows(stages)
        return Plan(
            name=str(self.spec.name),
            sources=sources,
            stages=stages,
            sinks=sinks,
            checks=self.checks,
            rules=tuple(self.rules),
            rejected={name: node for name, node in self.relations.items() if name.endswith(REJECTED)},
            warnings=tuple(self.problems.warnings),
            unused=tuple(unread),
            notes=tuple(self.notes),
            state=self.state,
            remembered=self.remembered if self.remembers and self.looks_at_files else None,
            place_of=partial(place_of, self.spec),
            incremental=self.with_sinks(sinks),
        )

    def in_order(self) -> tuple[str, ...]:
        """Return the stages, each after those that it reads; one of a circle stays unread, so that it is told once."""
        stages = self.spec.stages.keys() - self.spec.sources.keys()
        reads = {
            name: [n for n in map(without_rejected, stage.reads) if n in stages]
            for name, stage in self.spec.stages.items()
        }
        while True:
            try:
                return tuple(name for name in TopologicalSorter(reads).static_order() if name not in self.relations)
            except CycleError as error:
                first, chain = from_first(error.args[1][:0:-1], list(reads))
                message = coded("GE1014", f"the stages go in a circle: {' → '.join(shortened(chain))}")
                own = "A stage cannot read its own rows, or those that it rejects."
                hint = own if len(set(chain)) == 1 else "Begin one of them with a source."
                self.add(message, hint, self.spec.stages[first].from_, "stage", first)
                self.relations[first], reads[first] = _Unread(origin=Origin("stage", first)), []

    def named(self, name: str, kind: str, of: str) -> Node:
        """Return the relation that a stage, join or sink names."""
        if name in self.relations:
            return self.relations[name]
        owner = without_rejected(name)
        if owner in self.spec.unreadable:
            return _Unread()
        if name != owner and owner in self.relations:
            source = owner in self.spec.sources
            how = (
                f"Set on_bad_row: quarantine on source '{owner}'"
                if source
                else "Give one of its rules on_fail: quarantine"
            )
            message = coded("GE1603", f"'{owner}' puts no rows in quarantine, so there is no '{name}'")
            self.add(message, f"{how}, or read '{owner}'.", name, kind, of)
        else:
            self.unknown.setdefault(str(name), []).append((kind, of, name))
        return _Unread()

    def report_unknown(self) -> None:
        """Report each source or stage that does not exist once, where the file names it first."""
        have = [*self.relations, *self.spec.sources, *self.spec.stages]  # with what rules put in quarantine
        for name, uses in self.unknown.items():
            places = {(place.line, place.column): use for use in uses if (place := self.place_of(use[2]))}
            kind, of, at = places[min(places)] if places else uses[0]
            lines = sorted({line for line, _ in places})[1:]
            listed = listing([*map(str, lines)])
            also = f" It is named on line{'s' * (len(lines) > 1)} {listed}, too." if lines else ""
            listed = have_hint(name, have, noun="Sources and stages") if self.problems.hints_names else ""
            hint = (listed + also).strip()
            self.add(coded("GE1020", f"unknown source or stage '{name}'"), hint, at, kind, of)

    def place_of(self, value: object) -> Place | None:
        node = node_of(value)
        return node.place() if node else None

    def add(self, message: str, hint: str, at: object, kind: str, of: str) -> None:
        node = node_of(at)
        place = node.place() if node else place_of(self.spec, Origin(kind, of))
        self.problems.add(message, hint, place, f"{kind} '{of}'")

    def path(self, kind: str, of: str, text: str, reads: bool = False) -> FilePath | None:
        """Return the path of a source, a sink or the state, or that a stage `reads` or writes.

        None for one that is wrong, or not known yet.
        """
        reads = reads or kind == "source"
        sandbox = current_sandbox()
        try:
            if sandbox:
                sandbox.refuse_environment(text)
            whole = joined(base_of(text), resolve_scalars(text, self.parameters, self.run_id, self.spec.environment))
            if not self.has_filesystem(kind, of, whole, text, reads):
                return None
            if kind != "source" and "*" in whole:
                message = coded("GE1008", f"the path '{whole}' has a '*', which only paths of sources have")
                self.add(message, "Name one file, or a folder.", text, kind, of)
                return None
            path = path_of(whole, self.folder)
            remember_paths(text, path, self.spec.environment)
            check_sandbox([fixed_part(path)])
            allowed = self.has_filesystem(kind, of, str(path), text, reads)
            return self.with_storage(kind, of, path, text) if allowed else None
        except OutsideSandbox as error:
            self.add(str(error), IN_SANDBOX, text, kind, of)
        except UnresolvedScalar as error:
            self.add(str(error), "", text, kind, of)
        except ImpossiblePath as error:
            self.add(coded("GE1008", str(error)), "", text, kind, of)
        except UnboundScalar:  # `validate` without the value of a required parameter: the path is not known yet
            self.has_filesystem(kind, of, text, text, reads)
        return None

    @cached_property
    def state(self) -> FilePath | None:
        """The state folder; None where there can be none: next to a file of an HTTP server."""
        if self.spec.state is not None:
            path = self.path("state", str(self.spec.name), self.spec.state.path)
            for name, sink in self.spec.sinks.items():
                target = self.path("sink", name, sink.path)
                if path and target and overlap(path, target):
                    message = coded("GE1575", f"the state folder {path} and sink '{name}' overlap: {target}")
                    self.add(message, "Give the state a folder of its own.", self.spec.state.path, "sink", name)
            return path
        if isinstance(self.folder, StorePath) and scheme_problem(str(self.folder), "write"):
            return None
        return default_state(self.folder, self.spec.stem or str(self.spec.name))

    def with_storage(self, kind: str, of: str, path: FilePath, text: str) -> FilePath | None:
        """Return a path with the options of its store, which its client takes; None for options that are wrong."""
        name, options = self.storage_of(kind, of)
        try:
            binder = StorageBinder(self.spec.storage, self.parameters, self.spec.environment)
            path = binder.bound(path, name, options)
            if self.looks_at_files:
                check_store(path)
        except WrongStorage as error:
            for problem in error.problems:
                place = problem.at.place() if problem.at else self.place_of(text)
                self.problems.add(problem.message, problem.hint, place, problem.within or f"{kind} '{of}'")
            return None
        except DatasetError as error:
            self.add(str(error), error.hint, text, kind, of)
            return None
        return path

    def storage_of(self, kind: str, of: str) -> tuple[str, StorageOptions]:
        """Return the name of the storage of a source, a sink or the state, and options of its own."""
        if kind == "state":
            return (self.spec.state.storage if self.spec.state else ""), ()
        if kind == "stage":  # of a fit step
            return "", ()
        entry = (self.spec.sinks if kind == "sink" else self.spec.sources)[of]
        assert not isinstance(entry, FrameSpec)
        return entry.storage, entry.storage_options

    def has_filesystem(self, kind: str, of: str, whole: str, text: str, reads: bool) -> bool:
        """Tell whether gpuetl reads or writes paths of this scheme; it is a problem where not."""
        if problem := scheme_problem(whole, "read" if reads else "write"):
            message, hint = problem
            self.add(coded("GE1409", message), hint, text, kind, of)
        return problem is None

    def context(self, origin: Origin) -> Context:
        relation = partial(self.named, kind=origin.kind, of=origin.name)
        node = node_in(self.spec, origin)
        return Context(
            origin, self.problems, self.parameters, relation, self.folder, self.undeclared, node, self.run_id, self.fits
        )

    @cached_property
    def fits(self) -> FitArtefacts:
        """What the fit steps of the stages learn."""
        return FitArtefacts(
            lambda of, text, reads: self.path("stage", of, text, reads), self.run_id, self.looks_at_files
        )

    def undeclared(self, name: str) -> str:
        """Tell how to declare a column that folders of a source have, if any does."""
        from gpuetl.formats.overlooked import declaring_hint

        return declaring_hint(name, self.datasets)

    def source(self, name: str) -> Node:
        spec, origin = self.spec.sources[name], Origin("source", name)
        if isinstance(spec, FrameSpec):
            dataset = FrameDataset.of(name, spec.table, spec.slice_rows)
            node = Read(dataset=dataset, columns=dataset.schema.names, origin=origin)
            if spec.quarantines:
                rejected = FrameDataset.of(f"{name}{REJECTED}", REJECTED_COLUMNS.to_arrow().empty_table())
                place = Origin("source", rejected.name)
                self.relations[rejected.name] = Read(dataset=rejected, columns=rejected.schema.names, origin=place)
            return self.narrowed(node, spec, self.context(origin))
        return self.narrowed(self.files(name, spec, origin), spec, self.context(origin))

    def files(self, name: str, spec: SourceSpec, origin: Origin) -> Node:
        """Return the node that reads a source's files; one with an open schema where that is not known."""
        if spec.options.quarantines:
            self.relations[f"{name}{REJECTED}"] = _Unread()
        path, form = self.path("source", name, spec.path), format_named(spec.format)
        infers = isinstance(spec.schema, InferredSchema) and not form.infers_columns  # these do without it
        states_all = spec.schema and spec.extra_columns != "add"
        if infers and form.states_types:
            message = coded("GE1402", f"schema: infer is for files that state no types, and {form.title} files do")
            self.add(message, "Take the schema out.", spec.path, "source", name)
            return _Unread(origin=origin)
        looks = spec.schema or form.states_types or infers
        if not states_all and looks and (path is None or not self.looks_at_files):
            return _Unread(origin=origin)
        if not form.states_types and not spec.schema and not infers:
            message = coded("GE1402", f"a {form.title} source needs a schema")
            hint = (
                f"Add schema: {{column: type, …}}, or schema: infer; a {form.title} file states no types.  "
                "gpuetl schema FILE prints one."
            )
            self.add(message, hint, spec.path, "source", name)
            return _Unread(origin=origin)
        self.no_lists("source", name, spec, spec.schema)
        self.only_held("source", name, spec, spec.schema)
        self.one_choice(name, spec)
        filtered = own_columns(spec)
        in_paths = {**spec.partitions, **({str(spec.filename): STRING} if spec.filename else {})}
        dataset = Dataset(
            name, spec.format, path or self.folder, spec.schema or {}, in_paths,
            filtered.union(spec.columns) if spec.columns else frozenset(),
            spec.extra_columns, spec.missing_columns, spec.options,
            excluded=frozenset(map(str, spec.exclude)) - filtered, filename=str(spec.filename),
        )  # fmt: skip
        if infers:
            inferred = self.inferred(dataset, spec)
            if inferred is None:
                return _Unread(origin=origin)
            dataset = inferred
        schema = self.schema_of(dataset, spec)
        for problem, hint in form.option_problems(spec.options, dataset.own_schema if schema else {}):
            self.add(problem, hint, spec.path, "source", name)
        if spec.options.quarantines:
            rejected = RejectedRows.of(dataset, self.run_id)
            place = Origin("source", rejected.name)
            self.relations[rejected.name] = Read(dataset=rejected, columns=rejected.schema.names, origin=place)
        if schema is None:
            return _Unread(origin=origin)
        self.datasets.append(dataset)
        self.bind_incremental(name, spec, schema)
        return Read(dataset=dataset, columns=schema.names, origin=origin)

    def check_replaced_rows(self, sinks: Mapping[str, Write]) -> None:
        """Report sinks that would replace rows of an incremental source, which no run reads again."""
        for name, node in sinks.items():
            spec, read = self.spec.sinks[name], sources_below(node).intersection(self.incremental)
            if not read or not (spec.run_key or spec.mode == "replace_partitions"):
                continue
            what = f"source '{min(read)}' gives each run only what is new"
            if spec.run_key:
                message = f"{what}: a second run with the same run_key would replace rows that no run reads again"
                hint = "Take run_key out: with incremental sources, a run that is started again doubles no row."
                self.add(coded("GE1546", message), hint, spec.run_key[0], "sink", name)
            else:
                message = f"{what}: where a partition is there already, its rows are replaced by the new ones alone"
                hint = "Take mode: append, unless each run gets whole partitions."
                self.problems.warn(coded("GE1546", message), hint, self.place_of(spec.path), f"sink '{name}'")

    def with_sinks(self, sinks: Mapping[str, Write]) -> dict[str, Incremental]:
        """Return the incremental sources, each with the sinks that read it, or its quarantine."""
        read = {name: sources_below(node) for name, node in sinks.items() if self.incremental}
        return {
            name: replace(one, sinks=frozenset(sink for sink, names in read.items() if name in names))
            for name, one in self.incremental.items()
        }

    def bind_incremental(self, name: str, spec: SourceSpec, schema: Schema) -> None:
        """Keep what each run reads of a source; report a watermark that no run can go by."""
        wanted = spec.incremental
        if wanted is None or (
            wanted.watermark and not self.context(Origin("source", name)).known([wanted.watermark], schema)
        ):
            return
        if wanted.watermark and spec.options.quarantines:
            message = coded("GE1548", "a watermark does not go together with on_bad_row: quarantine")
            hint = "Bad rows have no watermark, so each run would reject them again. Take new_files: true."
            self.add(message, hint, wanted.watermark, "source", name)
            return
        report = partial(self.add, kind="source", of=name)
        if (found := bound_incremental(wanted, str(spec.path), schema, report)) is not None:
            self.incremental[name], self.remembers = found, True

    def one_choice(self, name: str, spec: SourceSpec) -> None:
        """Report a source that chooses its columns in two ways, or has two columns of one name."""
        if spec.columns and spec.exclude:
            message = coded("GE1008", "columns and exclude cannot be given together")
            self.add(
                message,
                "Keep one: columns are those that are read, exclude those that are not.",
                spec.exclude[0],
                "source",
                name,
            )
        if spec.filename and (spec.filename in spec.schema or spec.filename in spec.partitions):
            message = coded("GE1412", f"filename: the source has a column '{spec.filename}' already")
            self.add(message, "Choose another name.", spec.filename, "source", name)

    def inferred(self, dataset: Dataset, spec: SourceSpec) -> Dataset | None:
        """Return a source with the types of its first rows, which a note shows; None where they cannot be read."""
        try:
            found = dataset.file_format.infer(dataset)
        except (DatasetError, OSError) as error:
            hint = error.hint if isinstance(error, DatasetError) else ""
            self.add(str(error), hint, spec.path, "source", dataset.name)
            return None
        listed = ", ".join(f"{name}: {type_name(dtype)}" for name, dtype in found.types.items())
        rows = "1 row" if found.rows == 1 else f"the first {found.rows:,} rows"
        self.notes.append(f"source '{dataset.name}': schema inferred from {rows} of {found.file}: {{{listed}}}")
        types = {name: dtype for name, dtype in found.types.items() if name not in dataset.partitions}
        return replace(dataset, declared=types, inferred_rows=max(1, found.rows))

    def note_inferred(self, dataset: Dataset) -> None:
        """Note the types of a source without a schema whose files do not state them either."""
        if looked_at := dataset.file_format.inferred_from(dataset):
            listed = ", ".join(f"{name}: {type_name(dtype)}" for name, dtype in dataset.own_schema.items())
            self.notes.append(f"source '{dataset.name}': schema inferred from {looked_at}: {{{listed}}}")

    def schema_of(self, dataset: Dataset, spec: SourceSpec) -> Schema | None:
        try:
            if spec.exclude:
                first = () if spec.schema or not dataset.files else dataset.stored(dataset.files[0])
                have = [*dict.fromkeys((*first, *dataset.schema, *spec.schema, *dataset.partitions))]
                for column in spec.exclude:
                    if column not in have:
                        message = coded("GE1003", f"exclude: unknown column '{column}'")
                        self.add(message, have_hint(column, have), column, "source", dataset.name)
            self.note_inferred(dataset)
            return dataset.schema
        except DatasetError as error:
            self.add(str(error), error.hint, spec.path, "source", dataset.name)
            return None

    def narrowed(self, node: Node, spec: SourceSpec | FrameSpec, context: Context) -> Node:
        """Apply the source's own filter and columns."""
        if spec.filter is not None:
            predicate = context.expression(spec.filter, node.schema)
            if predicate.dtype not in (BOOL, NULL, UNKNOWN):
                message = coded("GE1117", "a filter takes a condition")
                context.problem(message, "Compare it with something.", spec.filter)
            warn_of_no_rows(context, spec.filter, predicate, node.schema)
            node = Filter(source=node, predicate=predicate, origin=context.origin)
        if spec.columns:
            schema = node.schema
            kept = context.known(spec.columns, schema)
            node = Project(source=node, columns=passing(schema.select(kept)), origin=context.origin)
            node = context.doubtful(node, spec.columns, schema)
        elif left := [name for name in node.schema if name in spec.exclude]:  # that the filter reads
            others = [name for name in node.schema if name not in left]
            node = Project(source=node, columns=passing(node.schema.select(others)), origin=context.origin)
        return node

    def stage(self, name: str) -> Node:
        spec = self.spec.stages[name]
        node = self.named(spec.from_, "stage", name)
        for number, step in enumerate(spec.steps, 1):
            if step is None:  # it could not be read: what follows is checked as far as that goes
                node = Unknown(source=node, columns={})
                continue
            node = build_step(step, self.context(Origin("stage", name, number)), node)
        return self.expected(name, node) if spec.expect else node

    def expected(self, name: str, node: Node) -> Node:
        """Keep what a run counts of a stage's rows, and the rows in quarantine; return those that others read."""
        rules = self.spec.stages[name].expect
        context = self.context(Origin("stage", name))
        found = expected(context, [rule for rule in rules if rule], node, self.run_id)
        self.checks |= found.counts
        self.rules += found.checks
        if found.rejected is not None or None in rules:  # of a rule that cannot be read
            self.relations[name + REJECTED] = _Unread() if found.rejected is None else found.rejected
        return found.rows

    def runs_have_new_rows(self, stages: Mapping[str, Node]) -> None:
        """Warn of a window that keeps its state, and whose sources give each run the same rows: they would count twice.

        What tells runs apart is a source that is incremental or in memory, a path with a value in it, or a parameter
        in a step above.
        """
        for node in walk_graph(*stages.values()):
            if not isinstance(node, KeptWindow):
                continue
            above = [*walk_graph(node.source)]
            names = {one.dataset.name for one in above if isinstance(one, Read)}
            sources = [self.spec.sources[name] for name in names if name in self.spec.sources]
            varies = any(isinstance(one, FrameSpec) or "$" in one.path or differs_by_run(one) for one in sources)
            if sources and not varies and not any(map(has_parameter, above)):
                listed = listing([f"'{name}'" for name in sorted(names)])
                message = f"{node.origin} keeps its state, and each run reads the same rows of source {listed}"
                hint = "Make a source incremental, or put a parameter into its path or filter: rows would count twice."
                self.problems.warn(coded("GE1556", message), hint, place_of(self.spec, node.origin))

    def quarantines_are_read(self) -> None:
        """Report a quarantine that no stage and no sink reads: its rows would be lost."""
        readers = {str(name) for stage in self.spec.stages.values() for name in stage.reads}
        readers |= {str(sink.from_) for sink in self.spec.sinks.values()}
        sound = not self.problems.found
        for name, source in self.spec.sources.items():
            rejected = f"{name}{REJECTED}"
            misspelt = any(unknown.startswith(f"{name}.") for unknown in self.unknown)
            if isinstance(source, FrameSpec) or not source.options.quarantines:
                continue
            if rejected not in readers and not misspelt:
                hint = f"Add a sink, such as rejects: {{from: {rejected}, parquet: out/rejects}}, or a stage."
                message = coded("GE1413", f"bad rows go to {rejected}, and nothing reads it")
                self.add(message, hint, source.path, "source", name)
        for name, stage in self.spec.stages.items():
            rejected = f"{name}{REJECTED}"
            if sound and quarantines(stage.expect) and rejected not in readers:
                message = coded("GE1602", f"nothing reads '{rejected}', the rows that its rules put in quarantine")
                hint = f"Add a sink: {{from: {rejected}, parquet: …}}, or choose on_fail: drop."
                rule = next(rule for rule in stage.expect if rule and rule.on_fail == "quarantine")
                self.add(message, hint, rule.located, "stage", name)

    def sink(self, name: str, spec: SinkSpec) -> Write:
        origin, source = Origin("sink", name), self.named(spec.from_, "sink", name)
        form = format_named(spec.format)
        path = self.path("sink", name, spec.path) or self.folder  # not known yet, or wrong: the rest is checked
        context = self.context(origin)
        partition_by = context.keys(spec.partition_by, source.schema)
        for column in spec.partition_by:
            dtype = source.schema.get(column, UNKNOWN)
            if is_binary(dtype) or dtype in (TIME, TIMESTAMP_NS):
                why = coded("GE1505", f"'{column}' is {type_name(dtype)}, which names of folders cannot hold")
                context.problem(why, f"Partition by a string: {folder_text(column, dtype)}.", column)
        self.no_lists("sink", name, spec, source.schema)
        self.only_held("sink", name, spec, source.schema)
        in_files = {column: dtype for column, dtype in source.schema.items() if column not in partition_by}
        for message, hint in () if source.schema.open else form.sink_problems(spec.options, in_files):
            context.problem(message, hint, spec.path)
        if len(partition_by) == len(source.schema) > 0:
            message = coded("GE1504", "partition_by takes every column, so that files would have none")
            context.problem(message, "Leave one out.", spec.partition_by[0])
        if spec.mode == "replace_partitions" and not spec.partition_by:
            message = coded("GE1503", "mode replace_partitions needs partition_by")
            context.problem(message, "Add it, or use mode: overwrite.", spec.path)
        suffix = self.sink_suffix(name, spec)
        target = Target(
            name, spec.format, path, partition_by, spec.mode, spec.on_empty, keep_foreign=spec.keep_foreign,
            file_suffix=suffix, options=spec.options, on=upsert_keys(context, spec, source.schema),
        )  # fmt: skip
        if spec.keep_foreign and (target.is_file or spec.mode in ("error", "append")):
            message = coded("GE1510", "keep_foreign is for a folder with mode overwrite, replace_partitions or upsert")
            context.problem(message, "Leave it out: nothing else is removed.", spec.path)
        if spec.mode == "append" and target.is_file:
            message = coded("GE1503", "mode append needs a folder, and this path is one file")
            context.problem(message, "Leave out the suffix.", spec.path)
        order = sort_keys(context, spec.sort_by, source.schema) if spec.sort_by else ()
        if order and spec.mode != "upsert":  # there the rows that stay are sorted, too
            source = Sort(source=source, by=order, origin=origin)
        target = self.marked(context, target, spec, source)
        return Write(source=source, target=target, order=order if spec.mode == "upsert" else (), origin=origin)

    def sink_suffix(self, name: str, spec: SinkSpec) -> str:
        """Return how names of a sink's files end; a problem where a single file's path ends in another way."""
        suffix, own = suffix_of(spec), format_named(spec.format).suffixes
        other = max((one for one in own if spec.path.endswith(one)), key=len, default=suffix)
        if other != suffix and not spec.partition_by:
            message = coded("GE1517", f"the path ends in {other}, and the files of this sink in {suffix}")
            hint = f"Let the path end in {suffix}, or take out the sink's compression."
            self.add(message, hint, spec.path, "sink", name)
        return suffix

    def marked(self, context: Context, target: Target, spec: SinkSpec, source: Node) -> Target:
        """Return a target with what tells the files of equal runs: the run key, or all that is computed."""
        if spec.run_key and spec.mode != "append":
            message = coded("GE1507", f"run_key is for mode append, and the mode is {spec.mode}")
            context.problem(message, "Leave it out.", spec.run_key[0])
        for name in spec.run_key:
            if name not in self.parameters:
                have = have_hint(name, self.parameters, noun="Parameters")
                context.problem(coded("GE1021", f"run_key: unknown parameter '{name}'"), have, name)
        if spec.mode != "append" or any(name not in self.parameters for name in spec.run_key):
            return target
        of = str(self.spec.name), target.name
        if spec.run_key:
            values = (f"{name}={key_text(self.parameters[name])}" for name in spec.run_key)
            return replace(target, run_key=tuple(map(str, spec.run_key)), mark=mark_of("run key", *of, *values))
        if any(isinstance(node, Read) and isinstance(node.dataset, FrameDataset) for node in walk_graph(source)):
            return target  # other rows in memory look the same
        return replace(target, mark=mark_of("run", *of, digests_of([source])[id(source)]))

    def no_lists(self, kind: str, of: str, spec: SourceSpec | SinkSpec, columns: Mapping[str, DataType]) -> None:
        """Report columns of lists where the format cannot hold them."""
        form = format_named(spec.format)
        lists = [name for name, dtype in columns.items() if not form.holds_lists and is_list(dtype)]
        if lists:
            message = coded("GE1505", f"a {form.title} file cannot hold lists, and '{lists[0]}' is one")
            hint = "Use Parquet, or explode it." if kind == "sink" else "Declare it as a string, and split it."
            self.add(message, hint, spec.path, kind, of)

    def only_held(self, kind: str, of: str, spec: SourceSpec | SinkSpec, columns: Mapping[str, DataType]) -> None:
        """Report columns of types that the format does not have."""
        form = format_named(spec.format)
        in_paths = spec.partition_by if isinstance(spec, SinkSpec) else spec.partitions
        for name, dtype in columns.items():
            hint = other_form(name, dtype) if kind == "sink" else "Declare it as a number or a string."
            if dtype != UNKNOWN and name not in in_paths and not form.holds(dtype):
                article = "an" if form.title[0] in "AEIO" else "a"
                message = f"{article} {form.title} file cannot hold {type_name(dtype)}, the type of '{name}'"
                self.add(coded("GE1505", message), hint, spec.path, kind, of)

    def distinct_targets(self) -> None:
        """A sink has a place of its own: writing it changes no other sink, no source, not the pipeline's folder."""
        targets = [
            Target(name, sink.format, path, sink.partition_by, file_suffix=suffix_of(sink))
            for name, sink in self.spec.sinks.items()
            if (path := self.path("sink", name, sink.path))
        ]
        texts = {name: sink.path for name, sink in self.spec.sinks.items()} | self.fits.saved
        targets += (sink.target for sink in self.fits.sinks.values())
        sources = [
            Dataset(name, source.format, where)
            for name, source in (self.spec.sources.items() if targets else ())
            if isinstance(source, SourceSpec) and (where := self.path("source", name, source.path))
        ]
        locations = Locations()
        others: PathIndex[Target] = PathIndex(MOST_CONFLICTS)
        read: PathIndex[Dataset] = PathIndex()
        for source in sources:
            read.add(locations[fixed_part(local_path(source.path) or source.path)], source)
        for target in targets:
            place = locations[target.path]
            near = [*others.near(place)][:MOST_CONFLICTS], [*read.near(place)]
            others.add(place, target)
            for message in conflicts(target, *near, self.folder, locations):
                kind = "sink" if target.name in self.spec.sinks else "stage"
                self.add(coded("GE1502", message), "Give it a different path.", texts[target.name], kind, target.name)


def sources_below(node: Node) -> frozenset[str]:
    """Return the sources whose rows, or rows in quarantine, a node is made of."""
    return frozenset(without_rejected(one.dataset.name) for one in walk_graph(node) if isinstance(one, Read))


def own_columns(spec: SourceSpec) -> frozenset[str]:
    """Return the columns that a source itself looks at, by its filter and its watermark."""
    filtered = frozenset(names_in(spec.filter.syntax)) if spec.filter else frozenset[str]()
    watermark = spec.incremental.watermark if spec.incremental else ""
    return filtered | {str(watermark)} if watermark else filtered


def differs_by_run(source: SourceSpec) -> bool:
    """Return whether a source gives each run other rows."""
    return source.incremental is not None


def has_parameter(node: Node) -> bool:
    """Return whether a step has a parameter in one of its expressions."""
    parts = (part for expr in node.expressions for part in walk(expr))
    return any(isinstance(part, Parameter) or (isinstance(part, Literal) and part.declared) for part in parts)


def suffix_of(spec: SinkSpec) -> str:
    """Return how names of a sink's files end."""
    return format_named(spec.format).sink_suffix(spec.path, spec.options)


def key_text(value: Expr) -> str:
    """Return a parameter's value as a part of a run key; null is a value, too."""
    return f"{type_name(value.dtype)} {value.value!r}" if isinstance(value, Literal) else ""


def from_first(circle: Sequence[str], names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name of a circle that is written first, and the circle from there back to it."""
    start = circle.index(min(circle, key=names.index))
    first = circle[start]
    return first, [*circle[start:], *circle[:start], first]


def shortened(chain: list[str], length: int = 12) -> list[str]:
    """Leave out the middle of a long chain."""
    return chain if len(chain) <= length else [*chain[: length // 2], "…", *chain[-length // 2 :]]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Unread(Node):
    """Stands for a source or stage that is wrong, or whose files are not known yet: it may have any column."""

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return no column, and any other."""
        return Schema(open=True)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """It reads nothing."""
        return ()

"""Bind a source to the node that reads its files, or its rows in memory."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial

from gpuetl.errors import have_hint
from gpuetl.expressions.syntax import names_in
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.registry import format_named
from gpuetl.formats.rejected import COLUMNS as REJECTED_COLUMNS
from gpuetl.formats.rejected import REJECTED, RejectedRows
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.incremental import Incremental
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Project, Read, passing
from gpuetl.records import dataclass
from gpuetl.spec.binding.held_types import report_lists, report_other_types
from gpuetl.spec.binding.paths import PathBinder
from gpuetl.spec.binding.relations import Relations, Unread
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.forms import InferredSchema
from gpuetl.spec.incremental import bound_incremental
from gpuetl.spec.model import FrameSpec, PipelineSpec, SourceSpec
from gpuetl.spec.steps import Context
from gpuetl.spec.steps.rows import warn_of_no_rows
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import (
    BOOL,
    NULL,
    STRING,
    UNKNOWN,
    type_name,
)
from gpuetl.types.schema import Schema


@dataclass
class SourceBinder:
    """Binds the sources of a pipeline."""

    spec: PipelineSpec
    paths: PathBinder
    relations: Relations
    reporter: Reporter
    notes: list[str] = field(default_factory=list)
    incremental: dict[str, Incremental] = field(default_factory=dict)

    def source(self, name: str) -> Node:
        """Return the node that reads a source, with its own filter and columns."""
        spec, origin = self.spec.sources[name], Origin("source", name)
        if isinstance(spec, FrameSpec):
            dataset = FrameDataset.of(name, spec.table, spec.slice_rows)
            node = Read(dataset=dataset, columns=dataset.schema.names, origin=origin)
            if spec.quarantines:
                rejected = FrameDataset.of(f"{name}{REJECTED}", REJECTED_COLUMNS.to_arrow().empty_table())
                place = Origin("source", rejected.name)
                self.relations.nodes[rejected.name] = Read(
                    dataset=rejected, columns=rejected.schema.names, origin=place
                )
            return self.narrowed(node, spec, self.relations.context(origin))
        return self.narrowed(self.files(name, spec, origin), spec, self.relations.context(origin))

    def files(self, name: str, spec: SourceSpec, origin: Origin) -> Node:
        """Return the node that reads a source's files; one with an open schema where that is not known."""
        if spec.options.quarantines:
            self.relations.nodes[f"{name}{REJECTED}"] = Unread()
        path, form = self.paths.path("source", name, spec.path), format_named(spec.format)
        infers = isinstance(spec.schema, InferredSchema) and not form.infers_columns  # these do without it
        states_all = spec.schema and spec.extra_columns != "add"
        if infers and form.states_types:
            message = coded("GE1402", f"schema: infer is for files that state no types, and {form.title} files do")
            self.reporter.add(message, "Take the schema out.", spec.path, "source", name)
            return Unread(origin=origin)
        looks = spec.schema or form.states_types or infers
        if not states_all and looks and (path is None or not self.paths.looks_at_files):
            return Unread(origin=origin)
        if not form.states_types and not spec.schema and not infers:
            message = coded("GE1402", f"a {form.title} source needs a schema")
            hint = (
                f"Add schema: {{column: type, …}}, or schema: infer; a {form.title} file states no types.  "
                "gpuetl schema FILE prints one."
            )
            self.reporter.add(message, hint, spec.path, "source", name)
            return Unread(origin=origin)
        report_lists(self.reporter, "source", name, spec, spec.schema)
        report_other_types(self.reporter, "source", name, spec, spec.schema)
        self.one_choice(name, spec)
        filtered = own_columns(spec)
        in_paths = {**spec.partitions, **({str(spec.filename): STRING} if spec.filename else {})}
        dataset = Dataset(
            name, spec.format, path or self.paths.folder, spec.schema or {}, in_paths,
            filtered.union(spec.columns) if spec.columns else frozenset(),
            spec.extra_columns, spec.missing_columns, spec.options,
            excluded=frozenset(map(str, spec.exclude)) - filtered, filename=str(spec.filename),
        )  # fmt: skip
        if infers:
            inferred = self.inferred(dataset, spec)
            if inferred is None:
                return Unread(origin=origin)
            dataset = inferred
        schema = self.schema_of(dataset, spec)
        for problem, hint in form.option_problems(spec.options, dataset.own_schema if schema else {}):
            self.reporter.add(problem, hint, spec.path, "source", name)
        if spec.options.quarantines:
            rejected = RejectedRows.of(dataset, self.paths.run_id)
            place = Origin("source", rejected.name)
            self.relations.nodes[rejected.name] = Read(dataset=rejected, columns=rejected.schema.names, origin=place)
        if schema is None:
            return Unread(origin=origin)
        self.relations.datasets.append(dataset)
        self.bind_incremental(name, spec, schema)
        return Read(dataset=dataset, columns=schema.names, origin=origin)

    def bind_incremental(self, name: str, spec: SourceSpec, schema: Schema) -> None:
        """Keep what each run reads of a source; report a watermark that no run can go by."""
        wanted = spec.incremental
        if wanted is None or (
            wanted.watermark and not self.relations.context(Origin("source", name)).known([wanted.watermark], schema)
        ):
            return
        if wanted.watermark and spec.options.quarantines:
            message = coded("GE1548", "a watermark does not go together with on_bad_row: quarantine")
            hint = "Bad rows have no watermark, so each run would reject them again. Take new_files: true."
            self.reporter.add(message, hint, wanted.watermark, "source", name)
            return
        report = partial(self.reporter.add, kind="source", of=name)
        if (found := bound_incremental(wanted, str(spec.path), schema, report)) is not None:
            self.incremental[name] = found

    def one_choice(self, name: str, spec: SourceSpec) -> None:
        """Report a source that chooses its columns in two ways, or has two columns of one name."""
        if spec.columns and spec.exclude:
            message = coded("GE1008", "columns and exclude cannot be given together")
            self.reporter.add(
                message,
                "Keep one: columns are those that are read, exclude those that are not.",
                spec.exclude[0],
                "source",
                name,
            )
        if spec.filename and (spec.filename in spec.schema or spec.filename in spec.partitions):
            message = coded("GE1412", f"filename: the source has a column '{spec.filename}' already")
            self.reporter.add(message, "Choose another name.", spec.filename, "source", name)

    def inferred(self, dataset: Dataset, spec: SourceSpec) -> Dataset | None:
        """Return a source with the types of its first rows, which a note shows; None where they cannot be read."""
        try:
            found = dataset.file_format.infer(dataset)
        except (DatasetError, OSError) as error:
            hint = error.hint if isinstance(error, DatasetError) else ""
            self.reporter.add(str(error), hint, spec.path, "source", dataset.name)
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
        """Return the columns of a source; None for files that cannot be read, which is a problem."""
        try:
            if spec.exclude:
                first = () if spec.schema or not dataset.files else dataset.stored(dataset.files[0])
                have = [*dict.fromkeys((*first, *dataset.schema, *spec.schema, *dataset.partitions))]
                for column in spec.exclude:
                    if column not in have:
                        message = coded("GE1003", f"exclude: unknown column '{column}'")
                        self.reporter.add(message, have_hint(column, have), column, "source", dataset.name)
            self.note_inferred(dataset)
            return dataset.schema
        except DatasetError as error:
            self.reporter.add(str(error), error.hint, spec.path, "source", dataset.name)
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


def own_columns(spec: SourceSpec) -> frozenset[str]:
    """Return the columns that a source itself looks at, by its filter and its watermark."""
    filtered = frozenset(names_in(spec.filter.syntax)) if spec.filter else frozenset[str]()
    watermark = spec.incremental.watermark if spec.incremental else ""
    return filtered | {str(watermark)} if watermark else filtered

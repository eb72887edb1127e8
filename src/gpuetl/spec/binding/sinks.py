"""Bind a sink to the node that writes its files."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.errors import have_hint
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.registry import format_named
from gpuetl.io.overlap import Locations, PathIndex, conflicts, fixed_part
from gpuetl.messages import coded
from gpuetl.places.registry import local_path
from gpuetl.places.target import Target, mark_of
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nested_keys import flattened
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Sort, Write
from gpuetl.plan.plan import digests_of
from gpuetl.records import dataclass
from gpuetl.spec.binding.held_types import folder_text, report_lists, report_other_types
from gpuetl.spec.binding.paths import PathBinder
from gpuetl.spec.binding.relations import Relations
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.model import PipelineSpec, SinkSpec, SourceSpec
from gpuetl.spec.steps import Context
from gpuetl.spec.steps.order import order_of, with_computed, without_computed
from gpuetl.spec.upsert import upsert_keys
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import TIME, TIMESTAMP_NS, UNKNOWN, is_binary, type_name

MOST_CONFLICTS = 3
"""The sinks that an error names, of those with which a sink's path is in conflict."""


@dataclass
class SinkBinder:
    """Binds the sinks of a pipeline."""

    spec: PipelineSpec
    paths: PathBinder
    relations: Relations
    reporter: Reporter

    def sink(self, name: str, spec: SinkSpec) -> Write:
        """Return the node that writes a sink's files."""
        origin, source = Origin("sink", name), self.relations.named(spec.from_, "sink", name)
        form = format_named(spec.format)
        path = (
            self.paths.path("sink", name, spec.path) or self.paths.folder
        )  # not known yet, or wrong: the rest is checked
        context = self.relations.context(origin)
        partition_by = context.keys(spec.partition_by, source.schema)
        for column in spec.partition_by:
            dtype = source.schema.get(column, UNKNOWN)
            if is_binary(dtype) or dtype in (TIME, TIMESTAMP_NS):
                why = coded("GE1505", f"'{column}' is {type_name(dtype)}, which names of folders cannot hold")
                context.problem(why, f"Partition by a string: {folder_text(column, dtype)}.", column)
        report_lists(self.reporter, "sink", name, spec, source.schema)
        report_other_types(self.reporter, "sink", name, spec, source.schema)
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
        order, computed = order_of(context, spec.sort_by, source.schema, nested=spec.mode != "upsert")
        if computed and spec.mode == "upsert":  # what is in the files is sorted again, and they lack the column
            message = coded("GE1008", f"mode upsert sorts by columns, and {spec.sort_by[0].column} is an expression")
            context.problem(message, "Compute it in a column of the stage, and sort by that.", spec.sort_by[0])
            order = ()
        if order and spec.mode != "upsert":  # there the rows that stay are sorted, too
            rows = flattened(Sort(source=with_computed(context, source, computed), by=order, origin=origin))
            source = without_computed(context, rows, computed)
        target = self.marked(context, target, spec, source)
        return Write(source=source, target=target, order=order if spec.mode == "upsert" else (), origin=origin)

    def sink_suffix(self, name: str, spec: SinkSpec) -> str:
        """Return how names of a sink's files end; a problem where a single file's path ends in another way."""
        suffix, own = suffix_of(spec), format_named(spec.format).suffixes
        other = max((one for one in own if spec.path.endswith(one)), key=len, default=suffix)
        if other != suffix and not spec.partition_by:
            message = coded("GE1517", f"the path ends in {other}, and the files of this sink in {suffix}")
            hint = f"Let the path end in {suffix}, or take out the sink's compression."
            self.reporter.add(message, hint, spec.path, "sink", name)
        return suffix

    def marked(self, context: Context, target: Target, spec: SinkSpec, source: Node) -> Target:
        """Return a target with what tells the files of equal runs: the run key, or all that is computed."""
        if spec.run_key and spec.mode != "append":
            message = coded("GE1507", f"run_key is for mode append, and the mode is {spec.mode}")
            context.problem(message, "Leave it out.", spec.run_key[0])
        for name in spec.run_key:
            if name not in self.paths.parameters:
                have = have_hint(name, self.paths.parameters, noun="Parameters")
                context.problem(coded("GE1021", f"run_key: unknown parameter '{name}'"), have, name)
        if spec.mode != "append" or any(name not in self.paths.parameters for name in spec.run_key):
            return target
        of = str(self.spec.name), target.name
        if spec.run_key:
            values = (f"{name}={key_text(self.paths.parameters[name])}" for name in spec.run_key)
            return replace(target, run_key=tuple(map(str, spec.run_key)), mark=mark_of("run key", *of, *values))
        if any(isinstance(node, Read) and isinstance(node.dataset, FrameDataset) for node in walk_graph(source)):
            return target  # other rows in memory look the same
        return replace(target, mark=mark_of("run", *of, digests_of([source])[id(source)]))

    def report_conflicts(self) -> None:
        """A sink has a place of its own: writing it changes no other sink, no source, not the pipeline's folder."""
        targets = [
            Target(name, sink.format, path, sink.partition_by, file_suffix=suffix_of(sink))
            for name, sink in self.spec.sinks.items()
            if (path := self.paths.path("sink", name, sink.path))
        ]
        texts = {name: sink.path for name, sink in self.spec.sinks.items()} | self.relations.fits.saved
        targets += (sink.target for sink in self.relations.fits.sinks.values())
        sources = [
            Dataset(name, source.format, where)
            for name, source in (self.spec.sources.items() if targets else ())
            if isinstance(source, SourceSpec) and (where := self.paths.path("source", name, source.path))
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
            for message in conflicts(target, *near, self.paths.folder, locations):
                kind = "sink" if target.name in self.spec.sinks else "stage"
                self.reporter.add(
                    coded("GE1502", message), "Give it a different path.", texts[target.name], kind, target.name
                )


def suffix_of(spec: SinkSpec) -> str:
    """Return how names of a sink's files end."""
    return format_named(spec.format).sink_suffix(spec.path, spec.options)


def key_text(value: Expr) -> str:
    """Return a parameter's value as a part of a run key; null is a value, too."""
    return f"{type_name(value.dtype)} {value.value!r}" if isinstance(value, Literal) else ""

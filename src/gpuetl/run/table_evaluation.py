"""Compute the rows of one table: bind only what it reads, write no sink, and begin with rows that are kept."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gpuetl.engines.registry import Choice, choose_engine, load_driver_backend
from gpuetl.errors import Problems
from gpuetl.expressions.expression import apply
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.rejected import REJECTED, RejectedRows, without_rejected
from gpuetl.options import RunOptions
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.plan.incremental import Selection
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import AsofJoin, Explode, Filter, Join, Kernel, Limit, Project, Read, ScalarJoin
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.report.notebook_progress import shown_progress
from gpuetl.run.kept_results import rule_keys, run_label
from gpuetl.run.pipeline_run import RunRequest, run_pipeline
from gpuetl.run.planning import explained
from gpuetl.run.result_cache import KeptRows, result_cache
from gpuetl.run.result_keys import result_keys
from gpuetl.run.results import Result
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.expect.bind import quarantines
from gpuetl.spec.model import FrameSpec, PipelineSpec, SourceSpec, StageSpec
from gpuetl.spec.steps import Aggregate, Step
from gpuetl.spec.steps.rows import Limit as LimitStep
from gpuetl.spec.values import Formula, Text
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    from gpuetl.telemetry.recorder import WantedProgress

FIRST_READ = 16
"""How many times the rows that are wanted a first look reads, where a filter may drop most of them."""
READ_GROWTH = 8
"""How many times more the next look reads, where the one before found too few rows."""


@dataclass(frozen=True)
class TableQuery:
    """Rows of a table: those of the relation `origin` of a pipeline after the steps of `stage`.

    Parameters
    ----------
    spec
        The pipeline, as it is declared.
    origin
        A source, a stage, or the quarantine of one.
    stage
        The steps after it, if any.
    params
        Values of parameters.
    options, progress
        As in `Pipeline.run`.
    problems
        What is wrong with the pipeline's file.
    """

    spec: PipelineSpec
    root: FilePath
    origin: str
    stage: StageSpec | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    options: RunOptions | None = None
    progress: WantedProgress = None
    problems: Problems = field(default_factory=Problems, repr=False)

    def then(self, *steps: Step) -> TableQuery:
        """Return the query with further steps, after the rules of the table itself, which may drop rows."""
        if self.stage is None or self.stage.expect:
            spec = replace(self.spec, stages={**self.spec.stages, self.name: self.stage}) if self.stage else self.spec
            return replace(self, spec=spec, origin=self.name, stage=StageSpec(Text(self.name), steps))
        return replace(self, stage=replace(self.stage, steps=(*self.stage.steps, *steps)))

    @property
    def name(self) -> str:
        """The name of the relation, which errors name as a stage."""
        if self.stage is None:
            return self.origin
        taken = {*self.spec.sources, *self.spec.stages}
        stem = f"{self.origin.replace('.', '_')}_"
        return next(f"{stem}{number}" for number in range(1, len(taken) + 2) if f"{stem}{number}" not in taken)

    @property
    def alone(self) -> PipelineSpec:
        """The pipeline with nothing but what the table reads."""
        stages = {**self.spec.stages, **({self.name: self.stage} if self.stage else {})}
        needed = set(ancestors(stages, without_rejected(self.name)))
        sources = {name: source for name, source in self.spec.sources.items() if name in needed}
        stages = {name: stage for name, stage in stages.items() if name in needed}
        parameters = {
            name: parameter
            for name, parameter in self.spec.parameters.items()
            if not parameter.required or name in self.params or may_name(name, (sources, stages, self.spec.storage))
        }
        return replace(self.spec, parameters=parameters, sources=sources, stages=stages, sinks={}, tests=())

    @property
    def lacks_values(self) -> bool:
        """Whether a parameter that the table may need has no value."""
        return any(p.required and name not in self.params for name, p in self.alone.parameters.items())


def may_name(name: str, parts: object) -> bool:
    """Tell whether parts of a pipeline may name a parameter: whether the word is in them at all."""
    return re.search(rf"\b{re.escape(name)}\b", repr(parts)) is not None


def quarantines_of(
    sources: Mapping[str, SourceSpec | FrameSpec], stages: Mapping[str, StageSpec]
) -> Iterator[str]:  # fmt: skip
    """Yield the quarantines, which something must read."""
    for name, source in sources.items():
        if not isinstance(source, FrameSpec) and source.options.quarantines:
            yield f"{name}{REJECTED}"
    for name, stage in stages.items():
        if quarantines(stage.expect):
            yield f"{name}{REJECTED}"


def ancestors(stages: Mapping[str, StageSpec], name: str) -> Iterator[str]:
    """Yield a relation, and all that it reads at any remove."""
    seen, todo = {name}, [name]
    while todo:
        found = todo.pop()
        yield found
        for read in map(without_rejected, stages[found].reads if found in stages else ()):
            if read not in seen:
                seen.add(str(read))
                todo.append(str(read))


def chosen_engine(query: TableQuery, engine: str) -> Choice:
    """Return the engine to use for a name; for `auto` that of the pipeline's profile, if it names one."""
    wanted = str(query.spec.profile.engine) if engine == "auto" else engine
    return choose_engine(wanted or "auto")


class TableDefinition(PipelineDefinition):
    """A pipeline with nothing but what a table reads."""

    def completed(self, spec: PipelineSpec) -> PipelineSpec:
        """Return the model with a reader of each quarantine: a notebook may read it later.

        Parameters have values here, such as that of `on_bad_row: $mode`.
        """
        names = quarantines_of(spec.sources, spec.stages)
        readers = {f"{name}_rows": StageSpec(Text(name), ()) for name in names}
        return replace(spec, stages={**readers, **spec.stages})


class QueryPipeline(TableDefinition):
    """The pipeline of a query on an engine, whose plan begins with rows that are kept.

    With `checks`, the plan has the contracts of stages, without the rules that held when kept rows were computed.
    `read_rows` limits the rows that are read of the source of the first rows.

    Binding a plan sets `key`, the key of its rows, and `rules`, the keys of all rules.  `unchecked` says whether a rule
    is still to be checked.  `warnings` are those of the runs that computed kept rows.  `selections` are what is read of
    incremental sources.
    """

    def __init__(self, query: TableQuery, engine: str, checks: bool, read_rows: int | None = None) -> None:
        super().__init__(str(query.spec.name), query.spec.description, query.root)
        self.spec, self._problems = query.alone, query.problems
        self.name, self._checks, self._read_rows = query.name, checks, read_rows
        self._label = run_label(engine, query.options)
        self.key: str | None = None
        self.rules: frozenset[str] = frozenset()
        self.unchecked = False
        self.warnings: tuple[str, ...] = ()
        self.selections: tuple[Selection, ...] = ()

    def plan(
        self,
        params: Mapping[str, Any] | None = None,
        *,
        run_id: str = "plan",
        unbound: bool = False,
        files: bool = True,
        begins_anew: bool = False,
    ) -> Plan:
        """Return the plan of the table's rows."""
        plan = super().plan(params, run_id=run_id, unbound=unbound, files=files, begins_anew=begins_anew)
        plan = plan.keeping([self.name])
        coming = plan if unbound or not files or not plan.incremental else next_run(plan, self.root)
        is_known = all(one.is_known for one in coming.selections.values())
        plan = coming if is_known else plan  # else the run asks the engine
        self.selections = tuple(plan.selections.values())
        if not self._checks:
            plan = replace(plan, checks={}, rules=())
        found = result_keys(plan.roots) if is_known else {}
        keys = {identity: self._label + key for identity, key in found.items()}
        self.key = keys.get(id(plan.kept[self.name]))
        plan = self._with_kept_rows(plan, keys)
        if self._read_rows is not None:
            plan = reading_first(plan, self._read_rows)
        return replace(plan, stages={**plan.stages, **plan.kept})  # where a run looks for what it keeps

    def _with_kept_rows(self, plan: Plan, keys: Mapping[int, str]) -> Plan:
        """Replace nodes by their kept rows, and drop rules that held."""
        kept = {
            id(node): (node, rows)
            for node in plan.nodes
            if not isinstance(node, Read) and (rows := result_cache.find(keys.get(id(node)))) and rows.is_whole
        }
        held = frozenset(rule for _, rows in kept.values() for rule in rows.rules)
        named = rule_keys(plan, keys)
        rules = tuple(rule for rule in plan.rules if named.get(rule) not in held)
        self.rules, self.unchecked = frozenset(named.values()), bool(rules)
        self.warnings = tuple(dict.fromkeys(warning for _, rows in kept.values() for warning in rows.warnings))
        dropped = {rule.counts for rule in plan.rules} - {rule.counts for rule in rules}
        checks = {name: node for name, node in plan.checks.items() if name not in dropped}
        plan = replace(plan, rules=rules, checks=checks)
        return plan.replacing({identity: read_of(node, rows) for identity, (node, rows) in kept.items()})


def read_of(node: Node, rows: KeptRows) -> Node:
    """Return the node that reads kept rows, of the same origin as the one that computed them."""
    dataset = FrameDataset.of(f"kept rows of {node.origin.name}", rows.table)
    return Read(dataset=dataset, columns=node.schema.names, origin=node.origin)


# The first rows, for which only a part of a source is read.


def reading_first(plan: Plan, rows: int) -> Plan:
    """Return the plan that reads the source of the first rows up to a number of rows."""
    source = source_of_first_rows(plan)
    return plan.replacing({id(source): replace(source, limit=rows)}) if source else plan


def source_of_first_rows(plan: Plan) -> Read | None:
    """Return the source whose first rows give the first rows of the result; None where more must be read."""
    (node,) = plan.kept.values()
    while not isinstance(node, Read):
        if isinstance(node, Kernel) and node.grouped:
            return None
        if isinstance(node, Join):
            if node.unique[0] or not (isinstance(node, ScalarJoin) or node.how in ("left", "inner", "semi", "anti")):
                return None
            node = node.inputs[0]
        elif isinstance(node, AsofJoin):
            node = node.left
        elif isinstance(node, Filter | Project | Explode | Limit | Kernel):
            node = node.source
        else:
            return None
    return node if plan.consumers()[id(node)] == 1 else None


def parts_to_read(plan: Plan, count: int) -> Iterator[int]:
    """Yield how many rows to read of the source of the first rows, ever more of them, in whole row groups.

    None where all must be read, or their number is not known.
    """
    source = source_of_first_rows(plan)
    if source is None or isinstance(source.dataset, FrameDataset | RejectedRows):
        return
    try:
        counts = [group.rows for group in source.dataset.row_groups]
    except DatasetError:  # the run says what is wrong
        return
    if any(rows < 0 for rows in counts):
        return
    wanted = FIRST_READ * max(count, 1)
    for rows in accumulate(counts[:-1]):
        if rows >= wanted:
            yield rows
            wanted = rows * READ_GROWTH


# What tables in Python offer.


def all_rows(query: TableQuery, engine: str) -> Result:
    """Return all rows of a table; contracts of the stages on the way are checked."""
    return whole_answer(query, engine, checks=True)


def small_answer(query: TableQuery, engine: str) -> Result:
    """Return what an aggregate of a table gives.  Contracts are not checked."""
    return whole_answer(query, engine, checks=False)


def row_count(query: TableQuery, engine: str) -> int:
    """Return the number of rows: of rows that are kept, of metadata, or of a plan that needs no column of them."""
    pipeline = QueryPipeline(query, chosen_engine(query, engine).name, checks=False)
    plan = pipeline.plan(query.params, run_id=uuid.uuid4().hex)
    found = result_cache.find(pipeline.key)
    if found and found.is_whole:
        return int(found.table.num_rows)
    if (stated := stated_rows(plan.kept[pipeline.name])) is not None:
        return stated
    answer = small_answer(query.then(Aggregate({"rows": Formula(apply("count_rows").syntax)})), engine)
    return int(answer.to_arrow().column("rows")[0].as_py())


def stated_rows(node: Node) -> int | None:
    """Return how many rows the metadata of a source states, where no step on the way changes the number."""
    while isinstance(node, Project):
        node = node.source
    if not isinstance(node, Read) or node.limit is not None or isinstance(node.dataset, RejectedRows):
        return None
    if not node.dataset.file_format.states_types:  # rows of text are counted when they are read: some may be bad
        return None
    try:
        counts = [group.rows for group in node.dataset.row_groups]
    except DatasetError:  # the run says what is wrong
        return None
    return sum(counts) if all(count >= 0 for count in counts) else None


def whole_answer(query: TableQuery, engine: str, checks: bool) -> Result:
    """Return all rows of a query, and keep them."""
    choice = chosen_engine(query, engine)
    pipeline = QueryPipeline(query, choice.name, checks)
    pipeline.plan(query.params, run_id=uuid.uuid4().hex)
    found = result_cache.find(pipeline.key)
    if found and found.is_whole and not pipeline.unchecked:
        return kept_result(found, choice, pipeline)
    result = computed(query, choice, pipeline)
    result_cache.keep(pipeline.key, KeptRows(result.to_arrow(), True, pipeline.rules, result.warnings))
    return result


def first_rows(query: TableQuery, count: int, engine: str) -> Result:
    """Return the first rows of a table, and read no more than they need.  Contracts are not checked."""
    choice = chosen_engine(query, engine)
    whole = QueryPipeline(query, choice.name, checks=False)
    plan = whole.plan(query.params, run_id=uuid.uuid4().hex)
    found = result_cache.find(whole.key)
    if found and (rows := found.first(count)) is not None:
        return kept_result(replace(found, table=rows), choice, whole)
    result = computed_first(query.then(LimitStep(count)), count, choice, parts_to_read(plan, count))
    table = result.to_arrow()
    result_cache.keep(whole.key, KeptRows(table, table.num_rows < count, warnings=result.warnings))
    return result


def computed_first(query: TableQuery, count: int, choice: Choice, parts: Iterator[int]) -> Result:
    """Run the plan of the first rows: of parts of the source until there are enough, or of all of it."""
    for rows in parts:
        result = computed(query, choice, QueryPipeline(query, choice.name, False, rows))
        if result.to_arrow().num_rows >= count:
            return result
    return computed(query, choice, QueryPipeline(query, choice.name, False))


def computed(query: TableQuery, choice: Choice, pipeline: QueryPipeline) -> Result:
    """Run the plan of a query."""
    request = RunRequest((pipeline.name,), write=False)
    with shown_progress(query.progress, f"rows of {query.origin}") as shown:
        run = run_pipeline(pipeline, query.params, choice, request, query.options, shown)
    result = run[pipeline.name]
    warnings = tuple(dict.fromkeys((*pipeline.warnings, *run.report.warnings)))
    return replace(
        result, table=result.to_arrow(), warnings=warnings, notes=tuple(one.note for one in run.report.incremental)
    )


def next_run(plan: Plan, root: FilePath) -> Plan:
    """Return the plan of what the next run reads of incremental sources."""
    from gpuetl.run.incremental import sources

    return sources.next_run(plan, root)


def kept_result(rows: KeptRows, choice: Choice, pipeline: QueryPipeline) -> Result:
    """Return rows that are kept as a result of an engine."""
    notes = tuple(one.note for one in pipeline.selections)
    return Result(None, load_driver_backend(choice.name), rows.table, rows.warnings, notes)


def kept_rows(query: TableQuery, engine: str = "auto") -> KeptRows | None:
    """Return the rows of a table that are kept, all or the first ones; None where none are."""
    pipeline = QueryPipeline(query, chosen_engine(query, engine).name, checks=False)
    pipeline.plan(query.params, run_id=uuid.uuid4().hex)
    return result_cache.find(pipeline.key)


def schema_of(query: TableQuery) -> Schema:
    """Return the columns of a table: metadata of files is read, and no rows.  Parameters may be left out."""
    plan = TableDefinition.from_spec(query.alone, query.root, query.problems).plan(query.params, unbound=True)
    return {**plan.sources, **plan.stages, **plan.rejected}[query.name].schema


def explained_query(query: TableQuery, engine: str) -> str:
    """Return the physical plan of a table's rows as text."""
    plan = QueryPipeline(query, chosen_engine(query, engine).name, checks=True).plan(query.params)
    with plan.pointing():
        return explained(plan, query.options or RunOptions(), engine)

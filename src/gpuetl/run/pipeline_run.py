"""One run: choose the engine, plan, execute, hold stages to what is expected of them, commit, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gpuetl import messages
from gpuetl.choices import skipping
from gpuetl.engines import starting
from gpuetl.engines.capacity import Capacity
from gpuetl.engines.interface import Backend
from gpuetl.engines.measured_limits import load_limits
from gpuetl.engines.registry import Choice, capabilities_of, is_clustered, load_driver_backend
from gpuetl.errors import ContractBroken, GpuetlError, InvalidPipeline, Problem, have_hint, system_reason
from gpuetl.executors.checkpointing import Checkpointing
from gpuetl.executors.committing import recovered
from gpuetl.executors.execution import Execution, accept_all, no_state, on_workers
from gpuetl.executors.handover import Handover
from gpuetl.executors.outputs import Outputs
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.physical.explain_physical import chunk_lines, cut_lines, limit_warning
from gpuetl.physical.fit import FittedPlan
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.places.publishing import RunIdentity
from gpuetl.places.watching import watching
from gpuetl.plan.incremental import Reader
from gpuetl.plan.nodes import Project
from gpuetl.plan.nodes.project import passing
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.report.checks import CheckReport, check_reports, failure, problem_of, with_sample
from gpuetl.report.failure import failure_of
from gpuetl.report.run_report import RunReport
from gpuetl.report.writing import written_report
from gpuetl.run.account import Account, report_failure, shown_parameters
from gpuetl.run.checkpoints import Checkpoints, remove_oldest, with_checkpoints
from gpuetl.run.column_statistics import column_statistics, with_column_statistics
from gpuetl.run.incremental.source_run import SourceRun
from gpuetl.run.kept_results import keep_results, run_label
from gpuetl.run.left_behind import what_is_left
from gpuetl.run.observability import observers_of
from gpuetl.run.planning import check_sinks, lowered_again, planned, unread_data_warnings
from gpuetl.run.results import Result
from gpuetl.run.run_record import RunRecord, new_run_id, record_failure
from gpuetl.run.run_state import RunState
from gpuetl.run.selection import Names, Selection, with_rules_of
from gpuetl.run.upsert import MergeRun, Upserts, merge_and_commit
from gpuetl.run.window_run import WindowRun, going_on
from gpuetl.signals import left_behind, noted
from gpuetl.telemetry.memory_meter import MemoryUse, resident_set
from gpuetl.telemetry.memory_samples import MemorySampler
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Progress, Recorder, recording, silent
from gpuetl.telemetry.trace import Trace, timed, tracing
from gpuetl.units import size
from gpuetl.user_kernels.kernel_options import kernel_options

if TYPE_CHECKING:
    from gpuetl.spec.definition import PipelineDefinition
    from gpuetl.spec.model import PipelineSpec


# A run held to what is expected of its stages: whether sinks may change, and the rows for which they may not.


def accepted(plan: Plan, windows: WindowRun, recorder: Recorder, counts: Mapping[str, pa.Table]) -> bool:
    """Return whether no rule of the plan has failed; raise `RunFailed` for a row that comes too late for a window."""
    windows.check_late_rows(counts, recorder)
    return all(report.verdict != "failed" for report in check_reports(plan.rules, counts))


def with_samples(plan: Plan, outputs: Outputs, execution: Execution, capacity: Capacity) -> tuple[CheckReport, ...]:
    """Return the reports of rules, those of rules that failed with the first rows that break them.

    These rows are computed again, alone: a run whose rules hold does nothing for them.  Where they cannot be had any
    more, the reports stay as they are.
    """
    checks = check_reports(plan.rules, outputs.checks)
    shown = {
        str(place): rule.shown
        for place, (rule, check) in enumerate(zip(plan.rules, checks, strict=True))
        if check.verdict == "failed" and rule.shown is not None
    }
    if not shown:
        return checks
    plan = replace(plan, sinks={}, kept=shown, checks={}, rules=(), checkpoints={}, streams=0)
    execution = replace(
        execution, seconds={}, accepts=accept_all, stage_state=no_state, checkpointing=None, deferred=None, stream=None
    )
    try:
        with recording(execution.recorder):  # its remarks are of steps that the user has not written
            fit = planned(plan, execution.options, execution.engine, capacity).fit
            again = partial(lowered_again, plan, execution.options, execution.engine)
            _, found = execution.run_to_fit(fit.plan, again)
    except GpuetlError:
        return checks
    with recording(execution.recorder):
        tables = {name: execution.backend.to_arrow(frame) for name, frame in found.kept.items()}
    return tuple(
        with_sample(check, tables[str(place)]) if str(place) in tables else check for place, check in enumerate(checks)
    )


# One run: choose the engine, plan, optimize, lower, execute, commit, report.


UNMEASURED = "run `gpuetl bench device` once, and reports compare stages with the limits of this machine"


@dataclass(frozen=True)
class Run:
    """What a run gave: the kept stages by name, and the report."""

    report: RunReport
    results: Mapping[str, Result]

    def __repr__(self) -> str:
        return f"<Run {self.report.summary}; kept: {', '.join(self.results) or 'nothing'}>"

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import run_page
        from gpuetl.report.run_graph import run_graph

        return run_page(self.report, run_graph(self.report), self.results)

    def __getitem__(self, name: str) -> Result:
        """Return a kept stage; raise `InvalidPipeline` for one that was not kept."""
        if name not in self.results:
            hint = have_hint(name, self.results, f"Keep others with run(keep=['{name}']).", "It kept")
            raise InvalidPipeline.because(coded("GE3008", f"the run did not keep '{name}'"), hint)
        return self.results[name]


class StageOutput(NamedTuple):
    """Where partitions of the kept stages go, of some of their columns, in place of being kept."""

    handover: Handover[Any]
    columns: tuple[str, ...]

    def of(self, plan: Plan, spec: PipelineSpec) -> Plan:
        """Return a plan that computes these columns, partition by partition, and the rules above."""
        plan = with_rules_of(plan, Names(spec).above(plan.kept))
        kept = {
            name: Project(source=node, columns=passing(node.schema.select(self.columns)), origin=node.origin)
            for name, node in plan.kept.items()
        }
        return replace(plan, kept=kept, streams=self.handover.in_flight)


class RunRequest(NamedTuple):
    """The stages and sources that a run keeps (None: the last stages), and whether it writes sinks.

    `unused` turns on warnings about parts that nothing uses.  In a notebook they would be noise: you declare sources
    before you use them, and look at stages that no sink reads.  `fills_cache` keeps the results for tables.
    `has_manifest` leaves a manifest in the pipeline's state folder.  `has_alerts` tells those whom the pipeline names.
    `observed` is for runs that operations watch: not those of tests, nor of a table's first rows.
    `part` restricts the run to a part of the pipeline, and `resume` has it read checkpoints.
    `streamed` gets the rows of the kept stages, partition by partition.
    """

    keep: Iterable[str] | None = None
    write: bool = True
    unused: bool = False
    fills_cache: bool = False
    observed: bool = False
    part: Selection = Selection()
    resume: bool = False
    has_manifest: bool = False
    has_alerts: bool = False
    streamed: StageOutput | None = None

    def record(self, pipeline: PipelineDefinition, params: Mapping[str, Any], run_id: str) -> RunRecord:
        """Return what the run leaves in the pipeline's state folder, and whom it tells how it ended."""
        if not (self.has_manifest or self.has_alerts):
            return RunRecord(run_id)
        return RunRecord.of(pipeline, params, run_id, self.has_manifest)

    def warnings(self, plan: Plan) -> tuple[Problem, ...]:
        """List the warnings of a plan for its run."""
        return (*plan.warnings, *(plan.unused if self.unused else ()))

    def keep_rows(self, plan: Plan, label: str, results: Mapping[str, Result], warnings: tuple[str, ...]) -> None:
        """Keep the results of the plan that ran, if they are asked for."""
        if self.fills_cache:
            keep_results(plan, label, results, warnings)

    def of(self, plan: Plan, spec: PipelineSpec | None = None) -> Plan:
        """Restrict a plan to this request; without sinks and stages, it keeps the sources."""
        if self.part.is_partial:
            assert spec is not None
            return self.part.of(plan, spec, self.keep, self.write)
        if self.write:
            return plan.keeping(plan.last_stages() if self.keep is None else self.keep)
        results = plan.last_stages() or tuple(plan.sources)
        plan = replace(plan, sinks={}).keeping(results if self.keep is None else self.keep)
        if self.streamed is None:
            return plan
        assert spec is not None
        return self.streamed.of(plan, spec)


def run_pipeline(
    pipeline: PipelineDefinition,
    params: Mapping[str, Any],
    choice: Choice,
    request: RunRequest,
    options: RunOptions | None,
    progress: Progress | None,
) -> Run:
    """Run a pipeline on the chosen engine: see `Pipeline.run`.  A signal reports what became of the sinks.

    The report is written where the options say, whatever ends the run.
    """
    options = options or RunOptions()
    recorder = Recorder(progress or silent)
    lost: list[str] = []

    def unwritten(error: OSError) -> None:
        what = coded("GE3011", f"cannot write the trace to {options.trace}: {system_reason(error)}")
        lost.append(messages.with_code(what, what))

    shown = progress and watching(lambda what, path, done, of: progress(Origin(what, path), done, of))
    looking = shown or nullcontext()  # who runs without progress may watch
    tracer = tracing(Path(options.trace) if options.trace else None, unwritten)
    run_id = new_run_id()
    account = Account(pipeline, choice, options, recorder, run_id, shown_parameters(pipeline, params))
    account.writes = request.write and not request.part.is_partial
    account.has_manifest = request.has_manifest or request.has_alerts
    record = request.record(pipeline, params, run_id)
    if request.observed:
        account.observers = observers_of(account)
        recorder.progress = account.observers.watched(account, recorder.progress)
    with noted(recorder.outcome), left_behind(partial(what_is_left, account)):
        try:
            record.begin(str(pipeline.spec.name), choice.name, account.timeline.start_unix)
            account.observers.started(account)
            with tracer as trace, looking, recorder.timeline.active():
                done = traced_run(params, request, account, trace, record)
        except BaseException as error:
            report_failure(account, error)
            record_failure(record, error, options.report)
            raise
        report = replace(done.report, warnings=(*done.report.warnings, *lost))
        report = written_report(account.observers.ended(account, report), options.report)
        return replace(done, report=record.end(report, report.path or None))


def chosen_sources(params: Mapping[str, Any], request: RunRequest, account: Account, record: RunRecord) -> SourceRun:
    """Plan a run, and choose what it reads of incremental sources."""
    options, recorder = account.options, account.recorder
    with timed(account.seconds, "plan"):
        plan = plan_of(params, request, account)
        record.check()
        account.bind(plan)
        with plan.pointing():
            reader = Reader(account.pipeline.root, account.run_id, options.full_refresh)
            sources = SourceRun.begin(plan, reader, recorder)
    note_plan(recorder, request, plan)
    return sources


def traced_run(
    params: Mapping[str, Any], request: RunRequest, account: Account, trace: Trace | None, record: RunRecord
) -> Run:
    """Run a pipeline after its trace, if any, has started."""
    choice, options, recorder = account.choice, account.options, account.recorder
    run_id, seconds = account.run_id, account.seconds
    options.cluster.check_engine(choice.name)
    sources = chosen_sources(params, request, account, record)
    account.plan = plan = sources.plan
    if sources.has_nothing_new:
        return nothing_new(account, sources)
    with timed(seconds, "load"):
        backend = load_driver_backend(choice.name)
    cluster = on_workers(choice.name, backend, options, seconds, recorder.progress)
    with plan.pointing(), cluster as (placed, capacity):
        with timed(seconds, "optimize"):
            asking = Execution(choice.name, backend, placed, recorder, run_id, seconds, capacity.addresses)
            account.plan = plan = sources.completed(asking, capacity)
            if sources.has_nothing_new:
                return nothing_new(account, sources)
            plan, windows = going_on(plan, recorder, options.full_refresh)
            plan, account.checkpointing = checkpointed(plan, account, request)
            upserts = Upserts.prepared(plan, recorder, run_id)
            plan = upserts.first_plan
            fit, account.passes, account.fingerprint = planned(plan, placed, choice.name, capacity)
            account.fit, account.physical = fit, fit.plan
            check_sinks(upserts.plan)
            for unread in unread_data_warnings(plan):
                recorder.warn(unread)
            running = backend.traced(trace, placed.profile) if trace else backend
        account.observers.planned(account)
        add_memory_notes(recorder, fit, options)
        identity = RunIdentity(run_id, plan.name, options.sync)
        state = RunState(plan, identity, dict(sources.entries), begins_anew=options.full_refresh)
        windows.left_in(state, recorder)
        running_options, workers = replace(placed, resident_bytes=fit.resident_bytes), capacity.addresses
        execution = Execution(
            choice.name,
            running,
            running_options,
            recorder,
            run_id,
            seconds,
            workers,
            partial(accepted, plan, windows, recorder),
            plan.name,
            state.stage,
            account.checkpointing,
            upserts.deferred(),
            request.streamed.handover if request.streamed else None,
        )
        with (
            execution.deferred or nullcontext(),
            measured(backend, account, clustered=is_clustered(choice.name)),
            recording(recorder),
            skipping(options.skipped_choices),
            kernel_options(options.kernels),
        ):
            physical, outputs = executed(account, fit, upserts, MergeRun(execution, placed, capacity))
            checks = with_samples(plan, outputs, replace(execution, options=placed, recorder=Recorder()), capacity)
    account.physical = physical
    add_notes(account, checks)
    report = replace(
        account.report(finished=True), sinks=outputs.sinks, checks=checks, head=outputs.heads,
        columns=column_statistics(plan, outputs.checks), incremental=sources.selections,
    )  # fmt: skip
    if report.broken:
        raise broken_contract(report, recorder.outcome())
    state.clean()
    removed = remove_oldest(account.checkpointing, options.checkpoint_limit)
    report = replace(report, notes=(*report.notes, *removed))
    results = {name: Result(frame, backend, outputs.tables.get(name)) for name, frame in outputs.kept.items()}
    request.keep_rows(plan, run_label(choice.name, options), results, report.warnings)
    return Run(report, results)


def broken_contract(report: RunReport, outcome: str) -> ContractBroken:
    """Return the error of a run whose rules failed, with its report."""
    error = ContractBroken(failure(report.checks))
    stage, problems = stage_of_rules(report.broken), tuple(map(problem_of, report.broken))
    ended = replace(failure_of(error, outcome), relation="stage" if stage else "", name=stage, problems=problems)
    error.report = replace(report, error=str(error), failure=ended, exit_code=error.exit_code)
    return error


def executed(account: Account, fit: FittedPlan, upserts: Upserts, run: MergeRun) -> tuple[PhysicalPlan, Outputs]:
    """Execute the plan of a run, and what follows for upserts; return the plan that fitted memory, and the outputs."""
    run.execution.compile_ahead(fit.plan, account.fingerprint)
    again = partial(account.lowered_again, upserts.first_plan, account.options)
    physical, outputs = run.execution.run_to_fit(fit.plan, again, fit.partitions_ahead)
    if upserts.writes:
        account.fingerprint = upserts.plan.fingerprint
    return physical, merge_and_commit(upserts, outputs, run)


def nothing_new(account: Account, sources: SourceRun) -> Run:
    """End a run whose incremental sources have nothing new: no sink changes, and the state stays."""
    account.fingerprint = sources.plan.fingerprint
    report = replace(account.report(finished=True), incremental=sources.selections, nothing_new=True)
    return Run(report, {})


def plan_of(params: Mapping[str, Any], request: RunRequest, account: Account) -> Plan:
    """Return the plan of a run, after dead runs are recovered, with statistics if they are asked for."""
    pipeline, recorder, run_id = account.pipeline, account.recorder, account.run_id
    bound = partial(pipeline.plan, params, run_id=run_id, begins_anew=account.options.full_refresh)
    plan = request.of(bound(), pipeline.spec)
    with plan.pointing():
        has_changed = recovered(plan, recorder)
    if has_changed:  # so may have the files of its sources
        plan = request.of(bound(), pipeline.spec)
    return with_column_statistics(plan, recorder) if account.options.column_stats else plan


def checkpointed(plan: Plan, account: Account, request: RunRequest) -> tuple[Plan, Checkpointing | None]:
    """Return the plan with checkpoints that it reads and writes; trial runs on the first rows have none."""
    spec = account.pipeline.spec
    if plan.state is None or request.part.limit is not None:
        return plan, None
    if not request.resume and not (request.write and any(stage.checkpoint for stage in spec.stages.values())):
        return plan, None
    checkpoints = Checkpoints(plan, spec, plan.state, account.recorder, account.run_id, account.choice.name)
    return with_checkpoints(checkpoints, request.resume, request.write)


def note_plan(recorder: Recorder, request: RunRequest, plan: Plan) -> None:
    """Record the warnings and notes of a plan."""
    for warning in request.warnings(plan):
        recorder.warn(str(warning))
    for note in plan.notes:
        recorder.note(note)


def stage_of_rules(broken: Sequence[CheckReport]) -> str:
    """Return the stage of the rules that failed; nothing where they are of several."""
    stages = {check.stage for check in broken}
    return stages.pop() if len(stages) == 1 else ""


def add_memory_notes(recorder: Recorder, fit: FittedPlan, options: RunOptions) -> None:
    """Say which sources are cut because of memory; warn where a limit that the user gave is too small."""
    warning = "" if options.memory_bytes is None else limit_warning(fit, options.memory_bytes)
    for line in cut_lines(fit) if warning else chunk_lines(fit):
        recorder.note(line)
    if warning:
        recorder.warn(warning)


@contextmanager
def measured(backend: Backend, account: Account, clustered: bool) -> Iterator[None]:
    """Limit the engine's memory and measure it, as the options say; sample it over time where frames are here."""
    options, recorder = account.options, account.recorder
    if options.memory_bytes or options.profile:
        starting.wait(starting.Phase.WARM_UP)  # whose memory is none of the run's
    limit = backend.limited(options.memory_bytes) if options.memory_bytes else nullcontext()
    if not clustered:
        use = host_growth() if backend.device == "CPU" else backend.memory_use
        account.sampler = MemorySampler(use, account.timeline.start_s)
    with limit, backend.memory_meter() if options.profile else nullcontext() as meter:
        recorder.meter = meter
        with account.sampler or nullcontext():
            yield
        recorder.peaks = recorder.peaks or (dict(meter.peaks()) if meter else {})


def host_growth() -> Callable[[], MemoryUse]:
    """Return what tells by how many bytes the process has grown from now on: libraries are none of the run's."""
    before = resident_set()
    return lambda: MemoryUse(max(0, resident_set() - before), 0)


def add_notes(account: Account, checks: Iterable[CheckReport]) -> None:
    """Leave what the user should know of the run as a whole, and of rules that it did not keep."""
    recorder, options = account.recorder, account.options
    for check in checks:
        if check.verdict == "warned":
            recorder.warn(coded("GE1601", str(check)))
    for remark in account.funnel(finished=True).grown_joins():
        recorder.note(remark)
    recorder.note_compilation(account.seconds)
    if options.profile and load_limits(capabilities_of(account.choice.name).device) is None:
        recorder.note(UNMEASURED)
    if recorder.spilled:
        recorder.note(spill_note(recorder))


def spill_note(recorder: Recorder) -> str:
    """Say how much was spilled."""
    links = ", ".join(f"{size(count)} {link}" for link, count in recorder.spilled.items())
    return f"frames that waited were spilled to leave room: {links}"

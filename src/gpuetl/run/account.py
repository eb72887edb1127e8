"""The record of a run from its start, from which its report is made at any time, whatever ends the run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, fields, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from gpuetl.engines.measured_limits import load_limits
from gpuetl.engines.registry import Choice, capabilities_of
from gpuetl.errors import GpuetlError
from gpuetl.executors.checkpointing import Checkpointing
from gpuetl.exit_codes import exit_code_of
from gpuetl.expressions.unparse import constant_text
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import redacted, without_secrets_in
from gpuetl.options import RunOptions
from gpuetl.physical.fit import FittedPlan
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.report.environment import environment
from gpuetl.report.failure import failure_of
from gpuetl.report.funnel import Funnel, PipelineStage, PipelineStep
from gpuetl.report.inputs import input_reports
from gpuetl.report.run_report import (
    Declared,
    LatePipelineText,
    PipelineText,
    RunReport,
    StageReport,
    device_label,
    stage_reports,
)
from gpuetl.report.workers import worker_reports
from gpuetl.report.writing import written_report
from gpuetl.run.column_statistics import KIND as STATISTICS
from gpuetl.run.observers import Observers
from gpuetl.run.planning import lowered_again
from gpuetl.spec.document import Node, plain_data
from gpuetl.spec.model import PipelineSpec
from gpuetl.state.checkpoint_files import KIND
from gpuetl.telemetry.memory_samples import MemorySampler
from gpuetl.telemetry.recorder import Recorder
from gpuetl.telemetry.timeline import Timeline
from gpuetl.uncaught import unexpected

if TYPE_CHECKING:
    from gpuetl.spec.definition import PipelineDefinition


@dataclass
class Account:
    """The record of a run from its start, from which a report can be made at any time.

    `seconds` are those of each phase, and `recorder` has the work of operations.  What is None is not known yet.
    `observers` look at the run.
    """

    pipeline: PipelineDefinition
    choice: Choice
    options: RunOptions
    recorder: Recorder
    run_id: str
    params: Mapping[str, str] = field(default_factory=dict)
    writes: bool = True
    has_manifest: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    plan: Plan | None = None
    physical: PhysicalPlan | None = None
    fit: FittedPlan | None = None
    fingerprint: str = ""
    passes: Mapping[str, float] = field(default_factory=dict)
    sampler: MemorySampler | None = None
    checkpointing: Checkpointing | None = None
    observers: Observers = field(default_factory=Observers)

    @property
    def timeline(self) -> Timeline:
        """When what was at work."""
        return self.recorder.timeline

    def bind(self, plan: Plan) -> None:
        """Keep the logical plan, and show it to observers."""
        self.plan = plan
        self.observers.bound(self)

    def report(self, finished: bool) -> RunReport:
        """Return the report of what was done until now, without outputs."""
        recorder, capabilities = self.recorder, capabilities_of(self.choice.name)
        curve = self.sampler.curve(capabilities.device) if self.sampler else None
        of_workers = tuple(sorted(recorder.memory_curves.values(), key=lambda one: one.where))
        curves = of_workers or ((curve,) if curve else ())
        return RunReport(
            pipeline=str(self.pipeline.spec.name), run_id=self.run_id, engine=self.choice.name,
            reason=self.choice.reason, device=device_label(recorder.work.values()), fingerprint=self.fingerprint,
            stages=self.stages(finished), sinks=(), seconds=self.seconds, passes=self.passes,
            notes=recorder.shown_notes, warnings=recorder.shown_warnings, memory=recorder.peaks,
            spilled=dict(recorder.spilled), expected_memory=self.fit.expected_memory if self.fit else 0,
            memory_budget=self.fit.budget if self.fit else 0,
            started=self.timeline.start_unix, duration_s=self.timeline.now(), params=self.shown_parameters(),
            environment=environment(capabilities.device), declared=declared(self.pipeline),
            timeline=self.timeline.report(), memory_curves=curves, workers=worker_reports(recorder.workers.values()),
            trace=redacted(str(self.options.trace)) if self.options.trace else "",
            pipeline_text=pipeline_text(self.pipeline.spec, self.has_manifest), profile=self.pipeline.spec.profile_name,
            options=shown_options(self.options), writes=self.writes,
            inputs=input_reports(self.plan) if self.plan else (),
            checkpoints=tuple(self.checkpointing.reports.values()) if self.checkpointing else (),
        )  # fmt: skip

    def shown_parameters(self) -> dict[str, str]:
        """Return the values of parameters, without secrets that paths and stores are made of."""
        return {name: redacted(value) for name, value in self.params.items()}

    def funnel(self, finished: bool) -> Funnel:
        """Return the rows of all steps."""
        roots = self.physical.roots if self.physical else ()
        return Funnel(roots, self.recorder.work, pipeline_stages(self.pipeline), finished)

    def stages(self, finished: bool) -> tuple[StageReport, ...]:
        """Return what sources, stages and sinks did."""
        if self.plan is None or self.physical is None:
            return ()
        limits = load_limits(capabilities_of(self.choice.name).device)
        return stage_reports(self.recorder, names_in_order(self.plan), self.funnel(finished), limits)

    def lowered_again(self, plan: Plan, options: RunOptions, rows: int) -> PhysicalPlan:
        """Return a plan with smaller partitions, and keep it as the one that runs."""
        self.physical = lowered_again(plan, options, self.choice.name, rows)
        return self.physical


def report_failure(account: Account, error: BaseException) -> None:
    """Give an error the report of its run, show it to observers, and write it where the options say.

    Nothing that goes wrong here hides the error: it is a note of it.
    """
    try:
        report = getattr(error, "report", None) or failed_report(account, error)
        report = account.observers.ended(account, report, error)
        report = written_report(report, account.options.report)
    except Exception as bug:
        error.add_note("cannot make the report: " + "\n".join(unexpected(bug)))
        return
    error.report, error.observer_warnings = report, account.observers.shown  # type: ignore[attr-defined]


def failed_report(account: Account, error: BaseException) -> RunReport:
    """Return the report of a run that ended with an error: the message, and what was done until then."""
    failure, code = failure_of(error, account.recorder.outcome()), exit_code_of(error)
    try:
        report = account.report(finished=False)
    except Exception:  # of a plan whose operations have done some of their work, numbers may be missing
        account.physical = None
        report = account.report(finished=False)
    return replace(report, error=failure.text, failure=failure, exit_code=code)


def shown_parameters(pipeline: PipelineDefinition, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of parameters as text: those that were given, and defaults.

    Some are secrets, which is known when the pipeline is bound: `Account.report` hides them.
    """
    values = {name: spec.default for name, spec in pipeline.spec.parameters.items()} | dict(given)
    return {name: parameter_text(value) for name, value in values.items()}


def parameter_text(value: Any) -> str:
    """Return the value of a parameter as it is written: `null`, `8 hours`."""
    if isinstance(value, Node):  # of a file with values
        value = plain_data(value)
    if isinstance(value, Mapping | tuple | list):
        return json.dumps(value, default=str)
    if isinstance(value, timedelta):
        return constant_text(value).removeprefix("INTERVAL ").strip("'")
    return "null" if value is None else str(value)


def shown_options(options: RunOptions) -> dict[str, str]:
    """Return the options of a run that are not at their defaults; those of a cluster have a field each."""
    changed = {
        one.name: getattr(options, one.name)
        for one in fields(options)
        if one.name not in ("report", "trace", "cluster") and getattr(options, one.name) != one.default
    }
    cluster = {
        f"cluster.{one.name}": getattr(options.cluster, one.name)
        for one in fields(options.cluster)
        if getattr(options.cluster, one.name) != one.default
    }
    return {name: redacted(str(value)) for name, value in (changed | cluster).items()}


def pipeline_text(spec: PipelineSpec, writes: bool) -> tuple[PipelineText, ...]:
    """Return the text of a pipeline, without secrets.

    One that was built in Python is written as YAML where `writes` is true and that can be done.
    """
    if spec.files or not writes:
        return tuple(PipelineText(redacted(one.name), without_secrets_in(one.text)) for one in spec.files)
    from gpuetl.spec.write import pipeline_data

    try:
        data = pipeline_data(spec)
    except GpuetlError:  # it has rows in memory, or a secret
        return ()
    return (LatePipelineText("", partial(yaml_without_secrets, data)),)


def yaml_without_secrets(data: Mapping[str, Any]) -> str:
    """Return the text of a pipeline that was built in Python."""
    from gpuetl.spec.write import yaml_text

    return without_secrets_in(yaml_text(data))


def declared(pipeline: PipelineDefinition) -> tuple[Declared, ...]:
    """Return the sources, stages and sinks as the user wrote them."""
    spec = pipeline.spec
    sources = (Declared("source", name, caption=getattr(one, "format", "frame")) for name, one in spec.sources.items())
    stages = (
        Declared(
            "stage",
            name,
            (
                (str(one.from_), "from"),
                *((str(read), step.verb) for step in one.steps if step for read in step.reads),
            ),
        )
        for name, one in spec.stages.items()
    )
    sinks = (
        Declared("sink", name, ((str(one.from_), "from"),), f"{one.format}, {one.mode}")
        for name, one in spec.sinks.items()
    )
    return (*sources, *stages, *sinks)


def pipeline_stages(pipeline: PipelineDefinition) -> dict[str, PipelineStage]:
    """Return the stages as the user wrote them."""
    return {
        name: PipelineStage(stage.from_, tuple(PipelineStep(step.verb, step.reads) for step in stage.steps if step))
        for name, stage in pipeline.spec.stages.items()
    }


def names_in_order(plan: Plan) -> list[tuple[str, str]]:
    """Return sources, stages and sinks in the order of the pipeline."""
    return [
        *(("source", n) for n in plan.sources),
        *(("source", n) for n in plan.rejected if without_rejected(n) in plan.sources),
        *(("stage", n) for n in plan.stages),
        *(("stage", n) for n in plan.rejected if without_rejected(n) in plan.stages),
        *(("expect", n) for n in dict.fromkeys(rule.stage for rule in plan.rules)),
        *((KIND, n) for n in (*plan.stages, *plan.rejected)),
        *((STATISTICS, n) for n in plan.sinks),
        *(("sink", n) for n in plan.sinks),
    ]

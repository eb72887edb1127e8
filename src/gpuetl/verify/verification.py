"""Runs a pipeline on an engine and on the oracle, and compares stage by stage."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gpuetl.choices import skipping
from gpuetl.engines.registry import ORACLE, choose_engine, load_driver_backend
from gpuetl.errors import Problem, RunFailed
from gpuetl.executors.execution import Execution, on_workers
from gpuetl.options import RunOptions
from gpuetl.plan.plan import Plan, promised_order
from gpuetl.records import dataclass
from gpuetl.report.funnel import Funnel
from gpuetl.report.run_report import device_label, stage_reports
from gpuetl.run.account import names_in_order
from gpuetl.run.planning import lowered, lowered_again
from gpuetl.telemetry.recorder import Progress, Recorder, recording, silent
from gpuetl.user_kernels.kernel_options import kernel_options
from gpuetl.verify.bounds import SumBounds, sum_bounds
from gpuetl.verify.compare import Contract, Difference, compare_tables
from gpuetl.verify.keys import stage_keys
from gpuetl.verify.sample import sampled

if TYPE_CHECKING:
    from gpuetl.spec.definition import PipelineDefinition


# What a verification found.


@dataclass(frozen=True)
class StageVerdict:
    """One stage: its rows on the engine and on the oracle, the seconds of each, and how they differ.

    `plan` says which run differs: the one that keeps every stage, or the one that computes the results alone, in which
    the optimizer may go across stages.
    """

    name: str
    rows: int
    expected_rows: int
    columns: int
    seconds: float
    expected_seconds: float
    keys: tuple[str, ...]
    order: tuple[str, ...]
    difference: Difference | None = None
    plan: str = "stage by stage"

    @property
    def same(self) -> bool:
        """Whether the engine gave the oracle's rows."""
        return self.difference is None

    @property
    def verdict(self) -> str:
        """In some words, whether the rows are the same, or how they differ."""
        return "same" if self.difference is None else str(self.difference)


@dataclass(frozen=True, repr=False)
class VerifyReport:
    """A pipeline on an engine against the oracle.

    `device` says where the engine's operations ran, as in the report of a run; `sample` what was taken of each source,
    and which groups are not whole by it; `notes` are the remarks of both runs.
    """

    pipeline: str
    engine: str
    reason: str
    device: str
    oracle: str
    stages: tuple[StageVerdict, ...]
    sample: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether every stage has the oracle's rows."""
        return all(stage.same for stage in self.stages)

    @property
    def summary(self) -> str:
        """One line: whether the stages have the same rows on both engines."""
        wrong, count = sum(not stage.same for stage in self.stages), len(self.stages)
        same = f"all {count} stages have the oracle's rows" if count != 1 else "its stage has the oracle's rows"
        verdict = f"{wrong} of {count} stages differ" if wrong else same
        return f"{self.pipeline} on {self.engine} ({self.device}) against {self.oracle}: {verdict}"

    def __repr__(self) -> str:
        return f"<VerifyReport {self.summary}>"

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import verdict_page

        heads = ("stage", "rows", "verdict", "seconds", f"seconds of {self.oracle}")
        lines = [
            (stage.name, f"{stage.rows:,}", stage.verdict, f"{stage.seconds:.3f}", f"{stage.expected_seconds:.3f}")
            for stage in self.stages
        ]
        return verdict_page(self.summary, heads, lines, (*self.sample, *self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"same": self.same, **asdict(self), "stages": [{"same": s.same, **asdict(s)} for s in self.stages]}

    def to_json(self) -> str:
        """Return the report as JSON, in which floats that it has not, NaN and infinities, are texts."""
        return json.dumps(_finite(self.to_dict()), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


AS_WRITTEN = RunOptions(partition_rows=1 << 62, optimize=False)


@dataclass(frozen=True)
class Answers:
    """The rows of the stages that a run kept, the seconds of each stage's own work, and the remarks of operations."""

    rows: Mapping[str, pa.Table]
    seconds: Mapping[str, float]
    notes: tuple[str, ...]
    device: str


def verify_pipeline(
    pipeline: PipelineDefinition,
    params: Mapping[str, Any],
    engine: str,
    stages: Iterable[str] | None,
    sample: int | None,
    options: RunOptions | None,
    progress: Progress | None,
) -> VerifyReport:
    """Verify a pipeline: see `Pipeline.verify`."""
    choice, options = choose_engine(engine), options or RunOptions()
    options.cluster.check_engine(choice.name)
    plan = replace(pipeline.plan(params), sinks={}, checks={}, rules=())
    plan = plan.keeping(({**plan.stages, **plan.rejected} or plan.sources) if stages is None else stages)
    last = [name for name in plan.kept if name in plan.last_stages()]
    sample_notes: tuple[str, ...] = ()
    if sample is not None:
        plan, sample_notes = sampled(plan, sample)
    bounds = {name: found for name, node in plan.kept.items() if (found := sum_bounds(node))}
    oracle = answers(with_bounds(plan, bounds), ORACLE, AS_WRITTEN, progress)
    got = answers(plan, choice.name, options, progress)
    verdicts = {name: verdict(name, plan, got, oracle, bounds.get(name)) for name in plan.kept}
    if len(last) < len(plan.kept):  # what a run computes, in which no inner stage is kept
        whole = answers(only(plan, last), choice.name, options, progress)
        for name in (name for name in last if verdicts[name].same):
            again = verdict(name, plan, whole, oracle, bounds.get(name))
            verdicts[name] = verdicts[name] if again.same else replace(again, plan="results alone")
    notes = tuple(dict.fromkeys((*oracle.notes, *got.notes)))
    return VerifyReport(
        plan.name, choice.name, choice.reason, got.device, ORACLE, tuple(verdicts.values()), sample_notes, notes
    )


def only(plan: Plan, names: Iterable[str]) -> Plan:
    """Return the plan that keeps these of the stages that it keeps."""
    return replace(plan, kept={name: plan.kept[name] for name in names})


def with_bounds(plan: Plan, bounds: Mapping[str, SumBounds]) -> Plan:
    """Return the oracle's plan, which also computes what sums of floats may differ by."""
    return replace(plan, kept={**plan.kept, **{f":bounds:{name}": found.node for name, found in bounds.items()}})


def answers(plan: Plan, engine: str, options: RunOptions, progress: Progress | None) -> Answers:
    """Run a plan that keeps stages.

    Raises
    ------
    RunFailed
        With the engine on which it did.
    """
    recorder, run_id = Recorder(progress or silent), f"verify-{uuid.uuid4().hex[:8]}"
    try:
        with plan.pointing():
            physical, _ = lowered(plan, options, engine)
            backend = load_driver_backend(engine)
            placed = on_workers(engine, backend, replace(options, head_rows=0), {}, recorder.progress)
            kernels = kernel_options(options.kernels)
            with recording(recorder), skipping(options.skipped_choices), kernels, placed as (running, capacity):
                execution = Execution(engine, backend, running, recorder, run_id, {}, capacity.addresses)
                physical, outputs = execution.run_to_fit(physical, partial(lowered_again, plan, options, engine))
            rows = {name: backend.to_arrow(frame) for name, frame in outputs.kept.items()}
    except RunFailed as error:
        found = error.problem or Problem(str(error))
        within = ": ".join(filter(None, (f"on {engine}", found.within)))
        raise RunFailed().with_problem(replace(found, within=within)) from error
    reports = stage_reports(recorder, names_in_order(plan), Funnel(physical.roots, recorder.work, {}))
    return Answers(rows, {report.name: report.seconds for report in reports}, tuple(recorder.notes),
                   device_label(recorder.work.values()))  # fmt: skip


def verdict(name: str, plan: Plan, got: Answers, oracle: Answers, bounds: SumBounds | None) -> StageVerdict:
    """Compare one stage's rows."""
    node, rows, expected = plan.kept[name], got.rows[name], oracle.rows[name]
    keys, order = stage_keys(node), promised_order(node)
    allowed = bounds.of(expected, oracle.rows[f":bounds:{name}"]) if bounds else {}
    difference: Difference | None = compare_tables(rows, expected, Contract(keys, order, allowed))
    return StageVerdict(
        name, rows.num_rows, expected.num_rows, expected.num_columns, got.seconds.get(name, 0.0),
        oracle.seconds.get(name, 0.0), keys, order, difference,
    )  # fmt: skip

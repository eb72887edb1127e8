"""One run: choose the engine, plan, optimize, lower, execute, commit, report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl.backends.backend import Backend
from gpuetl.backends.cudf.choices import skipping
from gpuetl.backends.engines import choose_engine, load_backend
from gpuetl.backends.fallback import FallbackBackend, check_refusals
from gpuetl.ceilings.cache import load_ceilings
from gpuetl.errors import InvalidPipeline, RunFailed, have_hint
from gpuetl.executors.outputs import execute
from gpuetl.io.dataset import DatasetError
from gpuetl.optimize import optimize
from gpuetl.options import RunOptions
from gpuetl.physical.lower import Layout, PhysicalPlan, lower
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Read
from gpuetl.plan.plan import Plan
from gpuetl.report.recorder import Progress, Recorder, recording, silent
from gpuetl.report.report import RunReport, device_label, stage_reports
from gpuetl.report.trace import Trace, timed, tracing
from gpuetl.results import Result
from gpuetl.signals import noted

if TYPE_CHECKING:
    from gpuetl.pipeline import Pipeline

UNMEASURED = "how near stages came to what the hardware allows is not known: `gpuetl bench device` measures that, once"


@dataclass(frozen=True)
class Run:
    """What a run gave: the kept stages by name, and the report."""

    report: RunReport
    results: Mapping[str, Result] = field(repr=False)

    def __getitem__(self, name: str) -> Result:
        """Return a kept stage; raise `InvalidPipeline` for one that was not kept."""
        if name not in self.results:
            hint = f"{have_hint(name, self.results)}  Keep others with run(keep=['{name}'])."
            raise InvalidPipeline.because(f"the run did not keep '{name}'", hint)
        return self.results[name]


def run_pipeline(
    pipeline: Pipeline,
    params: Mapping[str, Any],
    engine: str,
    keep: Iterable[str] | None,
    options: RunOptions | None,
    progress: Progress | None,
) -> Run:
    """Run a pipeline: see `Pipeline.run`."""
    options = options or RunOptions()
    with tracing(Path(options.trace) if options.trace else None) as trace:
        return traced_run(pipeline, params, engine, keep, options, progress, trace)


def traced_run(
    pipeline: Pipeline,
    params: Mapping[str, Any],
    engine: str,
    keep: Iterable[str] | None,
    options: RunOptions,
    progress: Progress | None,
    trace: Trace | None,
) -> Run:
    """Run a pipeline, of which the trace, if there is one, is under way."""
    choice = choose_engine(engine)
    seconds: dict[str, float] = {}
    run_id = f"{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:8]}"
    with timed(seconds, "plan"):
        plan = pipeline.plan(params, run_id=run_id)
        plan = plan.keeping(plan.last_stages() if keep is None else keep)
        fingerprint = plan.fingerprint
    with timed(seconds, "optimize"):
        physical, passes = lowered(plan, options, choice.name)
    with timed(seconds, "load"):
        backend = backend_of(choice.name, physical, options)
        running = backend.traced(trace, options.profile) if trace else backend
    recorder = Recorder(progress or silent)
    with backend.memory_meter() if options.profile else nullcontext() as meter:
        recorder.meter = meter
        with noted(recorder.outcome), recording(recorder), skipping(options.skipped_choices):
            running.rehearse(physical, fingerprint)
            sinks, heads, kept = execute(physical, running, recorder, run_id, options.head_rows, seconds)
        memory = dict(meter.peaks()) if meter else {}
    recorder.tell_compilation(seconds)
    ceilings = load_ceilings(backend.device)
    if options.profile and ceilings is None:
        recorder.note(UNMEASURED)
    stages = stage_reports(recorder, names_in_order(plan), physical.roots, ceilings)
    report = RunReport(
        pipeline=plan.name, run_id=run_id, engine=choice.name, reason=choice.reason,
        device=device_label(recorder.work.values()), fingerprint=fingerprint,
        stages=stages, sinks=sinks, seconds=seconds,
        passes=passes, notes=tuple(recorder.notes), memory=memory, head=heads,
    )  # fmt: skip
    return Run(report, {name: Result(frame, backend) for name, frame in kept.items()})


def lowered(plan: Plan, options: RunOptions, engine: str = "pandas") -> tuple[PhysicalPlan, dict[str, float]]:
    """Optimize and lower a plan; return the physical plan, and the seconds of each pass.

    Raises
    ------
    RunFailed
        For a source's file whose footer is not what it should be.
    """
    passes: dict[str, float] = {}
    if options.optimize:
        optimized = optimize(plan, options.skip_passes)
        plan, passes = optimized.plan, optimized.seconds
    check_files(plan)
    return lower(plan, Layout(options.rows_a_partition(engine), options.broadcast_bytes)), passes


def backend_of(engine: str, physical: PhysicalPlan, options: RunOptions) -> Backend:
    """Return the engine's backend; with `fallback`, one that hands what it refuses to pandas.

    Raises
    ------
    InvalidPipeline
        With the operations that it refuses, where there is no fallback.
    """
    backend = load_backend(engine)
    if options.fallback:
        return FallbackBackend(backend, load_backend("pandas"))
    check_refusals(backend, physical.roots)
    return backend


def check_files(plan: Plan) -> None:
    """Look at the footers of all sources, which are kept; raise `RunFailed` for a file that is not as planned."""
    for node in walk_graph(*plan.roots):
        if isinstance(node, Read):
            try:
                _ = node.dataset.row_groups
            except DatasetError as error:
                raise RunFailed.at(str(node.origin), error) from error


def names_in_order(plan: Plan) -> list[tuple[str, str]]:
    """Return sources, stages and sinks in the order of the pipeline."""
    return [
        *(("source", n) for n in plan.sources),
        *(("stage", n) for n in plan.stages),
        *(("sink", n) for n in plan.sinks),
    ]

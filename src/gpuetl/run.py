"""One run: choose the engine, plan, optimize, lower, execute, commit, report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl.backends.backend import Backend
from gpuetl.backends.cudf.choices import skipping
from gpuetl.backends.engines import ENGINES, choose_engine, load_backend
from gpuetl.backends.fallback import FallbackBackend, check_refusals
from gpuetl.ceilings.cache import load_ceilings
from gpuetl.errors import InvalidPipeline, RunFailed, have_hint
from gpuetl.executors.outputs import execute
from gpuetl.executors.restart import until_it_fits
from gpuetl.io.dataset import DatasetError
from gpuetl.io.host_memory import host_memory
from gpuetl.optimize import optimize
from gpuetl.options import RunOptions
from gpuetl.physical.explain import explain_physical
from gpuetl.physical.explain_memory import chunk_lines, memory_lines
from gpuetl.physical.fit import Fitted, fitted
from gpuetl.physical.lower import Layout, PhysicalPlan, lower
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Read
from gpuetl.plan.plan import Plan
from gpuetl.report.recorder import Progress, Recorder, recording, silent
from gpuetl.report.report import RunReport, device_label, stage_reports
from gpuetl.report.trace import Trace, timed, tracing
from gpuetl.results import Result
from gpuetl.signals import noted
from gpuetl.sizes import size

if TYPE_CHECKING:
    from gpuetl.pipeline import Pipeline

HOST_SHARE = 0.8
"""Of the host's memory that is available, what a run may take."""
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
    with timed(seconds, "load"):
        backend = backend_of(choice.name, options)
    with timed(seconds, "optimize"):
        fit, passes = fitted_plan(plan, options, choice.name, memory_of(backend, options))
        physical = fit.plan
        check_refusals(backend, physical.roots)
        running = backend.traced(trace, options.profile) if trace else backend
    if options.resident_bytes is None:
        options = replace(options, resident_bytes=fit.resident_bytes)
    recorder = Recorder(progress or silent)
    for line in chunk_lines(fit):
        recorder.note(line)
    limit = backend.limited(options.memory) if options.memory else nullcontext()
    with limit, backend.memory_meter() if options.profile else nullcontext() as meter:
        recorder.meter = meter
        with noted(recorder.outcome), recording(recorder), skipping(options.skipped_choices):
            physical, (sinks, heads, kept) = until_it_fits(
                physical,
                lambda rows: lowered(plan, replace(options, partition_rows=rows), choice.name)[0],
                lambda physical: execute(
                    physical, running, recorder, run_id, options, seconds, fit.reads_ahead and physical is fit.plan
                ),
                recorder,
                seconds,
            )
        memory = dict(meter.peaks()) if meter else {}
    ceilings = load_ceilings(backend.device)
    if options.profile and ceilings is None:
        recorder.note(UNMEASURED)
    if recorder.spilled:
        recorder.note(spill_note(recorder))
    stages = stage_reports(recorder, names_in_order(plan), physical.roots, ceilings)
    report = RunReport(
        pipeline=plan.name, run_id=run_id, engine=choice.name, reason=choice.reason,
        device=device_label(recorder.work.values()), fingerprint=fingerprint,
        stages=stages, sinks=sinks, seconds=seconds,
        passes=passes, notes=tuple(recorder.notes), memory=memory,
        expected_memory=fit.expected.bytes, spilled=dict(recorder.spilled), head=heads,
    )  # fmt: skip
    return Run(report, {name: Result(frame, backend) for name, frame in kept.items()})


def spill_note(recorder: Recorder) -> str:
    """Say how much was spilled."""
    links = ", ".join(f"{size(count)} {link}" for link, count in recorder.spilled.items())
    return f"frames that waited took too much memory: {links}"


def lowered(plan: Plan, options: RunOptions, engine: str = "pandas") -> tuple[PhysicalPlan, dict[str, float]]:
    """Optimize and lower a plan; return the physical plan, and the seconds of each pass.

    Raises
    ------
    RunFailed
        For a source's file whose footer is not what it should be.
    """
    plan, passes = optimized_plan(plan, options)
    return lower(plan, layout_of(options, engine)), passes


def fitted_plan(plan: Plan, options: RunOptions, engine: str, memory: int) -> tuple[Fitted, dict[str, float]]:
    """Optimize a plan and lower it for so much memory, in the partitions that the user asks for or that fit."""
    plan, passes = optimized_plan(plan, options)
    return fitted(plan, layout_of(options, engine), memory, options.partition_rows is not None), passes


def optimized_plan(plan: Plan, options: RunOptions) -> tuple[Plan, dict[str, float]]:
    """Optimize a plan, and look at its files; return the seconds of each pass, too."""
    passes: dict[str, float] = {}
    if options.optimize:
        optimized = optimize(plan, options.skip_passes)
        plan, passes = optimized.plan, optimized.seconds
    check_files(plan)
    return plan, passes


def layout_of(options: RunOptions, engine: str) -> Layout:
    """Return how rows are split, at most."""
    return Layout(options.rows_a_partition(engine), options.broadcast_bytes)


def explained(plan: Plan, options: RunOptions, engine: str) -> str:
    """Explain what an engine would run; with `options.memory` also one that cannot run here."""
    memory = options.memory
    if memory is None or engine not in ENGINES:
        engine = choose_engine(engine).name
    if memory is None:  # what the host has is known without an engine
        memory = free_memory(load_backend(engine)) if engine == "cudf" else int(HOST_SHARE * host_memory().available)
    fit, _ = fitted_plan(plan, options, engine, memory)
    return "\n".join([explain_physical(fit.plan), *memory_lines(fit)])


def memory_of(backend: Backend, options: RunOptions) -> int:
    """Return the bytes that a run may take: what is free, or less where the user says so."""
    free = free_memory(backend)
    return free if options.memory is None else min(free, options.memory)


def free_memory(backend: Backend) -> int:
    """Return the bytes that a backend's frames may still take: on the host, others want some of what is there, too."""
    use = backend.memory_use()
    return int((use.limit - use.in_use) * (HOST_SHARE if backend.device == "CPU" else 1))


def backend_of(engine: str, options: RunOptions) -> Backend:
    """Return the engine's backend; with `fallback`, one that hands what it refuses to pandas."""
    backend = load_backend(engine)
    return FallbackBackend(backend, load_backend("pandas")) if options.fallback else backend


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

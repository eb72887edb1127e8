"""The report of a run, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gpuetl.executors.checkpointing import CheckpointReport
from gpuetl.executors.committing import SinkReport
from gpuetl.output_files import as_json, write_whole
from gpuetl.plan.incremental import Selection
from gpuetl.records import dataclass
from gpuetl.report.checks import CheckReport
from gpuetl.report.column_statistics import ColumnStatistics
from gpuetl.report.environment import Environment
from gpuetl.report.failure import Failure
from gpuetl.report.funnel import Funnel, InputRows, StepRows
from gpuetl.report.inputs import InputReport, utc_text
from gpuetl.report.limits import Limit, limit_of
from gpuetl.report.workers import WorkerReport
from gpuetl.telemetry.hardware_limits import HardwareLimits, Link
from gpuetl.telemetry.memory_samples import MemoryCurve
from gpuetl.telemetry.recorder import Recorder, Work
from gpuetl.telemetry.timeline import TrackReport
from gpuetl.units import duration

SCHEMA_VERSION = 3
"""Of the report as JSON: a field that is removed, renamed or changes its meaning makes it larger."""
STATUSES = ("done", "failed", "failed its expectations", "interrupted")
"""How a run can end."""


@dataclass(frozen=True)
class PipelineText:
    """The text of a file of the pipeline, without secrets; of a pipeline that was built in Python, the same as YAML."""

    name: str
    text: str = field(repr=False)


class LatePipelineText(PipelineText):
    """A text that is written when it is asked for: most runs from Python leave none, and writing YAML takes long."""

    def __init__(self, name: str, write: Callable[[], str]) -> None:
        vars(self).update(name=name, write=write)

    @cached_property
    def text(self) -> str:
        """The text."""
        written: str = vars(self)["write"]()
        return written


@dataclass(frozen=True)
class Declared:
    """A source, stage or sink as the pipeline declares it: what it reads, each by the verb of a step or `from`.

    `caption` is the format of a source or sink.
    """

    kind: str
    name: str
    reads: tuple[tuple[str, str], ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class StageReport:
    """One source, stage or sink: rows that came in and went out, seconds of work, bytes read from files.

    `rows_in` counts the rows that a stage begins with.  `inputs` counts those of joins and unions as well, and `steps`
    the rows in and out of each step.  `skipped_rows` counts rows of a source that were not read, because statistics or
    a limit ruled them out.

    `device` is GPU, CPU or MIXED, or empty if the engine did no work, as for sinks.  `peak_bytes` is the most memory in
    use during the work, including memory that others hold.  It is None if it was not measured: see `RunReport.memory`.

    `waited` is how many seconds the run waited for a source that was read ahead of other work, else None.

    `moved` has the least bytes that had to cross each link.  Within a memory it counts reads and writes of operations.
    `limit` is the slowest of these links.  It is None if `gpuetl bench device` has not measured the machine.
    `exchanged_bytes` are those of rows that exchanges have brought to their partitions.
    """

    kind: str
    name: str
    rows_in: int
    rows_out: int
    seconds: float
    file_bytes: int
    device: str = ""
    peak_bytes: int | None = None
    waited: float | None = None
    moved: Mapping[Link, int] = field(default_factory=dict)
    limit: Limit | None = None
    inputs: tuple[InputRows, ...] = ()
    steps: tuple[StepRows, ...] = ()
    skipped_rows: int = 0
    exchanged_bytes: int = 0


@dataclass(frozen=True)
class RunReport:
    """What a run did, and where its time went.

    Parameters
    ----------
    device
        Where the engine's operations ran: GPU, CPU, or MIXED.
    seconds
        The wall time of each phase: plan, load (the engine), optimize (with lowering), run and commit.  If kernels were
        compiled, compile is how long the run waited for them.  That time is part of stages' seconds, but not of run.
    passes
        The seconds of each optimizer pass; empty if the plan was kept from an earlier run.
    notes
        Remarks, such as an order with ties.
    warnings
        What to look at before you trust the rows, such as a sink that got no rows.
    checks
        The result of each rule of a stage.
    memory
        The most bytes in use, for a profiled run: device memory on a GPU, else the resident set and Arrow's pool.
    expected_memory
        The most bytes that the run was expected to take, as `gpuetl plan` prints it.
    spilled
        The bytes that crossed each link because frames were spilled to free memory.
    head
        The first rows of each sink and kept stage.
    error
        The message with which the run ended, with what became of the sinks; empty for a run that succeeded.
    failure
        The same as data.  `stages` then have what was done until then.
    started, duration_s
        When the run began, in seconds since 1970, and how long it took.
    params
        The values of all parameters, as text.
    environment
        The host, its GPUs, and the versions of what computed.
    declared
        The sources, stages and sinks of the pipeline, in its order.
    timeline
        When each phase, source, stage and sink was at work, and the compilation of kernels.
    memory_curves
        The memory in use over time; on a cluster one for each worker.
    memory_budget
        The bytes that the run was allowed to take: what was free, or `RunOptions.memory`.
    workers
        What each worker of a cluster did.
    columns
        Statistics of the columns of each sink, if `RunOptions.column_stats` asked for them.
    checkpoints
        What became of the checkpoints of stages: reused, written or lost.
    trace
        The path of the trace, if there is one.
    path
        The file of the report, if the run has written it.
    manifest
        The file of the manifest in the pipeline's state folder, if there is one.
    pipeline_text
        The text of the pipeline: its file, then those that it includes.
    profile
        The name of the profile that was applied; empty for none.
    options
        Options of the run that are not at their defaults, as text.
    writes
        Whether the run was to write all of its sinks; not with --no-write, nor for a part of the pipeline.
    inputs
        The files of each source, and the state in which the run saw them.
    exit_code
        What the command line exits with.
    after_run
        Those of the warnings that came after the run's end: a manifest that could not be written, an alert that failed.
    incremental
        What the run read of incremental sources.
    nothing_new
        Whether none of them had anything new.  Then no sink was written, and the state stayed.
    """

    pipeline: str
    run_id: str
    engine: str
    reason: str
    device: str
    fingerprint: str
    stages: tuple[StageReport, ...]
    sinks: tuple[SinkReport, ...]
    seconds: Mapping[str, float]
    passes: Mapping[str, float]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    checks: tuple[CheckReport, ...] = ()
    memory: Mapping[str, int] = field(default_factory=dict)
    expected_memory: int = 0
    spilled: Mapping[Link, int] = field(default_factory=dict)
    head: Mapping[str, Any] = field(default_factory=dict, repr=False)
    error: str = ""
    failure: Failure | None = None
    started: float = 0.0
    duration_s: float = 0.0
    params: Mapping[str, str] = field(default_factory=dict)
    environment: Environment | None = None
    declared: tuple[Declared, ...] = ()
    timeline: tuple[TrackReport, ...] = ()
    memory_curves: tuple[MemoryCurve, ...] = ()
    memory_budget: int = 0
    workers: tuple[WorkerReport, ...] = ()
    columns: Mapping[str, tuple[ColumnStatistics, ...]] = field(default_factory=dict)
    checkpoints: tuple[CheckpointReport, ...] = ()
    trace: str = ""
    path: str = ""
    manifest: str = ""
    pipeline_text: tuple[PipelineText, ...] = ()
    profile: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    writes: bool = True
    inputs: tuple[InputReport, ...] = ()
    exit_code: int = 0
    after_run: tuple[str, ...] = ()
    incremental: tuple[Selection, ...] = ()
    nothing_new: bool = False

    def __repr__(self) -> str:
        return f"<RunReport {self.summary}>"

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import report_page_of

        return report_page_of(self)

    @property
    def summary(self) -> str:
        """One line: the pipeline, where it ran, and how long, by phase."""
        phases = ", ".join(f"{phase} {duration(seconds)}" for phase, seconds in self.seconds.items())
        where = f" on {place_of(self.device)}" if self.device else ""
        done = "nothing new" if self.nothing_new else self.status
        return f"{self.pipeline}: {done}{where} in {duration(sum(self.seconds.values()))} ({phases})"

    @property
    def status(self) -> str:
        """`done`, `failed`, `failed its expectations` or `interrupted`."""
        if self.broken:
            return "failed its expectations"
        if self.failure and self.failure.kind == "interrupted":
            return "interrupted"
        return "failed" if self.error else "done"

    @property
    def memory_peak(self) -> int:
        """The most bytes in use at one time, in one process: as measured, else of samples; 0 if neither is known."""
        return max(self.memory.values(), default=0) or max((curve.peak for curve in self.memory_curves), default=0)

    @property
    def broken(self) -> tuple[CheckReport, ...]:
        """The rules for which no sink has changed."""
        return tuple(check for check in self.checks if check.verdict == "failed")

    def __call__(self, path: str | Path) -> None:
        """Write the report: `run.report("run.html")`."""
        self.write(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, without the first rows: `schema_version` says which fields there are."""
        data = asdict(replace(self, head={}))
        data.pop("head")
        data["checks"] = [{**asdict(check), "share": check.share} for check in self.checks]
        problems = data["failure"].pop("problems") if data["failure"] else ()
        times = {"started_at": utc_text(self.started), "ended_at": utc_text(self.started + self.duration_s)}
        return {"schema_version": SCHEMA_VERSION, "status": self.status, **times, **data, "problems": problems}

    def write(self, path: str | Path) -> None:
        """Write the report: a page for people where the path ends in .html, else JSON.

        Raises
        ------
        OSError
            Where the file cannot be written; one that was there before stays as it is.
        """
        if Path(path).suffix == ".html":
            from gpuetl.report.html.page import page

            text = page(self, Path(path).parent)
        else:
            text = as_json(self.to_dict()) + "\n"
        write_whole(path, text.encode())


NOT_IN_JSON = frozenset({(RunReport, "head")})
"""Fields that the report as JSON leaves out: the rows of sinks are in the sinks."""


def stage_reports(
    recorder: Recorder, order: Iterable[tuple[str, str]], funnel: Funnel, limits: HardwareLimits | None = None
) -> tuple[StageReport, ...]:
    """Sum the operations of each source, stage and sink, in the order given; those that did nothing are left out."""
    groups: dict[tuple[str, str], list[Work]] = {}
    for work in recorder.work.values():
        groups.setdefault(work.origin.relation, []).append(work)
    return tuple(_stage_report(relation, groups[relation], funnel, limits) for relation in order if relation in groups)


def _stage_report(
    relation: tuple[str, str], own: Sequence[Work], funnel: Funnel, limits: HardwareLimits | None
) -> StageReport:
    kind, name = relation
    moved = sum((work.moved for work in own), start=Counter[Link]())
    seconds = sum(work.seconds for work in own)
    is_stage = kind == "stage" and name in funnel.written
    inputs, steps = (funnel.inputs(name), funnel.steps(name)) if is_stage else ((), ())
    entered = next((work.rows_in for work in own if work.rows_in), 0)  # an exchange before them counts none
    began = [inputs[0].rows if inputs else None, *(step.rows_in for step in steps), entered]
    ended = [funnel.rows(funnel.last(relation)), own[-1].rows_out]
    return StageReport(
        kind=kind,
        name=name,
        rows_in=next(rows for rows in began if rows is not None),
        rows_out=next(rows for rows in ended if rows is not None),
        seconds=seconds,
        file_bytes=sum(work.file_bytes for work in own),
        device=device_label(own),
        peak_bytes=max((work.peak_bytes for work in own if work.peak_bytes is not None), default=None),
        waited=own[0].waited,
        moved=dict(moved),
        limit=limit_of(moved, seconds, limits),
        inputs=inputs,
        steps=steps,
        skipped_rows=funnel.skipped_rows(name) if kind == "source" else 0,
        exchanged_bytes=sum(work.exchanged_bytes for work in own),
    )


def place_of(device: str) -> str:
    """Return where a run or stage ran, as people say it: `GPU and CPU` for MIXED."""
    return "GPU and CPU" if device == "MIXED" else device


def device_label(works: Iterable[Work]) -> str:
    """Return where operations ran: GPU, CPU, or MIXED."""
    devices = {work.device for work in works if work.device}
    return "MIXED" if len(devices) > 1 else next(iter(devices), "")

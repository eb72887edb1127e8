"""The report of a run, as data, as lines of a table and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from html import escape as escape_html
from itertools import compress, groupby
from pathlib import Path
from typing import Any

from gpuetl.executors.committing import SinkReport
from gpuetl.messages import one_line, printable, size
from gpuetl.output_files import as_json, write_whole
from gpuetl.records import dataclass
from gpuetl.report.checks import CheckReport
from gpuetl.report.funnel import Funnel, InputRows, StepRows
from gpuetl.telemetry.hardware_limits import HardwareLimits, Link
from gpuetl.telemetry.recorder import Recorder, Work
from gpuetl.value_texts import values_of

# How close work came to what the links that it used can carry.


@dataclass(frozen=True)
class Limit:
    """The slowest link of some work: the seconds that its bytes need at the measured rate, and their share of all.

    A share above 1 says that the bytes lay in a cache, or that links were used at once by several threads.
    """

    link: Link
    bytes_per_s: float
    seconds: float
    share: float

    def __str__(self) -> str:
        share = f"{100 * self.share:.0f}" if self.share >= 0.01 else "under 1"
        return f"{self.link}, {share} % of {size(round(self.bytes_per_s))}/s"


def limit_of(moved: Mapping[Link, int], seconds: float, limits: HardwareLimits | None) -> Limit | None:
    """Return the limit; None where nothing was moved, or the rate of a link that was used is not known."""
    used = {link: count for link, count in moved.items() if count}
    rates = {link: found.bytes_per_s for link in used if limits and (found := limits.highest(link))}
    if not used or rates.keys() != used.keys() or not seconds:
        return None
    slowest = max(used, key=lambda link: used[link] / rates[link])
    alone = used[slowest] / rates[slowest]
    return Limit(slowest, rates[slowest], alone, alone / seconds)


# The report of a run, as data, as lines of a table and as a page.


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
        The message with which the run ended.  `stages` is then empty, unless an expectation failed.
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

    def __repr__(self) -> str:
        return f"<RunReport {self.summary}>"

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import report_page_of

        return report_page_of(self)

    @property
    def summary(self) -> str:
        """One line: the pipeline, where it ran, and how long, by phase."""
        phases = ", ".join(f"{phase} {seconds:.2f} s" for phase, seconds in self.seconds.items())
        what = "failed its expectations" if self.broken else "failed" if self.error else "done"
        return f"{self.pipeline}: {what} on {self.device} in {sum(self.seconds.values()):.2f} s ({phases})"

    @property
    def broken(self) -> tuple[CheckReport, ...]:
        """The rules for which no sink has changed."""
        return tuple(check for check in self.checks if check.verdict == "failed")

    def __call__(self, path: str | Path) -> None:
        """Write the report: `run.report("run.html")`."""
        self.write(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, without the first rows."""
        checks = [{**asdict(check), "share": check.share} for check in self.checks]
        return {key: value for key, value in asdict(self).items() if key != "head"} | {"checks": checks}

    def write(self, path: str | Path) -> None:
        """Write the report: a page for people where the path ends in .html, else JSON.

        Raises
        ------
        OSError
            Where the file cannot be written; one that was there before stays as it is.
        """
        text = report_page(self) if Path(path).suffix == ".html" else as_json(self.to_dict()) + "\n"
        write_whole(path, text.encode())


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
    )


def device_label(works: Iterable[Work]) -> str:
    """Return where operations ran: GPU, CPU, or MIXED."""
    devices = {work.device for work in works if work.device}
    return "MIXED" if len(devices) > 1 else next(iter(devices), "")


# The funnel of a run as lines of text, for the terminal and the page.


STEP_COLUMNS = ("stage", "step", "rows in", "other input", "rows out", "remark")
Line = tuple[str, str, str, str, str, str]


def step_lines(report: RunReport) -> Iterator[Line]:
    """Yield a line for each source, and for the beginning and each step of each stage, in the order of the pipeline."""
    for one in report.stages:
        if one.kind == "source":
            yield one.name, "read", counted(one.rows_in), "", counted(one.rows_out), skipped_text(one)
        if one.kind == "stage":
            yield from stage_lines(one)


def stage_lines(stage: StageReport) -> Iterator[Line]:
    """Yield the lines of one stage; of a step that ran in two places the first line has the step's other inputs."""
    beside = {
        number: ", ".join(f"{one.name} {counted(one.rows) or '?'}" for one in inputs)
        for number, inputs in groupby(stage.inputs, lambda one: one.step)
        if number
    }
    if stage.inputs:
        yield stage.name, f"from {stage.inputs[0].name}", "", "", counted(stage.inputs[0].rows), ""
    for step in stage.steps:
        verb, others = f"{step.step} {step.verb}", beside.pop(step.step, "")
        yield "", verb, counted(step.rows_in), others, counted(step.rows_out), step.remark


def rows_in(stage: StageReport) -> str:
    """Return the rows of all inputs of a stage, first those that it begins with; of a source or sink the rows.

    Nothing for checks: each has its own number of rows, in the table of expectations.
    """
    if stage.kind == "expect":
        return ""
    return " + ".join(counted(one.rows) or "?" for one in stage.inputs) or counted(stage.rows_in)


def rows_out(stage: StageReport) -> str:
    """Return the rows that a source, stage or sink gave; nothing for checks, which only count."""
    return "" if stage.kind == "expect" else counted(stage.rows_out)


def counted(rows: int | None) -> str:
    """Return a number of rows; nothing where it is not known."""
    return "" if rows is None else f"{rows:,}"


def skipped_text(source: StageReport) -> str:
    """Say how many rows of a source were not read."""
    return f"{source.skipped_rows:,} more were ruled out by statistics or a limit" if source.skipped_rows else ""


# The report as one HTML page, for people: no scripts, nothing from elsewhere.


STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
       background: light-dark(#fff, #16191d); color: light-dark(#1b1f24, #d7dce2); overflow-wrap: anywhere; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; overflow-wrap: normal; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid light-dark(#d8dee4, #3a4149);
         vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.failed { color: light-dark(#b3261e, #ff9a91); font-weight: 600; }
pre { overflow-x: auto; }
"""
NUMBER = " class='number'"
TIMES = ("seconds", "waited")


def report_page(report: RunReport) -> str:
    """Return the page: engine, warnings, stages, steps, sinks, phases, passes, notes, first rows of each sink."""
    sinks = [(s.name, s.rows, s.files, s.file_bytes, s.path + " (unchanged)" * (not s.written)) for s in report.sinks]
    peaks = {**report.memory, "expected memory": report.expected_memory}
    parts = [
        f"<h1>{escape(report.pipeline)}</h1>",
        f"<p>Run {escape(report.run_id)} on engine {escape(report.engine)} ({escape(report.reason)}), {report.device}"
        f"{', plan ' * bool(report.fingerprint)}{report.fingerprint}.</p>",
        *failure(report),
        *(f"<p><strong>Warning:</strong> {escape(warning)}</p>" for warning in report.warnings),
        *([stage_table(report)] if report.stages else []),
        *([checks_table(report)] if report.checks else []),
        *([steps_table(report)] if report.stages else []),
        *([table("Sinks", ("name", "rows", "files", "bytes", "path"), sinks)] if sinks else []),
        *([table("Memory", ("of", "bytes"), peaks.items())] if any(peaks.values()) else []),
        *([table("Spilled", ("link", "bytes"), report.spilled.items())] if report.spilled else []),
        table("Phases", ("phase", "seconds"), timed(report.seconds)),
        *([table("Optimizer passes", ("pass", "seconds"), timed(report.passes))] if report.passes else []),
        *(f"<p>Note: {escape(remark)}</p>" for remark in report.notes),
        *(
            table(f"First rows of {name}", head.column_names, zip(*map(values_of, head.columns), strict=True))
            for name, head in report.head.items()
        ),
    ]
    view = "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    head = f"<meta charset='utf-8'>{view}<title>{escape(report.pipeline)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'>{head}" + "\n".join(parts) + "</html>\n"


def failure(report: RunReport) -> Iterator[str]:
    """Yield what a run that failed says, its first line apart; nothing of one that did not fail."""
    if report.error:
        first, _, more = report.error.partition("\n")
        yield f"<p class='failed'>Failed: {escape(first)}</p>"
        if more.strip():
            yield f"<pre>{escape_html(printable(more))}</pre>"


def timed(seconds: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Yield names and their seconds."""
    return ((name, seconds_text(value)) for name, value in seconds.items())


def seconds_text(seconds: float | None) -> str:
    """Return seconds to the millisecond; nothing where they were not measured."""
    return "" if seconds is None else "< 0.001" if 0 < seconds < 0.0005 else f"{seconds:,.3f}"


def steps_table(report: RunReport) -> str:
    """Return the rows in and out of every step."""
    return table("Rows in and out of every step", STEP_COLUMNS, step_lines(report), numbers=("rows in", "rows out"))


def escape(text: str) -> str:
    """Return what a page shows as this text."""
    return escape_html(one_line(text))


def stage_table(report: RunReport) -> str:
    """Return the stages, with the bytes over each link that any of them used, and what limits each.

    Columns in which no stage has anything are left out.
    """
    links = sorted({link for stage in report.stages for link in stage.moved})
    names = ("kind", "name", "rows in", "rows out", "seconds", "waited", "on", *links, "peak memory", "limited by")
    rows = [
        (
            s.kind, s.name, rows_in(s), rows_out(s), seconds_text(s.seconds), seconds_text(s.waited), s.device,
            *map(s.moved.get, links), s.peak_bytes, s.limit,
        )
        for s in report.stages
    ]  # fmt: skip
    used = [any(row[place] not in (None, "") for row in rows) for place in range(len(names))]
    shown = (list(compress(row, used)) for row in rows)
    return table("Stages", list(compress(names, used)), shown, numbers=("rows in", "rows out"))


def checks_table(report: RunReport) -> str:
    """Return what was found of each rule, and the first rows that break those that failed."""
    names = ("stage", "rule", "on_fail", "rows", "broken", "share", "verdict", "in the file")
    rows = (
        (c.stage, c.rule, c.on_fail, c.rows, c.broken, f"{100 * c.share:.3g} %", c.verdict, c.place)
        for c in report.checks
    )
    samples = (
        table(f"Rows that break {c.rule} of {c.stage}", list(c.sample[0]), (row.values() for row in c.sample))
        for c in report.checks
        if c.sample
    )
    return "\n".join([table("Expectations", names, rows), *samples])


def table(title: str, names: Sequence[str], rows: Iterable[Iterable[Any]], numbers: Sequence[str] = ()) -> str:
    """Return a titled table; `numbers` are the columns of text that stand at the right, as numbers do."""
    cells = [list(row) for row in rows]
    right = [name in (*numbers, *TIMES) for name in names]
    at_right = [is_right or any(is_number(row[place]) for row in cells) for place, is_right in enumerate(right)]
    heads = "".join(
        f"<th{NUMBER if is_right else ''}>{escape(name)}</th>" for name, is_right in zip(names, at_right, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(cell, row, right))}</tr>" for row in cells)
    return f"<h2>{escape(title)}</h2><div class='table'><table><tr>{heads}</tr>{body}</table></div>"


def is_number(value: Any) -> bool:
    """Return whether a value stands at the right of its cell."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: Any, right: bool = False) -> str:
    """Return a cell; numbers stand at the right."""
    if is_number(value):
        text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
        return f"<td{NUMBER}>{text}</td>"
    return f"<td{NUMBER if right else ''}>{'' if value is None else escape(str(value))}</td>"

"""The report of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from gpuetl.ceilings.ceiling import Ceilings, Link
from gpuetl.json_text import as_json
from gpuetl.records import dataclass
from gpuetl.report.checks import CheckReport
from gpuetl.report.funnel import Funnel, InputRows, StepRows
from gpuetl.report.limits import Limit, limit_of
from gpuetl.report.recorder import Recorder, Work
from gpuetl.whole_file import write_whole


@dataclass(frozen=True)
class StageReport:
    """One source, stage or sink: rows that came in and went out, seconds of work, bytes read from files.

    `rows_in` are the rows that a stage begins with; `inputs` has those of joins and unions, too, and `steps` the rows
    in and out of each step.  `skipped_rows` are those of a source that statistics or a limit ruled out, and that were
    not read.

    `device` is GPU, CPU or MIXED; nothing for what the engine did nothing for, as sinks.  `peak_bytes` is the most
    memory in use while it worked, also by what others hold; None where it was not measured: see `RunReport.memory`.

    `waited` are the seconds that the run waited for a source that was read ahead, beside other work; else None.

    `moved` has the bytes that had to cross each link at least: within a memory, what operations read and write.
    `limit` is the slowest of these links; None where the machine's ceilings were not measured: `gpuetl bench device`.
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
class SinkReport:
    """What a sink wrote; `written` is false where it got no rows and did not change its target."""

    name: str
    path: str
    rows: int
    files: int
    file_bytes: int
    written: bool = True


@dataclass(frozen=True)
class RunReport:
    """What a run did, and where its time went.

    `device` says where the engine's operations ran: GPU, CPU, or MIXED where it was both.

    `seconds` has the wall time of each phase: plan, load (the engine), optimize (with lowering; `passes` has each pass
    that was made, none where the plan was kept from an earlier run), run, commit, and, where kernels were compiled,
    compile: what the run waited for them, which is not in run, but in stages' seconds; these are their own work.
    `warnings` are what the user should look at before the rows are trusted, such as a sink that got no rows.  `notes`
    are remarks, such as an order with ties, `checks` what was found of each rule of a stage, `head` the first rows of
    each sink and kept stage.  `memory` has the most bytes in use by what was measured, of a run that is profiled: on a
    GPU device memory, of which stages' `peak_bytes` tell too; else the process' resident set, and Arrow's pool.
    `expected_memory` is the most bytes that the run was expected to take where frames are, as `gpuetl plan` prints it.
    `spilled` has the bytes that crossed each link because frames that waited were spilled to leave room.
    `error` is the message with which the run ended; of such a run, what it did until then is not in `stages`, unless it
    ended because an expectation failed.
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
        from gpuetl.report.page import report_page

        text = report_page(self) if Path(path).suffix == ".html" else as_json(self.to_dict()) + "\n"
        write_whole(path, text.encode())


def stage_reports(
    recorder: Recorder, order: Iterable[tuple[str, str]], funnel: Funnel, ceilings: Ceilings | None = None
) -> tuple[StageReport, ...]:
    """Sum the operations of each source, stage and sink, in the order given; those that did nothing are left out."""
    groups: dict[tuple[str, str], list[Work]] = {}
    for work in recorder.work.values():
        groups.setdefault(work.origin.relation, []).append(work)
    return tuple(
        _stage_report(relation, groups[relation], funnel, ceilings) for relation in order if relation in groups
    )


def _stage_report(
    relation: tuple[str, str], own: Sequence[Work], funnel: Funnel, ceilings: Ceilings | None
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
        limit=limit_of(moved, seconds, ceilings),
        inputs=inputs,
        steps=steps,
        skipped_rows=funnel.skipped_rows(name) if kind == "source" else 0,
    )


def device_label(works: Iterable[Work]) -> str:
    """Return where operations ran: GPU, CPU, or MIXED."""
    devices = {work.device for work in works if work.device}
    return "MIXED" if len(devices) > 1 else next(iter(devices), "")

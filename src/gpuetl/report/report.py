"""The report of a run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gpuetl.ceilings.ceiling import Ceilings, Link
from gpuetl.physical.beside import beside, stage_of
from gpuetl.physical.nodes import Physical
from gpuetl.report.limits import Limit, limit_of
from gpuetl.report.recorder import Recorder, Work


@dataclass(frozen=True)
class StageReport:
    """One source, stage or sink: rows that came in and went out, seconds of work, bytes read from files.

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


@dataclass(frozen=True)
class SinkReport:
    """What a sink wrote; `written` is false where it got no rows, and left its target as it was."""

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
    are remarks, such as an order with ties, `head` the first rows of each sink and kept stage.  `memory` has
    the most bytes in use by what was measured, of a run that is profiled: on a GPU device memory, of which stages'
    `peak_bytes` tell too; else the process' resident set, and Arrow's pool.  `expected_memory` is what the plan was
    expected to need at most where frames are.  `spilled` has the bytes that crossed each link because frames that
    waited were spilled to leave room, there and back.
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
    memory: Mapping[str, int] = field(default_factory=dict)
    expected_memory: int = 0
    spilled: Mapping[Link, int] = field(default_factory=dict)
    head: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<RunReport {self.summary}>"

    @property
    def summary(self) -> str:
        """One line: the pipeline, where it ran, and how long, by phase."""
        phases = ", ".join(f"{phase} {seconds:.2f} s" for phase, seconds in self.seconds.items())
        return f"{self.pipeline}: done on {self.device} in {sum(self.seconds.values()):.2f} s ({phases})"

    def __call__(self, path: str | Path) -> None:
        """Write the report: `run.report("run.html")`."""
        self.write(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, without the first rows."""
        return {key: value for key, value in asdict(self).items() if key != "head"}

    def write(self, path: str | Path) -> None:
        """Write the report: a page for people where the path ends in .html, else JSON."""
        from gpuetl.report.page import report_page

        text = report_page(self) if Path(path).suffix == ".html" else json.dumps(self.to_dict(), indent=2) + "\n"
        Path(path).write_text(text, encoding="utf-8")


def stage_reports(
    recorder: Recorder,
    order: Iterable[tuple[str, str]],
    roots: Sequence[Physical],
    ceilings: Ceilings | None = None,
) -> tuple[StageReport, ...]:
    """Sum the operations of each source, stage and sink, in the order given; those that did nothing are left out."""
    groups: dict[tuple[str, str], dict[int, Work]] = {}
    for operation, work in recorder.work.items():
        groups.setdefault(stage_of(work.origin), {})[operation] = work
    entering = {key: _entering(key, works) for key, works in groups.items()}
    several = frozenset(operation for found in entering.values() if len(found) > 1 for operation in found)
    aside = beside(roots, several) if several else several
    return tuple(
        _sum(key, groups[key], ceilings, [work for operation, work in entering[key].items() if operation not in aside])
        for key in order
        if key in groups
    )


def _entering(key: tuple[str, str], works: Mapping[int, Work]) -> dict[int, Work]:
    """Return the operations whose rows come from elsewhere."""
    return {i: work for i, work in works.items() if work.before is None or stage_of(work.before) != key}


def _sum(
    key: tuple[str, str], works: Mapping[int, Work], ceilings: Ceilings | None, entering: Sequence[Work]
) -> StageReport:
    own = list(works.values())
    moved = sum((work.moved for work in own), start=Counter[Link]())
    seconds = sum(work.seconds for work in own)
    return StageReport(
        kind=key[0],
        name=key[1],
        rows_in=entering[0].rows_in if entering else own[0].rows_in,
        rows_out=own[-1].rows_out,
        seconds=seconds,
        file_bytes=sum(work.file_bytes for work in own),
        device=device_label(own),
        peak_bytes=max((work.peak_bytes for work in own if work.peak_bytes is not None), default=None),
        waited=own[0].waited,
        moved=dict(moved),
        limit=limit_of(moved, seconds, ceilings),
    )


def device_label(works: Iterable[Work]) -> str:
    """Return where operations ran: GPU, CPU, or MIXED."""
    devices = {work.device for work in works if work.device}
    return "MIXED" if len(devices) > 1 else next(iter(devices), "")

"""The runs of a pipeline beside each other: a line for each, compared with the median of earlier ones; two compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field, replace
from difflib import unified_diff
from statistics import median
from typing import Any

from gpuetl.records import dataclass
from gpuetl.report.inputs import utc_text
from gpuetl.report.manifests import RunFile
from gpuetl.units import count, duration, size

EARLIER_RUNS = 30
"""That a run is compared with, at most."""
LEAST_EARLIER = 5
"""Fewer tell nothing."""
DEVIATIONS, TO_SIGMA, LEAST_SHARE = 3.0, 1.4826, 0.2
LEAST_SECONDS = 1.0
"""Less is noise, however short a run is."""
RULE = (
    f"! differs from the median of the last {EARLIER_RUNS} successful runs before it (at least {LEAST_EARLIER}) by "
    f"more than {DEVIATIONS:g} × {TO_SIGMA} × MAD, by more than {LEAST_SHARE:.0%}, and for time by more than "
    f"{LEAST_SECONDS:g} s.  MAD is the median distance from the median."
).replace("%", " %")
"""MAD is the median of the distances from the median; times 1.4826 it is the standard deviation of normal values."""


TIME = "time"


@dataclass(frozen=True)
class Outlier:
    """A number of a run that is far from the median of earlier runs; `runs` counts these."""

    what: str
    value: float
    median: float
    deviation: float
    runs: int

    def __str__(self) -> str:
        shown = duration if self.what == TIME else count_of
        share = f" ({self.value / self.median - 1:+.0%})".replace("%", " %") if self.median else ""
        return f"{self.what} {shown(self.value)}{share}, median of {self.runs} runs {shown(self.median)}"


@dataclass(frozen=True)
class RunSummary:
    """A run in a list.

    `rows_in` are those that sources gave, `rows_out` those that sinks got, `input_bytes` the sizes of the files that
    sources have.  None is what is not known, as of a run that has not ended.
    """

    run_id: str
    pipeline: str
    status: str
    started_at: str = ""
    started: float = 0.0
    engine: str = ""
    seconds: float | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    input_bytes: int | None = None
    exit_code: int | None = None
    code: str = ""
    writes: bool = True
    nothing_new: bool = False
    outliers: tuple[Outlier, ...] = ()

    @classmethod
    def of(cls, run: RunFile) -> RunSummary:
        """Return the summary of a run."""
        if run.manifest is None:
            if run.started is None:
                return cls(run.run_id, "", run.status)
            begun = run.started
            return cls(run.run_id, begun.pipeline, run.status, utc_text(begun.started), begun.started, begun.engine)
        data = run.manifest
        sizes = [one["bytes"] for one in data.get("inputs", ())]
        has_begun = bool(data["stages"])
        failure = data.get("failure") or {}
        return cls(
            run.run_id, str(data["pipeline"]), run.status, str(data.get("started_at", "")), float(data["started"]),
            str(data["engine"]), float(data["duration_s"]),
            rows_read(data) if has_begun else None, sum(one["rows"] for one in data["sinks"]) if has_begun else None,
            None if None in sizes or not sizes else sum(sizes), data.get("exit_code"), str(failure.get("code", "")),
            bool(data.get("writes", True)), bool(data.get("nothing_new", False)),
        )  # fmt: skip

    @property
    def is_reference(self) -> bool:
        """Whether later runs are compared with this one."""
        return self.status == "done" and self.writes and not self.nothing_new

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def rows_read(manifest: Mapping[str, Any]) -> int:
    """Return how many rows the sources gave, without those that they put in quarantine."""
    sources = {one["name"] for one in manifest["declared"] if one["kind"] == "source"}
    return sum(one["rows_out"] for one in manifest["stages"] if one["kind"] == "source" and one["name"] in sources)


def count_of(value: float) -> str:
    """Return a number of rows."""
    return count(round(value))


def summaries(runs: Sequence[RunFile]) -> list[RunSummary]:
    """Return the summaries of runs, which are the newest first, each compared with successful runs before it."""
    found = [RunSummary.of(run) for run in runs]
    return [compared(one, found[place + 1 :]) for place, one in enumerate(found)]


def compared(run: RunSummary, earlier: Iterable[RunSummary]) -> RunSummary:
    """Return a run with what is far from the median of earlier runs of the same pipeline; only of one that is done."""
    if not run.is_reference:
        return run
    others = [one for one in earlier if one.is_reference and one.pipeline == run.pipeline][:EARLIER_RUNS]
    if len(others) < LEAST_EARLIER:
        return run
    numbers: dict[str, list[float | int | None]] = {
        TIME: [one.seconds for one in (run, *others)],
        "rows in": [one.rows_in for one in (run, *others)],
        "rows out": [one.rows_out for one in (run, *others)],
    }
    outliers = (outlier(what, [float(value or 0) for value in values]) for what, values in numbers.items())
    return replace(run, outliers=tuple(one for one in outliers if one))


def outlier(what: str, values: Sequence[float]) -> Outlier | None:
    """Return the first value as an outlier of the others, if it is one."""
    value, *others = values
    middle = median(others)
    deviation = TO_SIGMA * median(abs(one - middle) for one in others)
    distance = abs(value - middle)
    least = max(DEVIATIONS * deviation, LEAST_SHARE * abs(middle), LEAST_SECONDS if what == TIME else 0.0)
    if distance <= least:
        return None
    return Outlier(what, value, middle, deviation, len(others))


# Two runs, compared.


@dataclass(frozen=True)
class Change:
    """A value that differs between two runs; an empty string is one that a run does not have."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class StepChange:
    """The rows out of a step, and the seconds of a stage, in two runs; None where a run does not have it."""

    stage: str
    step: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Comparison:
    """What differs between two runs; `rows` and `seconds` have all steps and stages, also those that are equal."""

    before: str
    after: str
    facts: tuple[Change, ...] = ()
    params: tuple[Change, ...] = ()
    versions: tuple[Change, ...] = ()
    inputs: tuple[Change, ...] = ()
    rows: tuple[StepChange, ...] = ()
    seconds: tuple[StepChange, ...] = ()
    pipeline_diff: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


FACTS = ("status", "engine", "profile", "device", "fingerprint", "exit_code")


def comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Compare two manifests."""
    hosts = [one["environment"] or {} for one in (before, after)]
    facts: list[dict[str, Any]] = [
        {name: one.get(name, "") for name in FACTS} | dict(one.get("options", {})) for one in (before, after)
    ]
    for fact, host in zip(facts, hosts, strict=True):
        fact |= {"host": host.get("host", ""), "gpus": ", ".join(host.get("gpus", ()))}
    return Comparison(
        str(before["run_id"]),
        str(after["run_id"]),
        changes(*facts),
        changes(before["params"], after["params"]),
        changes(*(host.get("versions", {}) for host in hosts)),
        changes(*(input_facts(one) for one in (before, after))),
        step_changes(*(step_rows(one) for one in (before, after))),
        step_changes(*(stage_seconds(one) for one in (before, after))),
        tuple(text_diff(before, after)),
    )


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the values that differ."""
    names = dict.fromkeys((*before, *after))
    pairs = ((name, str(before.get(name, "")), str(after.get(name, ""))) for name in names)
    return tuple(Change(*pair) for pair in pairs if pair[1] != pair[2])


def input_facts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells whether sources had the same files."""
    return {
        one["name"]: f"{one['files']} file{'s' * (one['files'] != 1)}, {size(one['bytes'] or 0)}, {one['digest'][:8]}"
        for one in manifest.get("inputs", ())
    }


Steps = Mapping[tuple[str, str], float | None]


def step_rows(manifest: Mapping[str, Any]) -> Steps:
    """Return the rows out of each source, step and sink."""
    found: dict[tuple[str, str], float | None] = {}
    for stage in manifest["stages"]:
        if stage["kind"] == "source":
            found[stage["name"], "read"] = stage["rows_out"]
        for step in stage["steps"]:
            found[stage["name"], f"{step['step']} {step['verb']}"] = step["rows_out"]
    return found | {(sink["name"], "write"): sink["rows"] for sink in manifest["sinks"]}


def stage_seconds(manifest: Mapping[str, Any]) -> Steps:
    """Return the seconds of each phase, and of each source, stage and sink."""
    phases: dict[tuple[str, str], float | None] = {("", name): value for name, value in manifest["seconds"].items()}
    return phases | {(one["name"], one["kind"]): one["seconds"] for one in manifest["stages"]}


def step_changes(before: Steps, after: Steps) -> tuple[StepChange, ...]:
    """Return the numbers of two runs beside each other."""
    return tuple(
        StepChange(stage, step, before.get((stage, step)), after.get((stage, step)))
        for stage, step in dict.fromkeys((*before, *after))
    )


def text_diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[str]:
    """Yield the lines of a diff of the pipeline's text, file by file."""
    texts = [{one["name"]: one["text"] for one in each.get("pipeline_text", ())} for each in (before, after)]
    for name in dict.fromkeys((*texts[0], *texts[1])):
        old, new = (each.get(name, "").splitlines() for each in texts)
        first, second = (f"{name} ({each['run_id']})" for each in (before, after))
        yield from unified_diff(old, new, first, second, lineterm="")

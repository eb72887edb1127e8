"""The top of the page: how the run ended, why it failed, its warnings, and the facts of it."""

from __future__ import annotations

from markupsafe import Markup

from gpuetl.report.html.elements import EMPTY, Child, facts, joined, preformatted, tag
from gpuetl.report.run_report import RunReport, StageReport, place_of
from gpuetl.units import count, duration, size, timestamp

SIGNS = {"done": "✓", "interrupted": "■"}
FAILURES = {
    "error": "Failed", "invalid": "Cannot run", "expectations": "Expectations failed", "out of memory": "Out of memory",
    "interrupted": "Interrupted", "bug": "Failed by a bug in gpuetl",
}  # fmt: skip


def header(report: RunReport) -> Markup:
    """Return the name of the pipeline, and how its run ended."""
    return tag(
        "header",
        tag("p", "gpuetl run", class_="kicker"),
        tag("h1", report.pipeline),
        tag("p", badge(report), " ", outcome(report), class_="status"),
    )


def badge(report: RunReport) -> Markup:
    """Return the status with its sign: no status is shown by color alone."""
    kind = {"done": "good", "interrupted": "warn"}.get(report.status, "bad")
    return tag("strong", f"{SIGNS.get(report.status, '✗')} {report.status.capitalize()}", class_=f"badge {kind}")


def outcome(report: RunReport) -> str:
    """Return in a few words what the run took and gave."""
    parts = [f"in {duration(report.duration_s or sum(report.seconds.values()))}"]
    if report.device:
        parts.append(f"on {place_of(report.device)}")
    if report.sinks:
        rows = sum(sink.rows for sink in report.sinks)
        sinks = f"{len(report.sinks)} sink{'s' * (len(report.sinks) != 1)}"
        parts.append(f"· {count(rows)} row{'s' * (rows != 1)} written to {sinks}")
    return " ".join(parts)


def failure_panel(report: RunReport) -> Markup:
    """Return why the run failed: the kind, the stage, the code and the message; nothing for one that succeeded."""
    if not report.error:
        return EMPTY
    failure = report.failure
    if failure is None:
        return tag("div", preformatted(report.error), class_="panel bad", role="alert")
    stage = failed_stage(report)
    rows = f"{count(stage.rows_in)} rows in, {count(stage.rows_out)} out" if stage else ""
    pairs: list[tuple[str, Child]] = [
        ("Where", failure.where),
        ("Code", joined((tag("code", failure.code), " · gpuetl explain ", failure.code)) if failure.code else ""),
        ("Rows until then", rows),
        ("Sinks", failure.outcome),
    ]
    return tag(
        "section", tag("h2", FAILURES[failure.kind], id="failure"), facts(pairs), preformatted(failure.message),
        class_="panel bad", role="alert", aria_labelledby="failure",
    )  # fmt: skip


def failed_stage(report: RunReport) -> StageReport | None:
    """Return what was done of the stage, source or sink that failed; None where that is not known."""
    failure = report.failure
    if failure is None:
        return None
    return next((one for one in report.stages if (one.kind, one.name) == (failure.relation, failure.name)), None)


def warnings_panel(report: RunReport) -> Markup:
    """Return the warnings of the run."""
    if not report.warnings:
        return EMPTY
    title = f"{len(report.warnings)} warning{'s' * (len(report.warnings) != 1)}"
    items = (tag("li", warning) for warning in report.warnings)
    return tag(
        "section", tag("h2", title, id="warnings"), tag("ul", *items), class_="panel warn", aria_labelledby="warnings"
    )


def run_facts(report: RunReport) -> Markup:
    """Return when, where and on what the run ran."""
    place = report.environment
    peak = max((curve.peak for curve in report.memory_curves), default=0)
    pairs: list[tuple[str, Child]] = [
        ("Started", timestamp(report.started) if report.started else ""),
        ("Duration", duration(report.duration_s)),
        ("Engine", joined((tag("b", report.engine), f" · {report.reason}" if report.reason else ""))),
        ("GPU", gpu_names(place.gpus) if place else ""),
        ("Host", f"{place.host} · {place.processor}, {place.threads} threads, {size(place.memory)}" if place else ""),
        ("Memory", f"{size(peak)} peak of {size(report.expected_memory)} planned" if peak else ""),
        ("Versions", ", ".join(f"{name} {found}" for name, found in place.versions.items()) if place else ""),
        ("Run", report.run_id),
        ("Plan", report.fingerprint),
    ]
    return facts(pairs)


def gpu_names(gpus: tuple[str, ...]) -> str:
    """Return the names of GPUs, equal ones once: `4 × NVIDIA H200`."""
    names = dict.fromkeys(gpus)
    return ", ".join(f"{gpus.count(name)} × {name}" if gpus.count(name) > 1 else name for name in names)

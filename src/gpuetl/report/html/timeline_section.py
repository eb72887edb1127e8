"""When each phase, source, stage and sink was at work, with files that were written and kernels that were compiled."""

from __future__ import annotations

from markupsafe import Markup

from gpuetl.report.html.charts import strip
from gpuetl.report.html.elements import EMPTY, section, tag
from gpuetl.report.run_report import RunReport
from gpuetl.telemetry.timeline import TrackReport
from gpuetl.units import duration

KINDS = {
    "phase": "phase", "source": "io", "stage": "work", "expect": "work", "statistics": "work", "sink": "io",
    "write": "io", "compilation": "compile", "spill": "spill", "worker": "phase",
}  # fmt: skip
"""The color of each kind of track."""
LEGEND = (
    ("phase", "phase"),
    ("work", "stage"),
    ("io", "reads and writes"),
    ("compile", "compilation"),
    ("spill", "spill"),
)
NAMES = {
    "phase": "",
    "expect": "expectations of",
    "write": "files of",
    "statistics": "statistics of",
    "spill": "spilled frames",
}
TICKS = 5
MOST_TRACKS = 60


def timeline_section(report: RunReport) -> Markup:
    """Return the timeline, a row for each track; nothing where nothing was recorded."""
    tracks = report.timeline[:MOST_TRACKS]
    if not tracks:
        return EMPTY
    whole = max(report.duration_s, *(track.intervals[-1][1] for track in tracks))
    failed = (report.failure.relation, report.failure.name) if report.failure else None
    rows = (track_row(track, whole, (track.kind, track.name) == failed) for track in tracks)
    used = {KINDS.get(track.kind, "work") for track in tracks}
    more = len(report.timeline) - len(tracks)
    note = f"and {more} more that began later" if more else ""
    return section(
        "Timeline",
        legend(used),
        tag("div", *rows, axis(whole), class_="timeline"),
        tag("p", note, class_="lead") if note else None,
        note="When each part was at work, on its own track. On a cluster, workers share the tracks of stages.",
    )


def track_row(track: TrackReport, whole_s: float, is_failed: bool) -> Markup:
    """Return the name of a track, its intervals, and how long it was at work."""
    label = " ".join(filter(None, (NAMES.get(track.kind, track.kind), track.name)))
    kind = "failed" if is_failed else KINDS.get(track.kind, "work")
    busy = duration(track.busy_s)
    first, last = track.intervals[0][0], track.intervals[-1][1]
    title = f"{label}: {busy}, from {duration(first)} to {duration(last)}"
    return tag(
        "div",
        tag("span", label, class_="name", title=label),
        tag("span", strip(track.intervals, whole_s, kind, title), class_="chart"),
        tag("span", busy, class_="number"),
        class_="row",
    )


def axis(whole_s: float) -> Markup:
    """Return the times below the tracks."""
    ticks = (tag("span", duration(whole_s * place / (TICKS - 1)) if place else "0") for place in range(TICKS))
    return tag("div", tag("span"), tag("span", *ticks, class_="axis"), tag("span"), class_="row", aria_hidden="true")


def legend(used: set[str]) -> Markup:
    """Return what the colors stand for."""
    items = (
        tag("li", tag("span", class_=f"swatch {kind}", aria_hidden="true"), name)
        for kind, name in LEGEND
        if kind in used
    )
    return tag("ul", *items, class_="legend")

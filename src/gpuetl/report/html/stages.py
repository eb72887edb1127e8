"""What each source, stage and sink did, and how close it came to the slowest link that it used."""

from __future__ import annotations

from typing import get_args

from markupsafe import Markup

from gpuetl.report.funnel_lines import rows_in, rows_out
from gpuetl.report.html.elements import EMPTY, Column, bar, details, joined, section, table, tag
from gpuetl.report.limits import Limit
from gpuetl.report.run_report import RunReport, StageReport, place_of
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.units import duration, rate, rounded_percent, size

COLUMNS = (
    Column("name"), Column("time", "right"), Column("share of all work"), Column("limited by"),
    Column("rows in", "right"), Column("rows out", "right"), Column("file bytes", "right"),
    Column("waited for", "right"), Column("peak memory", "right"), Column("on"),
)  # fmt: skip
SUMMED = "Seconds of work, summed over threads and workers. "
NEAR = "A stage near 100 % of its slowest link cannot be faster on this machine."


def stages_section(report: RunReport) -> Markup:
    """Return the table of sources, stages and sinks; nothing where none began."""
    if not report.stages:
        return EMPTY
    whole = sum(stage.seconds for stage in report.stages)
    sizes = {sink.name: sink.file_bytes for sink in report.sinks}
    failed = (report.failure.relation, report.failure.name) if report.failure else None
    mixed = report.device == "MIXED"
    rows = [stage_row(stage, whole, sizes, mixed) for stage in report.stages]
    classes = ["failed" if (stage.kind, stage.name) == failed else None for stage in report.stages]
    has_limits = any(stage.limit for stage in report.stages)
    measure = joined(("Run ", tag("code", "gpuetl bench device"), " once to compare stages with this machine's links."))
    note = joined((SUMMED, NEAR if has_limits else measure))
    return section("Stages", table("Sources, stages and sinks", COLUMNS, rows, classes), moved_table(report), note=note)


def stage_row(stage: StageReport, whole_s: float, sizes: dict[str, int], mixed: bool) -> list[str | Markup]:
    """Return the cells of one stage."""
    share = stage.seconds / whole_s if whole_s else 0.0
    file_bytes = sizes.get(stage.name, 0) if stage.kind == "sink" else stage.file_bytes
    return [
        joined((stage.name, " ", tag("span", stage.kind, class_="kind"))),
        duration(stage.seconds),
        bar(share, rounded_percent(share)),
        limit_bar(stage.limit),
        rows_in(stage),
        rows_out(stage),
        size(file_bytes) if file_bytes else "",
        "" if stage.waited is None else duration(stage.waited),
        "" if stage.peak_bytes is None else size(stage.peak_bytes),
        place_of(stage.device) if mixed else "",
    ]


def limit_bar(limit: Limit | None) -> Markup:
    """Return how much of its slowest link a stage used: `host to device, 86 % of 45 GB/s`."""
    if limit is None:
        return EMPTY
    title = f"its bytes alone take {duration(limit.seconds)} at the measured {rate(limit.bytes_per_s)}"
    return bar(limit.share, str(limit), title, "limit")


def moved_table(report: RunReport) -> Markup:
    """Return the bytes of each stage over each link that any of them used."""
    links: list[Link] = [link for link in get_args(Link) if any(stage.moved.get(link) for stage in report.stages)]
    if not links:
        return EMPTY
    rows = [
        [stage.name, *(size(stage.moved[link]) if stage.moved.get(link) else "" for link in links)]
        for stage in report.stages
        if any(stage.moved.values())
    ]
    columns = [Column("name"), *(Column(link, "right") for link in links)]
    return details("Bytes over each link", table("Least bytes that crossed each link", columns, rows))

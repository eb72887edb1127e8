"""A run in a few lines of HTML, for notebooks."""

from __future__ import annotations

from gpuetl.report.funnel_lines import rows_in, rows_out
from gpuetl.report.html.elements import Column, joined, table, tag
from gpuetl.report.html.status import badge, failure_panel, outcome, warnings_panel
from gpuetl.report.run_report import RunReport
from gpuetl.units import count, duration, size

STAGES = (
    Column("name"), Column("kind"), Column("rows in", "right"), Column("rows out", "right"), Column("time", "right"),
)  # fmt: skip
SINKS = (Column("sink"), Column("rows", "right"), Column("size", "right"), Column("path"))


def summary_html(report: RunReport) -> str:
    """Return how a run ended, its warnings, stages and sinks, as a part of a page.

    It has no style of its own: the classes are those of the report's page.
    """
    stages = [
        [stage.name, stage.kind, rows_in(stage), rows_out(stage), duration(stage.seconds)] for stage in report.stages
    ]
    sinks = [[sink.name, count(sink.rows), size(sink.file_bytes), sink.path] for sink in report.sinks]
    parts = joined(
        (
            tag("p", tag("b", report.pipeline), " ", badge(report), " ", outcome(report), f" · engine {report.engine}"),
            failure_panel(report),
            warnings_panel(report),
            table("Sources, stages and sinks", STAGES, stages) if stages else None,
            table("What was written", SINKS, sinks) if sinks else None,
        )
    )
    return str(tag("div", parts, class_="gpuetl-run"))

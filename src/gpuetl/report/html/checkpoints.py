"""Checkpoints of stages: which were read, written or lost."""

from __future__ import annotations

from markupsafe import Markup

from gpuetl.report.html.elements import EMPTY, Column, section, table
from gpuetl.report.run_report import RunReport
from gpuetl.units import count, duration, size

COLUMNS = (
    Column("stage"), Column("checkpoint"), Column("rows", "right"), Column("size", "right"),
    Column("thread time", "right"), Column("of run"), Column("engine"), Column("path"),
)  # fmt: skip


def checkpoints_section(report: RunReport) -> Markup:
    """Return what became of the checkpoints; nothing without any."""
    if not report.checkpoints:
        return EMPTY
    rows = [
        [
            one.stage, f"{one.state}: {one.why}" if one.why else one.state, count(one.rows), size(one.bytes),
            duration(one.seconds), one.run_id, one.engine, one.path,
        ]
        for one in report.checkpoints
    ]  # fmt: skip
    return section("Checkpoints", table("Checkpoints of stages", COLUMNS, rows))

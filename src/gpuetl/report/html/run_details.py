"""The end of the page: parameters, notes, phases, optimizer passes, and where the trace is."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from gpuetl.report.html.elements import EMPTY, Column, bar, details, joined, section, table, tag
from gpuetl.report.run_report import RunReport
from gpuetl.units import duration, rounded_percent

PHASES = (Column("phase"), Column("time", "right"), Column("share"))
PASSES = (Column("pass"), Column("time", "right"))
PARAMETERS = (Column("parameter"), Column("value"))


def parameters_section(report: RunReport) -> Markup:
    """Return the values of parameters; nothing for a pipeline without any."""
    if not report.params:
        return EMPTY
    rows = [[name, tag("code", value)] for name, value in report.params.items()]
    return section("Parameters", table("Parameters of the run", PARAMETERS, rows))


def notes_section(report: RunReport) -> Markup:
    """Return the notes of the run."""
    if not report.notes:
        return EMPTY
    return section("Notes", tag("ul", *(tag("li", note) for note in report.notes), class_="notes"))


def phases_section(report: RunReport, folder: Path) -> Markup:
    """Return the phases, the optimizer's passes, and a link to the trace from the folder of the page."""
    if not report.seconds:
        return EMPTY
    whole = sum(report.seconds.values())
    rows = [
        [name, duration(seconds), bar(seconds / whole, rounded_percent(seconds / whole)) if whole else ""]
        for name, seconds in report.seconds.items()
    ]
    passes = [[name, duration(seconds)] for name, seconds in report.passes.items()]
    return section(
        "Phases",
        table("Wall time of each phase", PHASES, rows),
        details("Optimizer passes", table("Optimizer passes", PASSES, passes)) if passes else None,
        trace_line(report, folder),
    )


def trace_line(report: RunReport, folder: Path) -> Markup:
    """Return a link to the trace."""
    if not report.trace:
        return EMPTY
    link = tag("a", report.trace, href=quote(os.path.relpath(report.trace, folder)))
    return tag("p", joined(("Trace: ", link, ", which opens in ui.perfetto.dev.")))

"""The page: one file, with the style in it, no scripts, and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from markupsafe import Markup

from gpuetl.report.html.checkpoints import checkpoints_section
from gpuetl.report.html.cluster import spilled_section
from gpuetl.report.html.elements import joined, preformatted, tag
from gpuetl.report.html.expectations import expectations_section
from gpuetl.report.html.funnel_section import funnel_section
from gpuetl.report.html.graph_section import graph_section
from gpuetl.report.html.memory_section import memory_section
from gpuetl.report.html.run_details import notes_section, parameters_section, phases_section
from gpuetl.report.html.sinks import sinks_section
from gpuetl.report.html.stages import stages_section
from gpuetl.report.html.status import failure_panel, header, run_facts, warnings_panel
from gpuetl.report.html.timeline_section import timeline_section
from gpuetl.report.run_report import RunReport
from gpuetl.uncaught import unexpected

STYLE = Path(__file__).with_name("report.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load: nothing.  Styles are in the page."""


SECTIONS = (
    failure_panel, warnings_panel, run_facts, graph_section, timeline_section, stages_section, funnel_section,
    expectations_section, checkpoints_section, spilled_section, sinks_section,
)  # fmt: skip


def made(section: Callable[[RunReport], Markup], report: RunReport) -> Markup:
    """Return a section, or why it cannot be made: the reader of a failed run needs the others."""
    try:
        return section(report)
    except Exception as error:
        title = tag("p", "This part of the report cannot be shown:")
        return tag("section", title, *map(preformatted, unexpected(error)))


def page(report: RunReport, folder: Path = Path()) -> str:
    """Return the page of a report that is to lie in `folder`; links to other files begin there."""
    sections = joined(made(section, report) for section in SECTIONS)
    columns = [made(section, report) for section in (memory_section, partial(phases_section, folder=folder))]
    columns += [made(section, report) for section in (parameters_section, notes_section)]
    body = joined((header(report), tag("main", sections, tag("div", *columns, class_="columns"))))
    return str(Markup("<!doctype html>\n{}\n").format(tag("html", head(report), tag("body", body), lang="en")))


def head(report: RunReport) -> Markup:
    """Return the head of the page."""
    style = Markup(STYLE.read_text(encoding="utf-8"))
    return joined(
        (
            Markup("<head><meta charset='utf-8'>"),
            Markup("<meta name='viewport' content='width=device-width, initial-scale=1'>"),
            Markup("<meta http-equiv='Content-Security-Policy' content=\"{}\">").format(Markup(POLICY)),
            Markup("<meta name='color-scheme' content='light dark'><link rel='icon' href='data:,'>"),
            tag("title", f"{report.pipeline}: {report.status}"),
            tag("style", style),
            Markup("</head>"),
        )
    )

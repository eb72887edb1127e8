"""The page: one file, with the style in it, no scripts, and nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from gpuetl.report.html.cluster import spilled_section
from gpuetl.report.html.elements import joined, tag
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

STYLE = Path(__file__).with_name("report.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load: nothing.  Styles are in the page."""


def page(report: RunReport, folder: Path = Path()) -> str:
    """Return the page of a report that is to lie in `folder`; links to other files begin there."""
    body = joined(
        (
            header(report),
            tag(
                "main",
                failure_panel(report),
                warnings_panel(report),
                run_facts(report),
                graph_section(report),
                timeline_section(report),
                stages_section(report),
                funnel_section(report),
                expectations_section(report),
                spilled_section(report),
                sinks_section(report),
                tag(
                    "div",
                    memory_section(report),
                    phases_section(report, folder),
                    parameters_section(report),
                    notes_section(report),
                    class_="columns",
                ),
            ),
        )
    )
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

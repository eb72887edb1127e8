"""The graph of sources, stages and sinks, with rows and seconds on its edges."""

from __future__ import annotations

from markupsafe import Markup

from gpuetl.report.graph import draw_svg
from gpuetl.report.html.elements import EMPTY, section, tag
from gpuetl.report.run_graph import run_graph
from gpuetl.report.run_report import RunReport


def graph_section(report: RunReport) -> Markup:
    """Return the graph; nothing for a report that does not know what the pipeline declares."""
    if not report.declared:
        return EMPTY
    drawing = Markup(draw_svg(*run_graph(report)))
    note = "Rows that went from one to the other, and the seconds of what they come from."
    frame = tag("div", drawing, class_="graph", tabindex="0", role="region", aria_label="Graph of the pipeline")
    return section("Pipeline", frame, note=note)

"""The memory in use over time, against what the plan expected and what there was."""

from __future__ import annotations

from markupsafe import Markup

from gpuetl.report.html.charts import area, level, svg
from gpuetl.report.html.elements import EMPTY, Column, bar, joined, section, table, tag
from gpuetl.report.run_report import RunReport
from gpuetl.telemetry.memory_samples import MemoryCurve
from gpuetl.units import duration, size

MOST_CURVES = 16
HOST = "Host memory: what the process took beyond what it had when the run began."
DEVICE = "GPU memory that allocations of this process take."
CLUSTER = (
    "Memory of each worker at the ends of its tasks. Host memory is what it took beyond what it had before the run."
)


def memory_section(report: RunReport) -> Markup:
    """Return the curves, and the peaks of a profiled run; nothing where nothing was measured."""
    curves = report.memory_curves[:MOST_CURVES]
    if not curves and not report.memory:
        return EMPTY
    end = max([report.duration_s, *(curve.samples[-1][0] for curve in curves)])
    note = CLUSTER if report.workers else DEVICE if curves and curves[0].where == "GPU" else HOST
    return section(
        "Memory",
        joined(curve_figure(curve, report, end) for curve in curves),
        peaks_table(report),
        note=note,
    )


def curve_figure(curve: MemoryCurve, report: RunReport, end_s: float) -> Markup:
    """Return one curve with the plan's expectation as a line, and the numbers below it."""
    planned, peak = report.expected_memory, curve.peak
    most = max(peak, planned, 1) * 1.08
    label = f"{curve.where}: {size(peak)} peak, {size(planned)} planned"
    drawing = svg(
        area(curve.samples, end_s, most, "used"),
        level(planned, most, "planned") if planned else EMPTY,
        class_="curve",
        label=label,
    )
    parts = [
        tag("span", tag("span", class_="swatch used"), f"{size(peak)} peak"),
        tag("span", tag("span", class_="swatch planned"), f"{size(planned)} planned") if planned else None,
        tag("span", f"{size(report.memory_budget)} allowed") if report.memory_budget else None,
    ]
    caption = tag("figcaption", tag("b", curve.where), *parts)
    scale = tag("div", tag("span", "0"), tag("span", duration(end_s)), class_="axis", aria_hidden="true")
    return tag("figure", caption, drawing, scale, class_="memory")


def peaks_table(report: RunReport) -> Markup:
    """Return the peaks that a profiled run measured, against the plan."""
    if not report.memory:
        return EMPTY
    most = max([*report.memory.values(), report.expected_memory])
    rows = [[what, size(peak), bar(peak / most)] for what, peak in report.memory.items()]
    rows.append(["planned", size(report.expected_memory), bar(report.expected_memory / most, kind="plan")])
    return table("Peaks, measured", (Column("memory"), Column("most", "right"), Column("")), rows)

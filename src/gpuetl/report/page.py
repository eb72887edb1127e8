"""The report as one HTML page, for people: no scripts, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from html import escape as escape_html
from typing import TYPE_CHECKING, Any

from gpuetl.messages import one_line
from gpuetl.report.steps import STEP_COLUMNS, rows_in, rows_out, step_lines
from gpuetl.value_texts import values_of

if TYPE_CHECKING:
    from gpuetl.report.report import RunReport

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #d8dee4; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
"""
NUMBER = " class='number'"


def report_page(report: RunReport) -> str:
    """Return the page: engine, warnings, stages, steps, sinks, phases, passes, notes, first rows of each sink."""
    sinks = [(s.name, s.rows, s.files, s.file_bytes, s.path + " (unchanged)" * (not s.written)) for s in report.sinks]
    peaks = {**report.memory, "expected memory": report.expected_memory}
    parts = [
        f"<h1>{escape(report.pipeline)}</h1>",
        f"<p>Run {escape(report.run_id)} on engine {escape(report.engine)} ({escape(report.reason)}), {report.device}, "
        f"plan {report.fingerprint}.</p>",
        *(f"<p><strong>Warning:</strong> {escape(warning)}</p>" for warning in report.warnings),
        stage_table(report),
        *([checks_table(report)] if report.checks else []),
        table("Rows in and out of every step", STEP_COLUMNS, step_lines(report), numbers=("rows in", "rows out")),
        table("Sinks", ("name", "rows", "files", "bytes", "path"), sinks),
        table("Peak memory", ("of", "bytes"), peaks.items()),
        *([table("Spilled", ("link", "bytes"), report.spilled.items())] if report.spilled else []),
        table("Phases", ("phase", "seconds"), report.seconds.items()),
        *([table("Optimizer passes", ("pass", "seconds"), report.passes.items())] if report.passes else []),
        *(f"<p>Note: {escape(remark)}</p>" for remark in report.notes),
        *(
            table(f"First rows of {name}", head.column_names, zip(*map(values_of, head.columns), strict=True))
            for name, head in report.head.items()
        ),
    ]
    head = f"<meta charset='utf-8'><title>{escape(report.pipeline)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'>{head}" + "\n".join(parts) + "</html>\n"


def escape(text: str) -> str:
    """Return what a page shows as this text."""
    return escape_html(one_line(text))


def stage_table(report: RunReport) -> str:
    """Return the stages, with the bytes over each link that any of them used, and what limits each."""
    links = sorted({link for stage in report.stages for link in stage.moved})
    names = ("kind", "name", "rows in", "rows out", "seconds", "waited", "on", *links, "peak memory", "limited by")
    rows = (
        (
            s.kind, s.name, rows_in(s), rows_out(s), s.seconds, s.waited, s.device, *map(s.moved.get, links),
            s.peak_bytes, s.limit,
        )
        for s in report.stages
    )  # fmt: skip
    return table("Stages", names, rows, numbers=("rows in", "rows out"))


def checks_table(report: RunReport) -> str:
    """Return what was found of each rule, and the first rows that break those that failed."""
    names = ("stage", "rule", "on_fail", "rows", "broken", "share", "verdict", "in the file")
    rows = (
        (c.stage, c.rule, c.on_fail, c.rows, c.broken, f"{100 * c.share:.3g} %", c.verdict, c.place)
        for c in report.checks
    )
    samples = (
        table(f"Rows that break {c.rule} of {c.stage}", list(c.sample[0]), (row.values() for row in c.sample))
        for c in report.checks
        if c.sample
    )
    return "\n".join([table("Expectations", names, rows), *samples])


def table(title: str, names: Sequence[str], rows: Iterable[Iterable[Any]], numbers: Container[str] = ()) -> str:
    """Return a titled table; `numbers` are the columns of text that stand at the right, as numbers do."""
    heads = "".join(f"<th{NUMBER if name in numbers else ''}>{escape(name)}</th>" for name in names)
    right = [name in numbers for name in names]
    body = "".join(f"<tr>{''.join(map(cell, row, right))}</tr>" for row in rows)
    return f"<h2>{escape(title)}</h2><table><tr>{heads}</tr>{body}</table>"


def cell(value: Any, right: bool = False) -> str:
    """Return a cell; numbers stand at the right."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
        return f"<td{NUMBER}>{text}</td>"
    return f"<td{NUMBER if right else ''}>{'' if value is None else escape(str(value))}</td>"

"""What objects show of themselves in a notebook: HTML without scripts, in the colors of the page around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import pyarrow as pa

from gpuetl.errors import GpuetlError
from gpuetl.messages import cut, one_line, printable
from gpuetl.report.funnel_lines import rows_in, rows_out
from gpuetl.report.graph import Graph, draw_svg
from gpuetl.report.run_report import RunReport
from gpuetl.report.text_tables import count_text, value_text
from gpuetl.types.data_types import is_number, type_name
from gpuetl.types.schema import Schema
from gpuetl.units import duration
from gpuetl.value_texts import values_of

MOST_COLUMNS = 40
# JupyterLab puts all cells at the right, by a rule that is more specific than these.
STYLE = (
    "<style>"
    ".gpuetl{overflow-x:auto;margin:.25em 0}"
    ".gpuetl table{border-collapse:collapse;margin:.25em 0;font-size:.92em}"
    ".gpuetl th,.gpuetl td{padding:.2em .7em;text-align:left!important;white-space:nowrap;"
    "border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top}"
    ".gpuetl .number{text-align:right!important;font-variant-numeric:tabular-nums}"
    ".gpuetl .faint{opacity:.65;font-weight:normal}"
    ".gpuetl p{margin:.25em 0}"
    ".gpuetl .bad{color:#cf222e;font-weight:600}"
    ".gpuetl pre{margin:.25em 0;white-space:pre-wrap}"
    "</style>"
)


def page(*parts: str) -> str:
    """Return the element that holds what an object shows."""
    return f'{STYLE}<div class="gpuetl">{"".join(parts)}</div>'


def error_page(error: GpuetlError) -> str:
    """Return the message of an error."""
    return page(f'<pre class="bad">{text(printable(str(error)), lines=True)}</pre>')


def text(value: str, lines: bool = False) -> str:
    """Return a text for a page."""
    return escape(value if lines else one_line(value))


def paragraph(value: str, kind: str = "") -> str:
    """Return a paragraph of text."""
    return f"<p{f' class={kind}' if kind else ''}>{text(value)}</p>"


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return a table of texts that are escaped already; `numbers` are the columns whose cells stand at the right."""
    kinds = [' class="number"' if number else "" for number in numbers]
    head = "".join(f"<th{kind}>{cell}</th>" for kind, cell in zip(kinds, heads, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{cell}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


# Rows and schemas.


def rows_page(table: pa.Table, total: int, warnings: Iterable[str] = ()) -> str:
    """Return the first rows of a table with names and types, and the number of all."""
    return page(rows_table(table, total), *warning_parts(warnings))


def rows_table(table: pa.Table, total: int) -> str:
    """Return the table of rows, and the line below it."""
    shown = table.select(range(min(table.num_columns, MOST_COLUMNS)))
    heads = [f'{text(f.name)}<br><span class="faint">{text(type_name(f.type))}</span>' for f in shown.schema]
    cells = [[cell(value) for value in values_of(column)] for column in shown.columns]
    rows = zip(*cells, strict=True) if cells else ()
    drawn = table_of(heads, rows, [is_number(field.type) for field in shown.schema])
    return drawn + paragraph(count_text(table.num_rows, total, table.num_columns - shown.num_columns), "faint")


def cell(value: object) -> str:
    """Return a value for a cell."""
    return '<span class="faint">null</span>' if value is None else text(value_text(value))


def schema_table(schema: Schema) -> str:
    """Return the columns with their types."""
    names = list(schema.items())
    rows = [(text(name), f'<span class="faint">{text(type_name(dtype))}</span>') for name, dtype in names]
    more = len(rows) - MOST_COLUMNS
    end = paragraph(f"{more} more columns", "faint") if more > 0 else ""
    return table_of(("column", "type"), rows[:MOST_COLUMNS], (False, False)) + end


def warning_parts(warnings: Iterable[str]) -> list[str]:
    """Return a paragraph for each warning."""
    return [f"<p><strong>Warning:</strong> {text(warning)}</p>" for warning in warnings]


def table_page(name: str, steps: str, schema: Schema, rows: pa.Table | None, total: int | None) -> str:
    """Return a table that may not be computed yet: its steps and columns, and rows if there are any."""
    head = f"<p><strong>{text(name)}</strong>{f' <code>{text(cut(steps, 400))}</code>' if steps else ''}</p>"
    if rows is None:
        hint = paragraph("No rows are computed yet: head() and show() compute the first ones.", "faint")
        return page(head, schema_table(schema), hint)
    known = rows.num_rows if total is None else total
    first = paragraph("The first rows, which are kept:", "faint") if total is None else ""
    return page(head, first, rows_table(rows.slice(0, 10), known))


# Pipelines and reports.


def graph_page(title: str, graph: Graph, lines: Iterable[str]) -> str:
    """Return the graph of a pipeline, with lines below it."""
    return page(draw_svg(*graph, title=title), *(paragraph(line, "faint") for line in lines))


def report_parts(report: RunReport) -> list[str]:
    """Return what a run did: its summary, error, warnings, stages, rules and sinks."""
    parts = [paragraph(report.summary)]
    if report.error:
        parts.append(f'<pre class="bad">{text(printable(report.error), lines=True)}</pre>')
    parts += warning_parts(report.warnings)
    if report.stages:
        rows = [tuple(map(text, (s.kind, s.name, rows_in(s), rows_out(s), duration(s.seconds)))) for s in report.stages]
        parts.append(table_of(("kind", "name", "rows in", "rows out", "time"), rows, (False, False, *[True] * 3)))
    if report.checks:
        rules = [tuple(map(text, (c.stage, c.rule, f"{c.rows:,}", f"{c.broken:,}", c.verdict))) for c in report.checks]
        heads = ("stage", "rule", "rows", "broken", "verdict")
        parts.append(table_of(heads, rules, (False, False, True, True, False)))
    if report.sinks:
        sinks = [tuple(map(text, (s.name, f"{s.rows:,}", f"{s.files:,}", s.path))) for s in report.sinks]
        parts.append(table_of(("sink", "rows", "files", "path"), sinks, (False, True, True, False)))
    return parts + [paragraph(f"Note: {remark}", "faint") for remark in report.notes]


def report_page_of(report: RunReport) -> str:
    """Return a report."""
    return page(*report_parts(report))


def run_page(report: RunReport, graph: Graph | None, kept: Iterable[str]) -> str:
    """Return a run: the graph with rows on its edges, the report, and the names of the results."""
    names = ", ".join(kept)
    drawn = draw_svg(*graph, title=report.pipeline) if graph else ""
    return page(drawn, *report_parts(report), paragraph(f"Results: {names}" if names else "No results are kept."))


def verdict_page(summary: str, heads: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]) -> str:
    """Return verdicts, such as those of `verify` and of tests: a summary, a line for each, and notes."""
    escaped = [tuple(map(text, row)) for row in rows]
    return page(
        paragraph(summary),
        table_of(heads, escaped, [False] * len(heads)),
        *(paragraph(note, "faint") for note in notes),
    )

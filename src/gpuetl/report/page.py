"""The report as one HTML page, for people: no scripts, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape as escape_html
from itertools import compress
from typing import TYPE_CHECKING, Any

from gpuetl.messages import one_line, printable
from gpuetl.report.steps import STEP_COLUMNS, rows_in, rows_out, step_lines
from gpuetl.value_texts import values_of

if TYPE_CHECKING:
    from gpuetl.report.report import RunReport

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
       background: light-dark(#fff, #16191d); color: light-dark(#1b1f24, #d7dce2); overflow-wrap: anywhere; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; overflow-wrap: normal; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid light-dark(#d8dee4, #3a4149);
         vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.failed { color: light-dark(#b3261e, #ff9a91); font-weight: 600; }
pre { overflow-x: auto; }
"""
NUMBER = " class='number'"
TIMES = ("seconds", "waited")


def report_page(report: RunReport) -> str:
    """Return the page: engine, warnings, stages, steps, sinks, phases, passes, notes, first rows of each sink."""
    sinks = [(s.name, s.rows, s.files, s.file_bytes, s.path + " (unchanged)" * (not s.written)) for s in report.sinks]
    peaks = {**report.memory, "expected memory": report.expected_memory}
    parts = [
        f"<h1>{escape(report.pipeline)}</h1>",
        f"<p>Run {escape(report.run_id)} on engine {escape(report.engine)} ({escape(report.reason)}), {report.device}"
        f"{', plan ' * bool(report.fingerprint)}{report.fingerprint}.</p>",
        *failure(report),
        *(f"<p><strong>Warning:</strong> {escape(warning)}</p>" for warning in report.warnings),
        *([stage_table(report)] if report.stages else []),
        *([checks_table(report)] if report.checks else []),
        *([steps_table(report)] if report.stages else []),
        *([table("Sinks", ("name", "rows", "files", "bytes", "path"), sinks)] if sinks else []),
        *([table("Memory", ("of", "bytes"), peaks.items())] if any(peaks.values()) else []),
        *([table("Spilled", ("link", "bytes"), report.spilled.items())] if report.spilled else []),
        table("Phases", ("phase", "seconds"), timed(report.seconds)),
        *([table("Optimizer passes", ("pass", "seconds"), timed(report.passes))] if report.passes else []),
        *(f"<p>Note: {escape(remark)}</p>" for remark in report.notes),
        *(
            table(f"First rows of {name}", head.column_names, zip(*map(values_of, head.columns), strict=True))
            for name, head in report.head.items()
        ),
    ]
    view = "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    head = f"<meta charset='utf-8'>{view}<title>{escape(report.pipeline)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'>{head}" + "\n".join(parts) + "</html>\n"


def failure(report: RunReport) -> Iterator[str]:
    """Yield what a run that failed says, its first line apart; nothing of one that did not fail."""
    if report.error:
        first, _, more = report.error.partition("\n")
        yield f"<p class='failed'>Failed: {escape(first)}</p>"
        if more.strip():
            yield f"<pre>{escape_html(printable(more))}</pre>"


def timed(seconds: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Yield names and their seconds."""
    return ((name, seconds_text(value)) for name, value in seconds.items())


def seconds_text(seconds: float | None) -> str:
    """Return seconds to the millisecond; nothing where they were not measured."""
    return "" if seconds is None else "< 0.001" if 0 < seconds < 0.0005 else f"{seconds:,.3f}"


def steps_table(report: RunReport) -> str:
    """Return the rows in and out of every step."""
    return table("Rows in and out of every step", STEP_COLUMNS, step_lines(report), numbers=("rows in", "rows out"))


def escape(text: str) -> str:
    """Return what a page shows as this text."""
    return escape_html(one_line(text))


def stage_table(report: RunReport) -> str:
    """Return the stages, with the bytes over each link that any of them used, and what limits each.

    Columns in which no stage has anything are left out.
    """
    links = sorted({link for stage in report.stages for link in stage.moved})
    names = ("kind", "name", "rows in", "rows out", "seconds", "waited", "on", *links, "peak memory", "limited by")
    rows = [
        (
            s.kind, s.name, rows_in(s), rows_out(s), seconds_text(s.seconds), seconds_text(s.waited), s.device,
            *map(s.moved.get, links), s.peak_bytes, s.limit,
        )
        for s in report.stages
    ]  # fmt: skip
    used = [any(row[place] not in (None, "") for row in rows) for place in range(len(names))]
    shown = (list(compress(row, used)) for row in rows)
    return table("Stages", list(compress(names, used)), shown, numbers=("rows in", "rows out"))


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


def table(title: str, names: Sequence[str], rows: Iterable[Iterable[Any]], numbers: Sequence[str] = ()) -> str:
    """Return a titled table; `numbers` are the columns of text that stand at the right, as numbers do."""
    cells = [list(row) for row in rows]
    right = [name in (*numbers, *TIMES) for name in names]
    at_right = [is_right or any(is_number(row[place]) for row in cells) for place, is_right in enumerate(right)]
    heads = "".join(
        f"<th{NUMBER if is_right else ''}>{escape(name)}</th>" for name, is_right in zip(names, at_right, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(cell, row, right))}</tr>" for row in cells)
    return f"<h2>{escape(title)}</h2><div class='table'><table><tr>{heads}</tr>{body}</table></div>"


def is_number(value: Any) -> bool:
    """Tell whether a value stands at the right of its cell."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: Any, right: bool = False) -> str:
    """Return a cell; numbers stand at the right."""
    if is_number(value):
        text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
        return f"<td{NUMBER}>{text}</td>"
    return f"<td{NUMBER if right else ''}>{'' if value is None else escape(str(value))}</td>"

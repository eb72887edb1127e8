"""Tables on a terminal: plain ones, and that of a run's stages."""

from __future__ import annotations

import sys
from typing import Any, get_args

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpuetl.ceilings.ceiling import Link
from gpuetl.cli.output import raw_stream
from gpuetl.messages import one_line, printable
from gpuetl.report.report import RunReport
from gpuetl.report.steps import STEP_COLUMNS, rows_in, rows_out, step_lines
from gpuetl.sizes import size


class PlainConsole(Console):
    """A terminal that shows each text as it is: no markup, no emoji, and escapes for control characters."""

    def __init__(self, stderr: bool = False, **options: Any) -> None:
        file = raw_stream(sys.stderr if stderr else sys.stdout)
        super().__init__(file=file, markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return what is drawn of a text, also of one in a table."""
        return super().render_str(printable(text), **options)


class PlainTable(Table):
    """A table each of whose cells is one line, unless it is too long for its column."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row of texts."""
        super().add_row(*(one_line(cell) for cell in cells), **options)


def stage_table(report: RunReport) -> Table:
    """Return a line for each source, stage and sink; of a profiled run with the bytes on each link, and the slowest.

    Columns of which nothing is known are left out.
    """
    stages = report.stages
    columns: dict[str, list[str]] = {
        "rows in": [rows_in(stage) for stage in stages],
        "rows out": [rows_out(stage) for stage in stages],
        "seconds": [f"{stage.seconds:.3f}" for stage in stages],
        "waited": ["" if stage.waited is None else f"{stage.waited:.3f}" for stage in stages],
        **(profile_columns(report) if report.memory else {"read": [some(stage.file_bytes) for stage in stages]}),
        "on": [stage.device if report.device == "MIXED" else "" for stage in stages],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    table = new_table(("", "left"), ("name", "left"), *((name, "right") for name in shown))
    for stage, *cells in zip(stages, *shown.values(), strict=True):
        table.add_row(stage.kind, stage.name, *cells)
    return table


def check_table(report: RunReport) -> Table:
    """Return a line for each rule of a stage."""
    table = new_table(
        ("expectation", "left"), ("of stage", "left"), ("on_fail", "left"), ("rows", "right"), ("broken", "right"),
        ("share", "right"), ("verdict", "left"),
    )  # fmt: skip
    for check in report.checks:
        style = {"failed": "red", "warned": "yellow"}.get(check.verdict)
        table.add_row(
            check.rule, check.stage, check.on_fail, f"{check.rows:,}", f"{check.broken:,}",
            f"{100 * check.share:.3g} %", check.verdict, style=style,
        )  # fmt: skip
    return table


def step_table(report: RunReport) -> Table:
    """Return a line for each step of the stages: rows in, rows of a join's or union's other inputs, rows out."""
    table = new_table(*((name, "right" if name.startswith("rows") else "left") for name in STEP_COLUMNS))
    for line in step_lines(report):
        table.add_row(*line)
    return table


def profile_columns(report: RunReport) -> dict[str, list[str]]:
    """Return the bytes over each link, the peak of memory, and what limits each stage."""
    links = {link: [some(stage.moved.get(link)) for stage in report.stages] for link in get_args(Link)}
    peaks = [some(stage.peak_bytes) for stage in report.stages]
    limits = ["" if stage.limit is None else str(stage.limit) for stage in report.stages]
    return {**links, "peak memory": peaks, "limited by": limits}


def some(count: int | None) -> str:
    """Return a number of bytes; nothing for none."""
    return size(count) if count else ""


def new_table(*columns: tuple[str, Any]) -> Table:
    """Return an empty table of these columns, each with the side at which it stands."""
    table = PlainTable(box=SIMPLE_HEAD, pad_edge=False)
    for name, side in columns:
        table.add_column(one_line(name), justify=side, overflow="fold")
    return table

"""Tables that commands print: their columns and rows, and that of a run's stages."""

from __future__ import annotations

from typing import Literal

from gpuetl.messages import one_line
from gpuetl.report.funnel_lines import STEP_COLUMNS, rows_in, rows_out, step_lines
from gpuetl.report.run_report import RunReport, place_of
from gpuetl.units import duration, percent, size

Side = Literal["left", "right"]


class Table:
    """A table whose cells are lines; each column has a name, and the side at which its cells stand."""

    def __init__(self, columns: list[tuple[str, Side]]) -> None:
        self.columns = columns
        self.rows: list[tuple[tuple[str, ...], str | None]] = []

    def add_row(self, *cells: str, style: str | None = None) -> None:
        """Add a row of texts, as many as there are columns; the style is for terminals."""
        self.rows.append((tuple(map(one_line, cells)), style))

    def plain(self) -> str | None:
        """Return the lines that rich draws where there is room for all.

        None for a table without columns or rows, or with an empty column.  None for one with spaces around a cell, too,
        of which rich leaves some out.
        """
        lines = [tuple(name for name, _ in self.columns), *(cells for cells, _ in self.rows)]
        if not self.columns or not self.rows or any(cell != cell.strip() for cells in lines for cell in cells):
            return None
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        if 0 in widths:
            return None
        blank = " " * (sum(widths) + 3 * len(widths) - 1)
        head, *rows = (self._line(cells, widths) for cells in lines)
        return "\n".join([blank, head, f" {'─' * (len(blank) - 2)} ", *rows, blank])

    def _line(self, cells: tuple[str, ...], widths: list[int]) -> str:
        placed = zip(cells, widths, self.columns, strict=True)
        return f" {'   '.join(c.rjust(w) if side == 'right' else c.ljust(w) for c, w, (_, side) in placed)} "


TABLE_WIDTH = 100
"""Of the table with which a run ends."""
LEAST_NAME = 24
OPTIONAL = ("waited", "size", "peak memory", "rows in", "limited by")
"""Columns that are left out, the first one first, where there is no room for all."""


def stage_table(report: RunReport, width: int = TABLE_WIDTH) -> Table:
    """Return a line for each source, stage and sink; of a profiled run with the peak of memory and the slowest link.

    It is at most `width` characters wide: columns without any value are left out, then long names are cut, then
    columns are left out that the report has, too.
    """
    stages = report.stages
    sizes = {sink.name: sink.file_bytes for sink in report.sinks}
    columns: dict[str, list[str]] = {
        "rows in": [rows_in(stage) for stage in stages],
        "rows out": [rows_out(stage) for stage in stages],
        "size": [some(sizes.get(stage.name) if stage.kind == "sink" else stage.file_bytes) for stage in stages],
        "time": [duration(stage.seconds) for stage in stages],
        "waited": ["" if stage.waited is None else duration(stage.waited) for stage in stages],
        "peak memory": [some(stage.peak_bytes) for stage in stages],
        "limited by": ["" if stage.limit is None else str(stage.limit) for stage in stages] if report.memory else [],
        "on": [place_of(stage.device) if report.device == "MIXED" else "" for stage in stages],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    kinds = [stage.kind for stage in stages]
    longest = max((len(stage.name) for stage in stages), default=0)
    for name in OPTIONAL:
        if room_for_names(kinds, shown, width) >= min(longest, LEAST_NAME):
            break
        shown.pop(name, None)
    room = max(LEAST_NAME, room_for_names(kinds, shown, width))
    table = new_table(("", "left"), ("name", "left"), *((name, "right") for name in shown))
    for stage, *cells in zip(stages, *shown.values(), strict=True):
        table.add_row(stage.kind, cut(stage.name, room), *cells)
    return table


def cut(name: str, most: int) -> str:
    """Return a name, cut to `most` characters."""
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def room_for_names(kinds: list[str], columns: dict[str, list[str]], width: int) -> int:
    """Return how wide names may be in a table of these columns: three characters are between two of them."""
    widths = [max(map(len, [name, *cells])) for name, cells in columns.items()]
    return width - max(map(len, kinds), default=0) - sum(widths) - 3 * (len(widths) + 1) - 2


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
            percent(check.share), check.verdict, style=style,
        )  # fmt: skip
    return table


def step_table(report: RunReport) -> Table:
    """Return a line for each step of the stages: rows in, rows of a join's or union's other inputs, rows out."""
    table = new_table(*((name, "right" if name.startswith("rows") else "left") for name in STEP_COLUMNS))
    for line in step_lines(report):
        table.add_row(*line)
    return table


def some(count: int | None) -> str:
    """Return a number of bytes; nothing for none."""
    return size(count) if count else ""


def new_table(*columns: tuple[str, Side]) -> Table:
    """Return an empty table of these columns, each with the side at which it stands."""
    return Table([(one_line(name), side) for name, side in columns])

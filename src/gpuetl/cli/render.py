"""What a run and a verification look like on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gpuetl.cli.console import Console
from gpuetl.cli.tables import TABLE_WIDTH, Table, check_table, cut, new_table, stage_table, step_table
from gpuetl.engines.registry import Choice
from gpuetl.executors.committing import SinkReport
from gpuetl.messages import one_line
from gpuetl.report.run_report import RunReport
from gpuetl.telemetry.recorder import Progress as OnProgress
from gpuetl.telemetry.recorder import silent
from gpuetl.units import size
from gpuetl.value_texts import values_of

# What a run looks like on a terminal: the engine, progress, the tables of the report.


MOST_CHARACTERS = 40, 24
"""Of a text in the first rows, where there is no room for all columns, and where there still is none."""
LEAST_COLUMN = 4
"""The width of the narrowest column, with the spaces behind it."""


class Screen:
    """Prints a run: results on stdout, progress on stderr, where it is drawn only on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.out = Console(quiet)
        self.err = Console(quiet, stderr=True)

    def engine(self, choice: Choice) -> None:
        """Say which engine runs, and why."""
        self.out.print(f"engine: {choice.name} ({choice.reason})")

    @contextmanager
    def progress(self, title: str = "running", live: bool = True) -> Iterator[OnProgress]:
        """Show the sources, stages and sinks as they work, if `live`; without a terminal by a line now and then."""
        if self.quiet or not live:
            yield silent
            return
        if not self.err.is_terminal:
            from gpuetl.cli.progress_lines import progress_lines

            with progress_lines(self.err.print, title) as lines:
                yield lines
            return
        from gpuetl.cli.live_view import live_view

        with live_view(self.err.rich, title) as view:
            yield view

    def report(self, report: RunReport, steps: bool = False) -> None:
        """Print first rows, `steps`, expectations, warnings and notes, what was written, and last the table of stages.

        First rows are those of the last sink; of a run that wrote none, of all stages that it kept.  A run that failed
        has none.
        """
        heads = {} if report.error else report.head
        for name, head in list(heads.items())[-1 if report.sinks else 0 :]:
            self.out.print(f"first rows of {name}:")
            self.out.print(head_table(head))
        if steps:
            self.out.print(step_table(report))
        if report.checks:
            self.out.print(check_table(report))
        for warning in report.warnings:
            self.out.print(f"warning: {warning}", style="yellow")
        for remark in report.notes:
            self.out.print(f"note: {remark}")
        if report.memory:
            peaks = (f"{size(peak)} ({what})" for what, peak in report.memory.items())
            self.out.print(f"peak memory: {', '.join(peaks)}; expected memory: {size(report.expected_memory)}")
        for sink in report.sinks:
            self.out.print(sink_line(sink), soft_wrap=True)
        if report.nothing_new:
            self.out.print("nothing new: no sink has changed")
        else:
            self.out.print(stage_table(report))
        self.out.print(report.summary)
        if report.path:
            self.report_path(report)

    def resumable(self, report: RunReport) -> None:
        """Say which stages a run that failed has kept, so that the next one can go on after them."""
        for one in report.checkpoints:
            if one.state != "lost":
                rows = f"{one.rows:,} row{'s' * (one.rows != 1)}, {size(one.bytes)}"
                self.out.print(f"kept stage {one.stage}: {rows}; run again with --resume to go on from there")

    def report_path(self, report: RunReport) -> None:
        """Say where the report is."""
        self.out.print(f"report: {one_line(report.path)}", soft_wrap=True)


def sink_line(sink: SinkReport) -> str:
    """Say what a sink wrote: `wrote routes_out: 10 rows, 412 B in 1 file: pipelines/out/routes.csv`."""
    if not sink.written:
        return f"left {sink.name} unchanged: {one_line(sink.path)}"
    rows = f"{sink.rows:,} row{'s' * (sink.rows != 1)}"
    files = f"{sink.files:,} file{'s' * (sink.files != 1)}"
    changes = f" ({sink.changes})" if sink.changes else ""
    return f"wrote {sink.name}: {rows}{changes}, {size(sink.file_bytes)} in {files}: {one_line(sink.path)}"


def head_table(head: Any, width: int = TABLE_WIDTH) -> Table:
    """Return the first rows of a result, at most `width` characters wide.

    Where there is no room for all, long texts are cut, and then the last columns are left out and counted.
    """
    columns = [[name, *map(_cell, values_of(head.column(name)))] for name in head.column_names[: width // LEAST_COLUMN]]
    for most in MOST_CHARACTERS:
        if len(columns) < head.num_columns or cells_width(columns) > width:
            columns = [[cut(cell, most) for cell in column] for column in columns]
    while len(columns) > 1 and cells_width([*columns, *left_out(head, len(columns))]) > width:
        columns.pop()
    names, *rows = zip(*columns, *left_out(head, len(columns)), strict=True)
    table = new_table(*((name, "left") for name in names))
    for row in rows:
        table.add_row(*row)
    return table


def left_out(head: Any, shown: int) -> list[list[str]]:
    """Return a column that says how many are not shown; nothing where all are."""
    count = head.num_columns - shown
    return [[f"+{count} column{'s' * (count != 1)}", *[""] * head.num_rows]] if count else []


def cells_width(columns: Sequence[Sequence[str]]) -> int:
    """Return how wide a table of these columns is."""
    return sum(max(len(one_line(cell)) for cell in column) for column in columns) + 3 * len(columns) - 1


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

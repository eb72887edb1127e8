"""What a run and a verification look like on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gpuetl.cli.console import Console
from gpuetl.cli.tables import Table, check_table, new_table, stage_table, step_table
from gpuetl.engines.registry import Choice
from gpuetl.messages import size
from gpuetl.report.run_report import RunReport
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Progress as OnProgress
from gpuetl.telemetry.recorder import silent
from gpuetl.value_texts import values_of

if TYPE_CHECKING:
    from rich.progress import Progress


# What a run looks like on a terminal: the engine, progress, the tables of the report.


MAX_COLUMNS = 8


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
    def progress(self) -> Iterator[OnProgress]:
        """Show the operations as they are done: a bar on a terminal, a line a stage elsewhere."""
        if self.quiet:
            yield silent
        elif self.err.is_terminal:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
            )
            with Progress(*columns, TimeElapsedColumn(), console=self.err.rich, transient=True) as bar:
                yield _Bar(bar)
        else:
            yield _Lines(self.err)

    def report(self, report: RunReport, steps: bool = False) -> None:
        """Print stages, their `steps`, expectations, sinks, first rows, notes, memory and times.

        First rows are those of the last sink; of a run that wrote none, of all stages that it kept.
        """
        self.out.print(stage_table(report))
        if steps:
            self.out.print(step_table(report))
        if report.checks:
            self.out.print(check_table(report))
        if report.sinks:
            self.out.print(sink_table(report))
        for name, head in list(report.head.items())[-1 if report.sinks else 0 :]:
            self.out.print(f"first rows of {name}:")
            self.out.print(head_table(head))
        for warning in report.warnings:
            self.out.print(f"warning: {warning}", style="yellow")
        for remark in report.notes:
            self.out.print(f"note: {remark}")
        if report.memory:
            peaks = (f"{size(peak)} ({what})" for what, peak in report.memory.items())
            self.out.print(f"peak memory: {', '.join(peaks)}; expected memory: {size(report.expected_memory)}")
        self.out.print(report.summary)


class _Bar:
    """Draws one bar: the stage that works, and how many of its partitions are done."""

    def __init__(self, bar: Progress) -> None:
        self.bar, self.task = bar, bar.add_task("")

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        self.bar.update(self.task, description=str(origin), completed=done, total=of)


class _Lines:
    """Prints a line when a source, stage or sink begins."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.seen: set[tuple[str, str]] = set()

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        if (origin.kind, origin.name) not in self.seen:
            self.seen.add((origin.kind, origin.name))
            self.console.print(f"  {origin.kind} {origin.name} …")


def sink_table(report: RunReport) -> Table:
    """Return what each sink wrote."""
    table = new_table(("sink", "left"), ("rows", "right"), ("files", "right"), ("size", "right"), ("path", "left"))
    for sink in report.sinks:
        path = sink.path if sink.written else f"{sink.path} (unchanged)"
        table.add_row(sink.name, f"{sink.rows:,}", f"{sink.files:,}", size(sink.file_bytes), path)
    return table


def head_table(head: Any) -> Table:
    """Return the first rows of a result; columns beyond the eighth are left out."""
    names = head.column_names[:MAX_COLUMNS]
    more = [f"+{len(head.column_names) - len(names)} columns"] if len(head.column_names) > len(names) else []
    table = new_table(*((name, "left") for name in names + more))
    for row in zip(*(values_of(head.column(name)) for name in names), strict=True):
        table.add_row(*map(_cell, row), *([""] if more else []))
    return table


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


# What a verification looks like on a terminal: a row a stage, then the first rows that differ.

"""What a run and a verification look like on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from gpuetl.verify.compare import Difference
from gpuetl.verify.verification import StageVerdict, VerifyReport

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


WHAT = {
    "columns": "other columns or types: {columns}",
    "rows": "{count:,} rows that only one has",
    "values": "{count:,} rows differ in {columns}",
    "order": "{count:,} rows out of the order of {columns}",
}


def show_report(report: VerifyReport, console: Console) -> None:
    """Print the verdicts, the differences, and what was taken of the sources."""
    console.print(f"engine: {report.engine} ({report.reason}), on {report.device}, against {report.oracle}")
    for line in report.sample:
        console.print(f"sample: {line}")
    console.print(verdict_table(report))
    for stage in report.stages:
        for line in difference_lines(stage, report):
            console.print(line, soft_wrap=True)
    for remark in report.notes:
        console.print(f"note: {remark}")
    wrong = sum(not stage.same for stage in report.stages)
    count = len(report.stages)
    same = f"all {count} stages same" if count > 1 else "its stage is the same"
    console.print(f"{report.pipeline}: {f'{wrong} of {count} stages differ' if wrong else same}")


def verdict_table(report: VerifyReport) -> Table:
    """Return a row a stage."""
    numbers = ("rows", "columns", report.engine, report.oracle)
    oracle = report.oracle if report.oracle != report.engine else f"{report.oracle}, as written"
    heads = (*numbers[:2], "verdict", f"s on {report.engine}", f"s on {oracle}")
    table = new_table(("stage", "left"), *((n, "left" if n == "verdict" else "right") for n in heads))
    for stage in report.stages:
        rows = f"{stage.rows:,}" + (f" of {stage.expected_rows:,}" if stage.rows != stage.expected_rows else "")
        verdict = "same" if stage.difference is None else difference_text(stage.difference)
        times = (f"{stage.seconds:.3f}", f"{stage.expected_seconds:.3f}")
        table.add_row(stage.name, rows, str(stage.columns), verdict, *times)
    return table


def difference_text(difference: Difference) -> str:
    """Return a difference in some words."""
    return WHAT[difference.what].format(count=difference.count, columns=", ".join(difference.columns))


def difference_lines(stage: StageVerdict, report: VerifyReport) -> Iterator[str]:
    """Yield the first rows that differ, with their keys."""
    if stage.difference is None:
        return
    yield f"stage '{stage.name}' ({stage.plan}): {difference_text(stage.difference)}"
    for row in stage.difference.rows:
        yield f"  where {assigned(row.keys)}:" if row.keys else "  in its place:"
        for engine, values in ((report.engine, row.got), (report.oracle, row.expected)):
            if values is not None:
                yield f"    {engine:8} {assigned(values)}"


def assigned(values: Mapping[str, Any]) -> str:
    """Return values by their names."""
    return ", ".join(f"{name} = {'null' if value is None else value!r}" for name, value in values.items())

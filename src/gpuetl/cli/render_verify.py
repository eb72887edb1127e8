"""What a verification looks like on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuetl.cli.console import Console
from gpuetl.cli.tables import Table, new_table
from gpuetl.report.run_report import place_of
from gpuetl.verify.verification import StageVerdict, VerifyReport


def show_report(report: VerifyReport, console: Console) -> None:
    """Print the verdicts, the differences, and what was taken of the sources."""
    console.print(f"engine: {report.engine} ({report.reason}), on {place_of(report.device)}, against {report.oracle}")
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
        verdict = stage.verdict
        times = (f"{stage.seconds:.3f}", f"{stage.expected_seconds:.3f}")
        table.add_row(stage.name, rows, str(stage.columns), verdict, *times)
    return table


def difference_lines(stage: StageVerdict, report: VerifyReport) -> Iterator[str]:
    """Yield the first rows that differ, with their keys."""
    if stage.difference is None:
        return
    yield f"stage '{stage.name}' ({stage.plan}): {stage.difference!s}"
    for row in stage.difference.rows:
        yield f"  where {assigned(row.keys)}:" if row.keys else "  in its place:"
        for engine, values in ((report.engine, row.got), (report.oracle, row.expected)):
            if values is not None:
                yield f"    {engine:8} {assigned(values)}"


def assigned(values: Mapping[str, Any]) -> str:
    """Return values by their names."""
    return ", ".join(f"{name} = {'null' if value is None else value!r}" for name, value in values.items())

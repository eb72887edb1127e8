"""The rows of every step as lines of text, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gpuetl.report.run_report import RunReport, StageReport
from gpuetl.units import count

STEP_COLUMNS = ("stage", "step", "rows in", "other input", "rows out", "remark")
COUNTING = ("expect", "statistics")
"""Kinds of work that only counts rows, of several relations, so that no number of rows is theirs."""
Line = tuple[str, str, str, str, str, str]


def step_lines(report: RunReport) -> Iterator[Line]:
    """Yield a line for each source, and for the beginning and each step of each stage, in the order of the pipeline."""
    for one in report.stages:
        if one.kind == "source":
            yield one.name, "read", count(one.rows_in), "", count(one.rows_out), skipped_text(one)
        if one.kind == "stage":
            yield from stage_lines(one)


def stage_lines(stage: StageReport) -> Iterator[Line]:
    """Yield the lines of one stage; of a step that ran in two places the first line has the step's other inputs."""
    beside = {
        number: ", ".join(f"{one.name} {count(one.rows) or '?'}" for one in inputs)
        for number, inputs in groupby(stage.inputs, lambda one: one.step)
        if number
    }
    if stage.inputs:
        yield stage.name, f"from {stage.inputs[0].name}", "", "", count(stage.inputs[0].rows), ""
    for step in stage.steps:
        verb, others = f"{step.step} {step.verb}", beside.pop(step.step, "")
        yield "", verb, count(step.rows_in), others, count(step.rows_out), step.remark


def rows_in(stage: StageReport) -> str:
    """Return the rows of a stage's inputs, first those that it begins with; of a source or sink the rows.

    Of more than two inputs the others are summed.  Nothing for checks: each has its own number of rows.
    """
    if stage.kind in COUNTING:
        return ""
    if not stage.inputs:
        return count(stage.rows_in)
    first, *others = (one.rows for one in stage.inputs)
    known = [rows for rows in others if rows is not None]
    if len(others) > 1 and len(known) == len(others):
        return f"{count(first) or '?'} + {count(sum(known))}"
    return " + ".join(count(rows) or "?" for rows in (first, *others))


def rows_out(stage: StageReport) -> str:
    """Return the rows that a source, stage or sink gave; nothing for checks, which only count."""
    return "" if stage.kind in COUNTING else count(stage.rows_out)


def skipped_text(source: StageReport) -> str:
    """Say how many rows of a source were not read."""
    return f"{count(source.skipped_rows)} more were ruled out by statistics or a limit" if source.skipped_rows else ""

"""The rows in and out of every step, stage by stage."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from gpuetl.report.html.elements import EMPTY, Column, bar, section, table
from gpuetl.report.run_report import RunReport, StageReport
from gpuetl.units import count, rounded_percent

COLUMNS = (
    Column("step"), Column("rows in", "right"), Column("other inputs"), Column("rows out", "right"), Column("kept"),
    Column("remark"),
)  # fmt: skip


def funnel_section(report: RunReport) -> Markup:
    """Return the steps of all stages; nothing without any."""
    rows: list[list[str | Markup]] = []
    classes: list[str | None] = []
    for stage in report.stages:
        if stage.kind != "stage" or not stage.inputs:
            continue
        begin = stage.inputs[0]
        rows.append([f"{stage.name}", "", "", count(begin.rows), "", f"from {begin.name}"])
        classes.append("group")
        steps = step_rows(stage)
        rows += steps
        classes += [step_class(report, stage, place) for place in range(len(steps))]
    if not rows:
        return EMPTY
    note = "What each step took and gave. Remarks say where the optimizer ran it, if not here."
    return section("Rows, step by step", table("Rows in and out of every step", COLUMNS, rows, classes), note=note)


def step_class(report: RunReport, stage: StageReport, place: int) -> str | None:
    """Return the class of a step's row: that of one that failed, or did not run."""
    failure, step = report.failure, stage.steps[place]
    if failure and (failure.relation, failure.name, failure.step) == ("stage", stage.name, step.step):
        return "failed"
    return "idle" if step.rows_out is None else None


def step_rows(stage: StageReport) -> list[list[str | Markup]]:
    """Return the cells of a stage's steps; of a step in two places the first row has the step's other inputs."""
    others = {
        number: ", ".join(f"{one.name} {count(one.rows) or '?'}" for one in inputs)
        for number, inputs in groupby(stage.inputs, lambda one: one.step)
        if number
    }
    return [
        [
            f"{step.step} {step.verb}",
            count(step.rows_in),
            others.pop(step.step, ""),
            count(step.rows_out),
            kept_bar(step.rows_in, step.rows_out),
            step.remark,
        ]
        for step in stage.steps
    ]


def kept_bar(rows_in: int | None, rows_out: int | None) -> Markup:
    """Return the rows out as a share of the rows in; nothing where either is not known."""
    if not rows_in or rows_out is None:
        return EMPTY
    return bar(rows_out / rows_in, rounded_percent(rows_out / rows_in))

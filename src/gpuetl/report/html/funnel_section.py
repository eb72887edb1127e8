"""The rows in and out of every step, stage by stage."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from gpuetl.report.funnel import StepRows
from gpuetl.report.html.elements import EMPTY, Column, bar, joined, section, table, tag
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
        title = joined((stage.name, tag("span", f"from {begin.name}", class_="lead")))
        rows.append([title, "", "", count(begin.rows), "", ""])
        classes.append("group")
        rows += step_rows(stage, report)
        classes += [step_class(report, stage, step) for step in stage.steps]
    if not rows:
        return EMPTY
    note = "What each step took and gave. Remarks say where the optimizer ran it, if not here."
    return section("Rows, step by step", table("Rows in and out of every step", COLUMNS, rows, classes), note=note)


def step_class(report: RunReport, stage: StageReport, step: StepRows) -> str | None:
    """Return the class of a step's row: that of one that failed, or did not run."""
    return "failed" if is_failed(report, stage, step) else "idle" if step.rows_out is None else None


def is_failed(report: RunReport, stage: StageReport, step: StepRows) -> bool:
    """Return whether the run failed in a step."""
    failure = report.failure
    return failure is not None and (failure.relation, failure.name, failure.step) == ("stage", stage.name, step.step)


def step_rows(stage: StageReport, report: RunReport) -> list[list[str | Markup]]:
    """Return the cells of a stage's steps; of a step in two places the first row has the step's other inputs."""
    others = {
        number: ", ".join(f"{one.name} {count(one.rows) or '?'}" for one in inputs)
        for number, inputs in groupby(stage.inputs, lambda one: one.step)
        if number
    }
    most = max([1, *(rows for step in stage.steps for rows in (step.rows_in, step.rows_out) if rows is not None)])
    return [
        [
            f"{step.step} {step.verb}",
            count(step.rows_in),
            others.pop(step.step, ""),
            count(step.rows_out),
            funnel_bar(step, most),
            "failed here" if is_failed(report, stage, step) else step.remark,
        ]
        for step in stage.steps
    ]


def funnel_bar(step: StepRows, most: int) -> Markup:
    """Return the rows out as a part of the most that the stage had, labelled with their share of the rows in.

    Nothing where a number is not known.
    """
    if not step.rows_in or step.rows_out is None:
        return EMPTY
    return bar(step.rows_out / most, rounded_percent(step.rows_out / step.rows_in), kind="kept")

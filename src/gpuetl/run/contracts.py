"""A run held to what is expected of its stages: whether sinks may change, and the rows for which they may not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gpuetl.engines.capacity import Capacity
from gpuetl.errors import GpuetlError
from gpuetl.executors.execution import Execution, accept_all
from gpuetl.plan.plan import Plan
from gpuetl.report.checks import CheckReport, check_reports, with_sample
from gpuetl.run.planning import lowered_again, planned
from gpuetl.telemetry.recorder import recording


def accepted(plan: Plan, counts: Mapping[str, pa.Table]) -> bool:
    """Tell whether no rule of the plan has failed."""
    return all(report.verdict != "failed" for report in check_reports(plan.rules, counts))


def with_samples(
    plan: Plan, checks: Sequence[CheckReport], execution: Execution, capacity: Capacity
) -> tuple[CheckReport, ...]:
    """Return the reports, those of rules that failed with the first rows that break them.

    These rows are computed again, alone: a run whose rules hold does nothing for them.  Where they cannot be had any
    more, the reports stay as they are.
    """
    shown = {
        str(place): rule.shown
        for place, (rule, check) in enumerate(zip(plan.rules, checks, strict=True))
        if check.verdict == "failed" and rule.shown is not None
    }
    if not shown:
        return tuple(checks)
    plan = replace(plan, sinks={}, kept=shown, checks={}, rules=())
    execution = replace(execution, seconds={}, accepts=accept_all)
    try:
        with recording(execution.recorder):  # its remarks are of steps that the user has not written
            fit = planned(plan, execution.options, execution.engine, capacity).fit
            again = partial(lowered_again, plan, execution.options, execution.engine)
            _, outputs = execution.run_to_fit(fit.plan, again)
    except GpuetlError:
        return tuple(checks)
    with recording(execution.recorder):
        tables = {name: execution.backend.to_arrow(frame) for name, frame in outputs.kept.items()}
    return tuple(
        with_sample(check, tables[str(place)]) if str(place) in tables else check for place, check in enumerate(checks)
    )

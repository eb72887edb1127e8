"""Ranks: of a row's place in its group."""

from __future__ import annotations

from gpuetl.engines.cudf.windows.call import FIRST_ROW, LAST_ROW, RUN_BEGIN, RUN_END, WindowCall
from gpuetl.engines.cudf.windows.steps import CallPlan, Fold, PerRow, Scan, Values
from gpuetl.types.data_types import FLOAT64, INT64


def row_number(call: WindowCall) -> CallPlan:
    """Count the rows from the group's first."""
    return Values(PerRow("row_number", reads=(FIRST_ROW,), gives=INT64))


def rank(call: WindowCall) -> CallPlan:
    """Give rows that tie the number of the first of them."""
    return Values(PerRow("rank", reads=(FIRST_ROW, RUN_BEGIN), gives=INT64))


def dense_rank(call: WindowCall) -> CallPlan:
    """Count the runs of rows that tie."""
    return Values(Scan(Fold("Count<RunBegins>", gives=INT64, state_bytes=4)))


def percent_rank(call: WindowCall) -> CallPlan:
    """Compare the rank with the group's rows."""
    return Values(PerRow("percent_rank", reads=(FIRST_ROW, LAST_ROW, RUN_BEGIN), gives=FLOAT64))


def cume_dist(call: WindowCall) -> CallPlan:
    """Compare the rows up to the last that ties with the group's rows."""
    return Values(PerRow("cume_dist", reads=(FIRST_ROW, LAST_ROW, RUN_END), gives=FLOAT64))


def ntile(call: WindowCall) -> CallPlan:
    """Deal the group's rows to tiles."""
    return Values(PerRow("ntile", reads=(FIRST_ROW, LAST_ROW), constants=(call.constant("n", 1),), gives=INT64))

"""Distinct."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import pick
from gpuetl.engines.cudf.columns.gather import take_rows
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.expressions.canonical import canonical
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import run_operation
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Distinct


@run_operation.register
def distinct_rows(operation: Distinct, machine: Machine, frame: Frame) -> Frame:
    """Keep each key's first row, by `order_by` where it is given, else as rows come; float keys leave canonical."""
    keys = [SortKey(name) for name in operation.on]
    order = sort_rows(frame, [*keys, *operation.order_by], len(keys), False, machine)
    starts = order.group_starts(machine)
    kept = take_rows(frame, starts if order.rows is None else pick(order.rows, starts, machine), machine)
    return kept.updated({name: canonical(kept.columns[name], machine) for name in operation.on})

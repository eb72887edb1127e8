"""Sort."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.gather import first_rows, take_rows
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import run_operation
from gpuetl.plan.nodes import Sort


@run_operation.register
def sort_frame(operation: Sort, machine: Machine, frame: Frame) -> Frame:
    """Sort rows, stably; of a limit, only those that are wanted are gathered."""
    order = sort_rows(frame, operation.by, 0, operation.presorted, machine, whole=operation.limit is None)
    note_ties(operation, operation.by, order.ties)
    if operation.limit is None:
        return order.apply(frame, machine)
    if order.rows is None:
        return first_rows(frame, operation.limit, machine)
    return take_rows(frame, order.rows[: operation.limit], machine)

"""Sort and limit."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.pandas.columns.order import least_rows, note_ties, sort_rows
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.plan.nodes import Limit, Sort


@run_operation.register
def sort_table(operation: Sort, frame: pa.Table) -> pa.Table:
    """Sort rows, stably; of a limit, only those that may be among the first."""
    if operation.limit is not None:
        frame = least_rows(frame, operation.by, operation.limit)
    order = sort_rows(frame, operation.by)
    note_ties(operation, operation.by, order.ties)
    return order.apply(frame).slice(0, operation.limit)


@run_operation.register
def limit_rows(operation: Limit, frame: pa.Table) -> pa.Table:
    """Keep the first rows."""
    return frame.slice(0, operation.count)

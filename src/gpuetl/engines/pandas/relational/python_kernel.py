"""PythonKernel: a user's Python function, over frames in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.columns.column import with_column
from gpuetl.engines.pandas.columns.order import note_ties
from gpuetl.engines.pandas.expressions.evaluate import evaluate
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.window import group_order
from gpuetl.engines.python_functions import outputs_on_host
from gpuetl.plan.nodes import PythonKernel


@run_operation.register
def run_python_kernel(operation: PythonKernel, frame: pa.Table) -> pa.Table:
    """Add the function's outputs.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, or the function raises, takes too long, or breaks its declaration.
    """
    starts = None
    if operation.grouped:
        order = group_order(operation, frame)
        if operation.order_by:
            note_ties(operation, operation.sort_keys, order.ties)
        frame, starts = order.apply(frame), np.flatnonzero(order.new_group)
    inputs = frame.select(list(operation.reads))
    outputs = outputs_on_host(
        operation, inputs, starts, python_values(operation), lambda row: {k: frame.column(k)[row] for k in operation.by}
    )
    for name, column in outputs.items():
        frame = with_column(frame, name, column)
    return frame


def python_values(operation: PythonKernel) -> dict[str, Any]:
    """Return the step's arguments as Python's values; a null is None."""
    empty = pa.table({"row": pa.nulls(0)})
    return {name: evaluate(expr, empty).as_py() for name, expr in operation.arguments.items()}

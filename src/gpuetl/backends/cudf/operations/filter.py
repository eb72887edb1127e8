"""Filter."""

from __future__ import annotations

from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.gather import take_rows
from gpuetl.backends.cudf.expressions.evaluate import evaluate
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.operation import run_operation
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.types import BOOL
from gpuetl.plan.nodes import Filter


@run_operation.register
def filter_rows(operation: Filter, machine: Machine, frame: Frame) -> Frame:
    """Keep the rows where the predicate is true; null is not."""
    true = Call(FUNCTIONS["scalar", "coalesce"], (operation.predicate, Literal(False, BOOL)), BOOL)
    mask = evaluate({"": true}, frame.columns, frame.rows, machine)[""]
    kept = numbers_where(mask.data, machine)
    return frame if len(kept) == frame.rows else take_rows(frame, kept, machine)

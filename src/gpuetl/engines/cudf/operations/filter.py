"""Filter."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.compact import numbers_where
from gpuetl.engines.cudf.columns.gather import take_rows
from gpuetl.engines.cudf.columns.kind import Kinds
from gpuetl.engines.cudf.expressions.evaluate import evaluate
from gpuetl.engines.cudf.expressions.programs import evaluated
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import Needed, programs, run_operation
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.plan.nodes import Filter
from gpuetl.types.data_types import BOOL


@run_operation.register
def filter_rows(operation: Filter, machine: Machine, frame: Frame) -> Frame:
    """Keep the rows where the predicate is true; null is not."""
    mask = evaluate({"": is_true(operation.predicate)}, frame.columns, frame.rows, machine)[""]
    kept = numbers_where(mask.data, machine)
    return frame if len(kept) == frame.rows else take_rows(frame, kept, machine)


@programs.register
def filter_programs(operation: Filter, frame: Kinds) -> Needed:
    """List those of the predicate."""
    return Needed(evaluated({"": is_true(operation.predicate)}, frame).texts, frame.columns)


def is_true(predicate: Expr) -> Expr:
    """Return whether a predicate is true; null is not."""
    return Call(FUNCTIONS["scalar", "coalesce"], (predicate, Literal(False, BOOL)), BOOL)

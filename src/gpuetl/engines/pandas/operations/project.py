"""Project."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Expr
from gpuetl.plan.nodes import Project
from gpuetl.threads import in_threads


@run_operation.register
def compute_columns(operation: Project, frame: pa.Table) -> pa.Table:
    """Compute each output column from the input's, several at a time."""
    columns = in_threads(lambda column: named(*column, frame), operation.columns.items())
    return pa.table(columns, schema=operation.schema.to_arrow())


def named(name: str, expr: Expr, frame: pa.Table) -> pa.ChunkedArray:
    """Compute one column; an error says which."""
    try:
        return evaluate_column(expr, frame)
    except EvaluationError as error:
        raise EvaluationError.of_column(name, error) from None

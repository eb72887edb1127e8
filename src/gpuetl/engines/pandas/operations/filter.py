"""Filter."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.pandas.expressions.evaluate import evaluate
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.plan.nodes import Filter


@run_operation.register
def filter_rows(operation: Filter, frame: pa.Table) -> pa.Table:
    """Keep the rows where the predicate is true; null is not."""
    mask = evaluate(operation.predicate, frame)
    if isinstance(mask, pa.Scalar):
        return frame if mask.as_py() else frame.slice(0, 0)
    return frame.filter(mask)

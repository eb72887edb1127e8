"""Distinct."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.pandas.columns.column import canonical, with_column
from gpuetl.engines.pandas.columns.gather import take_rows
from gpuetl.engines.pandas.columns.keys import encode_keys
from gpuetl.engines.pandas.columns.order import sort_rows
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.plan.nodes import Distinct


@run_operation.register
def distinct_rows(operation: Distinct, frame: pa.Table) -> pa.Table:
    """Keep each key's first row, by `order_by` where it is given, else as rows come; float keys leave canonical."""
    frame = sort_rows(frame, operation.order_by).apply(frame) if operation.order_by else frame
    groups = encode_keys([frame.column(name) for name in operation.on], frame.num_rows)
    kept = take_rows(frame, groups.first_rows)
    for name in operation.on:
        kept = with_column(kept, name, canonical(kept.column(name)))
    return kept

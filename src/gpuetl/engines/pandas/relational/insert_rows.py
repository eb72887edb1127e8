"""Rows that are made before and after others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.columns.column import (
    MAX_ROWS,
    Masked,
    arange,
    from_masked,
    take_or_null,
    take_rows,
)
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.join import physical_memory
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.plan.nodes import InsertRows
from gpuetl.types.data_types import INT64

MOST_OF_ROW = MAX_ROWS + 1
"""Rows that one row is counted with at most: their sum stays an integer of 64 bits."""


@run_operation.register
def insert_rows(operation: InsertRows, frame: pa.Table) -> pa.Table:
    """Repeat each row as often as it says; made rows have the values of the repeated columns only.

    Raises
    ------
    EvaluationError
        Where the result would have 2^31 rows or more, or would not fit into the machine's memory.
    """
    before, after = (
        np.minimum(frame.column(name).to_numpy(), MOST_OF_ROW) for name in (operation.before, operation.after)
    )
    repeats = before + 1 + after
    total = int(repeats.sum())
    check_size(total, frame.nbytes / max(1, frame.num_rows))
    if total == frame.num_rows:
        place = pa.array(np.zeros(total, np.int64))
        return pa.table([*frame.columns, place], schema=operation.schema.to_arrow())
    rows = np.repeat(arange(frame.num_rows), repeats)
    place = arange(total) - np.repeat(np.cumsum(repeats) - repeats + before, repeats)
    own = Masked(rows, place == 0)
    repeated = take_rows(frame.select([name for name in frame.column_names if name in operation.repeated]), rows)
    columns = {name: take_or_null(frame.column(name), own) for name in frame.column_names
               if name not in operation.repeated}  # fmt: skip
    columns |= dict(zip(repeated.column_names, repeated.columns, strict=True))
    columns[operation.place] = from_masked(Masked(place, np.ones(total, np.bool_)), INT64)
    return pa.table({name: columns[name] for name in operation.schema}, schema=operation.schema.to_arrow())


def check_size(rows: int, row_bytes: float) -> None:
    """Raise `EvaluationError` where rows are more than a frame or the memory holds."""
    if rows > MAX_ROWS:
        found = f"more than {MAX_ROWS:,} rows, and a frame holds no more"
    elif (size := rows * row_bytes) > physical_memory():
        found = f"{rows:,} rows, about {size / 1e9:,.1f} GB, and this machine has {physical_memory() / 1e9:,.1f} GB"
    else:
        return
    hint = "Look for a row that is far from the others, or take a wider `every`"
    raise EvaluationError(coded("GE2008", f"fill_gaps would make {found}.  {hint}"))

"""Explode."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import MAX_ROWS, arange, list_parts, whole
from gpuetl.engines.pandas.columns.gather import take_or_null
from gpuetl.engines.pandas.columns.masked import Masked, from_masked
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.plan.nodes import Explode
from gpuetl.types.data_types import INT64


@run_operation.register
def explode_lists(operation: Explode, frame: pa.Table) -> pa.Table:
    """Repeat each row for the elements of its list, in order.

    Raises
    ------
    EvaluationError
        Where the result would have 2^31 rows or more.
    """
    lists = frame.column(operation.column)
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
    repeats = np.maximum(lengths, 1) if operation.keep_empty else lengths
    total = int(repeats.sum())
    if total > MAX_ROWS:  # before the lists are put into one array, which could not hold them
        message = f"the explode would have {total:,} rows, more than {MAX_ROWS:,}"
        raise EvaluationError(coded("GE2008", f"{message}.  Read smaller partitions, or filter before"))
    parts = list_parts(whole(lists))
    found = np.repeat(lengths > 0, repeats)
    place = arange(total) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    elements = Masked(np.where(found, np.repeat(parts.starts, repeats) + place, 0), found)
    repeated = frame.drop_columns([operation.column]).take(pa.array(np.repeat(arange(frame.num_rows), repeats)))
    columns = dict(zip(repeated.column_names, repeated.columns, strict=True))
    columns[operation.column] = take_or_null(parts.values, elements)
    if operation.index:
        columns[operation.index] = from_masked(Masked(place, found), INT64)
    return pa.table({name: columns[name] for name in operation.schema}, schema=operation.schema.to_arrow())

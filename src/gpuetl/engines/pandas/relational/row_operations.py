"""Filter, project, sort and limit, distinct, explode and union."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import (
    MAX_ROWS,
    Masked,
    arange,
    canonical,
    entries_list,
    from_masked,
    list_parts,
    take_or_null,
    take_rows,
    whole,
    with_column,
)
from gpuetl.engines.pandas.columns.keys import encode_keys
from gpuetl.engines.pandas.columns.order import least_rows, note_ties, sort_rows
from gpuetl.engines.pandas.expressions.evaluate import evaluate, evaluate_column
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Expr
from gpuetl.memory_limits import host_memory
from gpuetl.messages import coded
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Distinct, Explode, Filter, Limit, Project, Sort, Union
from gpuetl.threads import in_threads
from gpuetl.types.data_types import INT64
from gpuetl.types.nested_types import is_map


@run_operation.register
def filter_rows(operation: Filter, frame: pa.Table) -> pa.Table:
    """Keep the rows where the predicate is true; null is not."""
    mask = evaluate(operation.predicate, frame)
    if isinstance(mask, pa.Scalar):
        return frame if mask.as_py() else frame.slice(0, 0)
    return frame.filter(mask)


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
    """Keep the first rows after those that are left out."""
    return frame.slice(operation.offset, operation.count)


@run_operation.register
def distinct_rows(operation: Distinct, frame: pa.Table) -> pa.Table:
    """Keep each key's first row, by `order_by` where it is given, else as rows come; float keys leave canonical."""
    order = sort_rows(frame, operation.order_by) if operation.order_by else None
    frame = frame if order is None else order.apply(frame)
    groups = encode_keys([frame.column(name) for name in operation.on], frame.num_rows)
    if order is not None:
        runs = np.cumsum(order.new_value)
        tied = int(np.count_nonzero(runs == runs[groups.first_rows][groups.codes])) - groups.count
        note_ties(operation, (*map(SortKey, operation.on), *operation.order_by), tied)
    kept = take_rows(frame, groups.first_rows)
    for name in operation.on:
        kept = with_column(kept, name, canonical(kept.column(name)))
    return kept


@run_operation.register
def explode_lists(operation: Explode, frame: pa.Table) -> pa.Table:
    """Repeat each row for the elements of its list, in order.

    Raises
    ------
    EvaluationError
        Where the result would have 2^31 rows or more.
    """
    lists = frame.column(operation.column)
    if is_map(lists.type):
        lists = pa.chunked_array(map(entries_list, lists.chunks), pa.list_(operation.schema[operation.column]))
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


MOST_CHUNKS = 4096
"""A rows' union with itself, again and again, doubles the chunks: they would take more memory than the rows."""


@run_operation.register
def stack_rows(operation: Union, left: pa.Table, right: pa.Table) -> pa.Table:
    """Put the right rows below the left ones.

    Columns share the memory of both, in their chunks.  Where the chunks become many, they are put together.

    Raises
    ------
    EvaluationError
        For more rows than a frame has.
    MemoryError
        Where the host has no memory to put them together.
    """
    if (rows := left.num_rows + right.num_rows) > MAX_ROWS:
        message = coded("GE2008", f"the union would have {rows:,} rows, more than {MAX_ROWS:,}")
        raise EvaluationError(message, "Read smaller partitions, or filter before.")
    united = pa.concat_tables([left, right])
    if max((column.num_chunks for column in united.columns), default=0) <= MOST_CHUNKS:
        return united
    if united.nbytes > host_memory().available:
        raise MemoryError(f"allocating {united.nbytes} B")
    return united.combine_chunks()

"""Union."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.pandas.columns.column import MAX_ROWS
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.errors import EvaluationError
from gpuetl.host_memory import host_memory
from gpuetl.messages import coded
from gpuetl.plan.nodes import Union

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

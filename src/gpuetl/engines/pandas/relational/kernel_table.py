"""KernelTable: the NumPy twin makes the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, canonical, from_masked, to_masked, whole
from gpuetl.engines.pandas.columns.order import note_ties, sort_rows
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.kernel import argument_values, offsets_of, output_types, valid_rows
from gpuetl.engines.pandas.relational.segmented_scans import Segments
from gpuetl.engines.table_kernel_bounds import most_rows, too_many
from gpuetl.plan.nodes import KernelTable
from gpuetl.user_kernels.twin import Array, call_table_twin

Numbers = NDArray[np.int64]


@run_operation.register
def make_rows(operation: KernelTable, frame: pa.Table) -> pa.Table:
    """Let the twin make rows of those in which every input is valid.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, the twin breaks its declaration, or makes more rows than declared.
    """
    starts = None
    if operation.grouped:
        order = sort_rows(frame, operation.sort_keys, len(operation.by), False)
        if operation.order_by:
            note_ties(operation, operation.sort_keys, order.ties)
        frame, starts = order.apply(frame), np.flatnonzero(order.new_group)
    inputs = {name: to_masked(frame.column(name)) for name in operation.reads}
    outputs, counts, rows = twin_rows(operation, inputs, starts, frame.num_rows)
    repeated = pa.array(np.repeat(rows, counts))
    columns: dict[str, Any] = {name: whole(frame.column(name)).take(repeated) for name in operation.kept}
    if operation.grouped:
        columns |= {name: canonical(columns[name]) for name in operation.by}
    columns |= {
        name: from_masked(Masked(values, np.ones(len(values), bool)), operation.outputs[name])
        for name, values in outputs.items()
    }
    return pa.table({name: columns[name] for name in operation.schema}, schema=operation.schema.to_arrow())


def twin_rows(
    operation: KernelTable, inputs: dict[str, Masked], starts: Numbers | None, rows: int
) -> tuple[dict[str, Array], Numbers, Numbers]:
    """Call the twin on the rows that are whole; return its outputs, the rows of each unit, and each unit's first row.

    `starts` are the first rows of groups, in which the rows are in order.
    """
    valid = valid_rows(operation, inputs, rows)
    kept = np.flatnonzero(valid)
    types = {name: np.dtype(dtype) for name, dtype in output_types(operation).items()}
    if not len(kept):
        return {name: np.zeros(0, dtype) for name, dtype in types.items()}, kept, kept
    arrays, arguments = [column.values[kept] for column in inputs.values()], argument_values(operation)
    firsts, sizes = kept, np.ones(len(kept), np.int64)
    if operation.per == "partition":
        firsts, sizes = kept[:1], np.array([len(kept)])
    elif starts is not None:
        offsets = offsets_of(Segments(starts, rows), valid)
        firsts, sizes = kept[offsets[:-1]], np.diff(offsets).astype(np.int64)
        arrays = [offsets, *arrays]
    bounds = most_rows(operation, sizes, arguments)  # type: ignore[arg-type]
    outputs, counts = call_table_twin(operation.contract, arrays, arguments, types, len(firsts))
    over = np.flatnonzero(counts > bounds)
    if len(over):
        first = int(over[0])
        row = int(firsts[first]) if operation.per == "row" else None
        raise too_many(operation, int(sizes[first]), int(counts[first]), int(bounds[first]), row)
    return outputs, counts, firsts

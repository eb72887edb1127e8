"""KernelReduction: the NumPy twin reduces the rows of all groups at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import canonical, whole
from gpuetl.engines.pandas.columns.keys import Groups, encode_keys
from gpuetl.engines.pandas.columns.masked import Masked, from_masked, to_masked
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.engines.pandas.operations.kernel import argument_values, output_types, valid_rows
from gpuetl.plan.nodes import KernelReduction
from gpuetl.user_kernels.twin import call_twin


@run_operation.register
def reduce_by_kernel(operation: KernelReduction, frame: pa.Table) -> pa.Table:
    """Compute one row a group, in order of first appearance; without keys there is always one.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, or the twin breaks its declaration.
    """
    groups = encode_keys([frame.column(name) for name in operation.by], frame.num_rows)
    if not operation.by:
        groups = Groups(groups.codes, np.zeros(1, np.int64))
    first_rows = pa.array(groups.first_rows)
    columns: dict[str, Any] = {name: canonical(whole(frame.column(name)).take(first_rows)) for name in operation.by}
    inputs = {name: to_masked(frame.column(name)) for name in operation.reads}
    results = twin_results(operation, inputs, groups.codes, groups.count)
    columns |= {name: from_masked(results[name], dtype) for name, dtype in operation.outputs.items()}
    return pa.table(columns, schema=operation.schema.to_arrow())


def twin_results(
    operation: KernelReduction, inputs: dict[str, Masked], codes: NDArray[np.int64], groups: int
) -> dict[str, Masked]:
    """Call the twin on the rows in which every input is valid, sorted by their groups' `codes`.

    It gets `offsets` first, where each group that has such a row begins, and gives a value for each; others get null.
    """
    kept = np.flatnonzero(valid_rows(operation, inputs, len(codes)))
    rows = kept[np.argsort(codes[kept], kind="stable")]
    counts = np.bincount(codes[kept], minlength=groups)
    seen = counts > 0
    offsets = np.concatenate([[0], np.cumsum(counts[seen])]).astype(np.int64)
    expected = {name: np.dtype(dtype) for name, dtype in output_types(operation).items()}
    arrays = [offsets, *(column.values[rows] for column in inputs.values())]
    results = call_twin(operation.contract, arrays, argument_values(operation), expected, int(seen.sum()))
    return {name: spread(values, seen) for name, values in results.items()}


def spread(values: NDArray[Any], seen: NDArray[np.bool_]) -> Masked:
    """Put the values where `seen`, and nulls elsewhere."""
    result = np.zeros(len(seen), values.dtype)
    result[seen] = values
    return Masked(result, seen)

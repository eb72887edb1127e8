"""Kernel and KernelReduction: the NumPy twin stands in for the CUDA source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.no_result import null_input
from gpuetl.engines.pandas.columns.column import (
    Masked,
    canonical,
    from_masked,
    storage_type,
    to_masked,
    whole,
    with_column,
)
from gpuetl.engines.pandas.columns.keys import Groups, encode_keys
from gpuetl.engines.pandas.expressions.evaluate import evaluate
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.segmented_scans import Segments
from gpuetl.engines.pandas.relational.window import sorted_segments
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable
from gpuetl.user_kernels.kernel_code import null_argument
from gpuetl.user_kernels.twin import call_twin

# Kernel: the NumPy twin stands in for the CUDA source.


Flags = NDArray[np.bool_]
MAX_OFFSET = 2**31 - 1


@run_operation.register
def run_kernel(operation: Kernel, frame: pa.Table) -> pa.Table:
    """Add the twin's outputs.

    With `propagate` the twin sees only rows in which every input is valid; the others get null.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, the twin breaks its declaration, or groups have more rows than offsets count.
    """
    segments = None
    if operation.grouped:
        if frame.num_rows > MAX_OFFSET:
            found = f"kernel '{operation.contract.entry}' has {frame.num_rows:,} rows in one partition"
            raise EvaluationError(
                coded("GE2008", f"{found}, and offsets hold {MAX_OFFSET:,}.  Run with smaller partitions")
            )
        frame, segments = sorted_segments(operation, frame)
    inputs = {name: to_masked(frame.column(name)) for name in operation.reads}
    outputs = twin_outputs(operation, inputs, segments, frame.num_rows)
    for name, dtype in operation.outputs.items():
        frame = with_column(frame, name, from_masked(outputs[name], dtype))
    return frame


def twin_outputs(
    operation: Kernel, inputs: dict[str, Masked], segments: Segments | None, rows: int
) -> dict[str, Masked]:
    """Call the twin as the step's `nulls` say."""
    if operation.nulls == "masks":
        return call_with_masks(operation, inputs, segments)
    return call_on_valid(operation, inputs, segments, valid_rows(operation, inputs, rows))


def valid_rows(operation: Kernel | KernelReduction | KernelTable, inputs: dict[str, Masked], rows: int) -> Flags:
    """Return where every input is valid; raise `EvaluationError` where nulls are forbidden and one is."""
    valid: Flags = np.logical_and.reduce([np.ones(rows, bool), *(column.valid for column in inputs.values())])
    if operation.nulls == "forbid" and not valid.all():
        raise forbidden(operation, inputs)
    return valid


def forbidden(operation: Kernel | KernelReduction | KernelTable, inputs: dict[str, Masked]) -> EvaluationError:
    """Return the error of the first null that the kernel forbids."""
    name, column = next((n, c) for n, c in inputs.items() if not c.valid.all())
    return null_input(operation, name, int(np.flatnonzero(~column.valid)[0]))


def output_types(operation: Kernel | KernelReduction | KernelTable) -> dict[str, Any]:
    """Return the NumPy types of the declared outputs."""
    return {name: storage_type(dtype).to_pandas_dtype() for name, dtype in operation.outputs.items()}


def call_on_valid(
    operation: Kernel, inputs: dict[str, Masked], segments: Segments | None, valid: Flags
) -> dict[str, Masked]:
    """Call the twin on the rows that are valid in every input, and spread its outputs over all rows."""
    arrays = [column.values[valid] for column in inputs.values()]
    outputs = call(operation, arrays, segments, valid)
    return {name: Masked(_spread(values, valid), valid) for name, values in outputs.items()}


def _spread(values: Any, valid: Flags) -> Any:
    result = np.zeros(len(valid), values.dtype)
    result[valid] = values
    return result


def call_with_masks(operation: Kernel, inputs: dict[str, Masked], segments: Segments | None) -> dict[str, Masked]:
    """Call the twin with each array's validity after it; each output `x` comes with `x_valid`."""
    arrays = [part for column in inputs.values() for part in (column.values, column.valid)]
    rows = len(next(iter(inputs.values())).values)
    outputs = call(operation, arrays, segments, np.ones(rows, bool), masks=True)
    return {name: Masked(outputs[name], outputs[f"{name}_valid"]) for name in operation.outputs}


def call(
    operation: Kernel, arrays: list[Any], segments: Segments | None, valid: Flags, masks: bool = False
) -> dict[str, Any]:
    """Call the twin; for groups and scans, the offsets of its segments come first."""
    expected = {name: np.dtype(dtype) for name, dtype in output_types(operation).items()}
    if masks:
        expected |= {f"{name}_valid": np.dtype(bool) for name in operation.outputs}
    if segments is not None:
        arrays = [offsets_of(segments, valid), *arrays]
    return call_twin(operation.contract, arrays, argument_values(operation), expected, int(valid.sum()))


def argument_values(operation: Kernel | KernelReduction | KernelTable) -> dict[str, Any]:
    """Return the step's arguments as numbers: times are integers of their unit; raise `EvaluationError` for a null."""
    empty, values = pa.table({"row": pa.nulls(0)}), {}
    for name, expr in operation.arguments.items():
        value = evaluate(expr, empty)
        if not value.is_valid:
            raise EvaluationError(coded("GE1306", null_argument(operation.contract.entry, name)))
        values[name] = value.cast(storage_type(value.type)).as_py()
    return values


def offsets_of(segments: Segments, valid: Flags) -> NDArray[np.int32]:
    """Return where each segment begins among the valid rows, and their number; empty segments are left out."""
    before = np.concatenate([[0], np.cumsum(valid)])
    starts = before[np.append(segments.starts, segments.n_rows)]
    return np.unique(starts).astype(np.int32) if starts[-1] else np.zeros(1, np.int32)


# KernelReduction: the NumPy twin reduces the rows of all groups at once.


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
    columns |= {name: whole(frame.column(name)).take(first_rows) for name in operation.keep}
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

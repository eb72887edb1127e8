"""A user's Python function over frames in host memory, as every engine calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.no_result import null_input, written_values
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.plan.nodes import PythonKernel
from gpuetl.records import dataclass
from gpuetl.user_kernels.function_frames import as_declared, checked_columns, host_frame, part
from gpuetl.user_kernels.kernel_options import current_options
from gpuetl.user_kernels.python_function import PythonFunction
from gpuetl.user_kernels.time_limit import within
from gpuetl.user_kernels.twin import exits_refused

T = TypeVar("T")
Offsets = NDArray[np.int64]
KeysOfRow = Callable[[int], Mapping[str, pa.Scalar]]
"""Gives the group keys of a row, for errors."""


def outputs_on_host(
    operation: PythonKernel, inputs: pa.Table, starts: Offsets | None, arguments: Mapping[str, Any], keys: KeysOfRow
) -> dict[str, Any]:
    """Return the outputs as Arrow arrays; `starts` are the first rows of groups, which are not empty.

    With `propagate` the function sees only rows in which every input is valid; the others get null.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, the function raises or takes too long, or its result is not as declared.
    """
    if operation.nulls == "forbid":
        refuse_nulls(operation, inputs)
    offsets = np.array([0, inputs.num_rows]) if starts is None else np.append(starts, inputs.num_rows)
    if operation.nulls != "propagate" or not any(column.null_count for column in inputs.columns):
        return called_on_host(operation, inputs, offsets, arguments, keys)
    valid = np.logical_and.reduce([column.is_valid().to_numpy() for column in inputs.columns])
    rows, before = np.flatnonzero(valid), np.append(0, np.cumsum(valid))
    own_keys: KeysOfRow = lambda row: keys(int(rows[row]))  # noqa: E731
    outputs = called_on_host(operation, inputs.filter(pa.array(valid)), np.unique(before[offsets]), arguments, own_keys)
    places = pa.array(before[:-1], mask=~valid)
    return {name: array.take(places) for name, array in outputs.items()}


def refuse_nulls(operation: PythonKernel, inputs: pa.Table) -> None:
    """Raise `EvaluationError` for the first null of an input."""
    for name, column in zip(inputs.column_names, inputs.columns, strict=True):
        if column.null_count:
            raise null_input(operation, name, first_null(column))


def first_null(column: Any) -> int:
    """Return the first row that is null."""
    return int(column.is_null().index(True).as_py())


def called_on_host(
    operation: PythonKernel, inputs: pa.Table, offsets: Offsets, arguments: Mapping[str, Any], keys: KeysOfRow
) -> dict[str, Any]:
    """Call the function for each group, of which `offsets` are the bounds; not at all without rows."""
    if not inputs.num_rows:
        return {name: pa.array([], dtype) for name, dtype in operation.outputs.items()}
    function = operation.contract.on_host
    frame = host_frame(inputs if len(offsets) == 2 else inputs.combine_chunks(), function.frame)

    def converted(result: Any, start: int, stop: int) -> dict[str, Any]:
        columns = checked_columns(function, result, operation.outputs, stop - start)
        return {name: as_declared(function, name, columns[name], dtype) for name, dtype in operation.outputs.items()}

    how = Calls(function, lambda start, stop: part(frame, start, stop), converted)
    results = call_for_groups(operation, how, offsets, arguments, keys)
    outputs = {name: pa.chunked_array([each[name] for each in results], dtype).combine_chunks()
               for name, dtype in operation.outputs.items()}  # fmt: skip
    for name, column in outputs.items():
        if operation.nulls == "forbid" and column.null_count:
            raise null_output(operation, name, first_null(column))
    return outputs


@dataclass(frozen=True, eq=False)
class Calls(Generic[T]):
    """How a function is called.

    Parameters
    ----------
    function
        What is called.
    part
        Gives the frame of the rows from a first one to one after the last.
    converted
        Checks what the function gives for these rows, and converts it.
    begin
        Sets up the thread that calls it.
    """

    function: PythonFunction
    part: Callable[[int, int], Any]
    converted: Callable[[Any, int, int], T]
    begin: Callable[[], None] = lambda: None


def call_for_groups(
    operation: PythonKernel, how: Calls[T], offsets: Offsets, arguments: Mapping[str, Any], keys: KeysOfRow
) -> list[T]:
    """Call a function for the rows between offsets, each time in its time limit.

    Raises
    ------
    EvaluationError
        Where it raises, takes too long, or gives what is not declared.
    """

    def work(calls: Any) -> list[T]:
        how.begin()
        results = []
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            own = how.part(start, stop)
            try:
                with calls:
                    result = call(own, **arguments)
            except (Exception, SystemExit) as error:
                raise function.raised(error, group_text(operation, keys, start)) from error
            results.append(how.converted(result, start, stop))
        return results

    function = how.function
    call = function.load()
    limits = [limit for limit in (function.timeout_s, current_options().timeout_s) if limit is not None]
    with exits_refused():
        return within(function, min(limits, default=None), work)


def group_text(operation: PythonKernel, keys: KeysOfRow, row: int) -> str:
    """Return which group a row is of, for an error; nothing where there is one alone."""
    return f", group {written_values(keys(row))}," if operation.by else ""


def null_output(operation: PythonKernel, name: str, row: int) -> EvaluationError:
    """Return the error of a null in an output where nulls are forbidden."""
    what = coded("GE1891", f"{operation.contract.entry} gave null for output '{name}', and the step forbids nulls")
    return EvaluationError(
        what, "Give a value, or set nulls: pass.", None if operation.grouped else row, operation.reads
    )

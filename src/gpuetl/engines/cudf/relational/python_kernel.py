"""PythonKernel: a user's Python function, over cuDF frames on the device, or over others in host memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.arrays import ZERO, numbers_where
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, single_row, to_arrow, to_table
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.columns.validity import valid_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.kernel import argument_programs, offsets_of, on_valid, refuse_nulls
from gpuetl.engines.python_functions import Calls, call_for_groups, null_output, outputs_on_host
from gpuetl.plan.nodes import PythonKernel
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import type_name
from gpuetl.user_kernels.function_frames import checked_columns, wrong
from gpuetl.user_kernels.python_function import TITLES


@run_operation.register
def run_python_kernel(operation: PythonKernel, machine: Machine, frame: Frame) -> Frame:
    """Add the function's outputs; frames other than cuDF's are copied to the host, and their outputs back.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, or the function raises, takes too long, or breaks its declaration.
    """
    starts = None
    if operation.grouped:
        order = sort_rows(frame, operation.sort_keys, len(operation.by), operation.presorted, machine, whole=True)
        if operation.order_by:
            note_ties(operation, operation.sort_keys, order.ties)
        frame = order.apply(frame, machine)
        starts = order.group_starts(machine)
    inputs = {name: frame.columns[name] for name in operation.reads}
    if not operation.on_device:
        return frame.updated(on_host(operation, inputs, starts, frame, machine))
    if operation.nulls == "forbid":
        refuse_nulls(operation, inputs, machine)
    if operation.nulls == "propagate":
        return frame.updated(on_valid(operation, inputs, starts, frame.rows, machine, called))
    outputs = called(operation, inputs, offsets_of(starts, None, frame.rows, machine), frame.rows, machine)
    if operation.nulls == "forbid":
        for name, vector in outputs.items():
            if vector.nulls:
                raise null_output(operation, name, int(numbers_where(valid_rows(vector, machine), machine, ZERO)[0]))
    return frame.updated(outputs)


@programs.register
def python_kernel_programs(operation: PythonKernel, frame: Kinds) -> Needed:
    """List those of the arguments."""
    new_vectors = {name: Kind(dtype) for name, dtype in operation.outputs.items()}
    return Needed(argument_programs(operation).sources, passed(operation.schema, new_vectors, frame.columns))


def on_host(
    operation: PythonKernel, inputs: dict[str, Vector], starts: Array | None, frame: Frame, machine: Machine
) -> dict[str, Vector]:
    """Call a function over pandas or Arrow frames."""
    kind = TITLES[operation.contract.frame]
    note(f"{operation.origin}: {operation.contract.entry} takes {kind} frames: its inputs were copied to the host")
    offsets = None if starts is None else np.asarray(machine.host(starts), np.int64)
    table = to_table(Frame(inputs, frame.rows), machine)
    keys = partial(keys_of_row, operation, frame, machine)
    outputs = outputs_on_host(operation, table, offsets, python_values(operation, machine), keys)
    return {name: from_arrow(column, machine) for name, column in outputs.items()}


def called(
    operation: PythonKernel, inputs: dict[str, Vector], offsets: Array | None, rows: int, machine: Machine
) -> dict[str, Vector]:
    """Call a function over cuDF frames, for each group between `offsets`; not at all without rows."""
    outputs, function = operation.outputs, operation.contract
    if not rows:
        return {name: from_arrow(pa.array([], dtype), machine) for name, dtype in outputs.items()}
    frame = machine.to_dataframe(Frame(inputs, rows))
    bounds = np.array([0, rows]) if offsets is None else np.asarray(machine.host(offsets), np.int64)

    def part(start: int, stop: int) -> Any:
        return frame.iloc[start:stop].reset_index(drop=True)

    def converted(result: Any, start: int, stop: int) -> Frame:
        columns = checked_columns(function, result, outputs, stop - start)
        vectors = {}
        for name, dtype in outputs.items():
            try:
                vectors[name] = machine.from_series(columns[name], dtype)
            except TypeError as error:
                hint = "Convert it in the function, or declare its type."
                what = f"gave output '{name}' as {error}, and {type_name(dtype)} is declared"
                raise wrong(function, what, hint) from None
        return Frame(vectors, stop - start)

    keys = partial(keys_of_row, operation, Frame(inputs, rows), machine)
    how = Calls(function, part, converted, machine.thread_setup())
    parts = call_for_groups(operation, how, bounds, python_values(operation, machine), keys)
    return dict(concat(parts, outputs, machine).columns)


def keys_of_row(operation: PythonKernel, frame: Frame, machine: Machine, row: int) -> dict[str, Any]:
    """Return the group keys of a row, as Arrow's scalars; those that are not in the frame are left out."""
    keys = {name: frame.columns[name] for name in operation.by if name in frame.columns}
    return {name: to_arrow(single_row(vector, row, machine), machine)[0] for name, vector in keys.items()}


def python_values(operation: PythonKernel, machine: Machine) -> dict[str, Any]:
    """Return the step's arguments as Python's values; a null is None."""
    values = evaluate(operation.arguments, {}, 1, machine)
    return {name: to_arrow(vector, machine)[0].as_py() for name, vector in values.items()}

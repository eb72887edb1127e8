"""Kernel: the user's CUDA source, on the rows or groups that its declaration asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.codegen.triton_compiler import launch_types
from gpuetl.engines.cudf.codegen.user_kernels import check_guards, elementwise, elementwise_source, guarded, user_kernel
from gpuetl.engines.cudf.columns.arrays import (
    ZERO,
    choose,
    filled,
    mark_changes,
    numbers_where,
    pick,
    scan,
    scatter,
    with_last,
)
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.columns.validity import (
    empty_bits,
    valid_in,
    valid_in_all,
    valid_rows,
    valid_words,
)
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.cudf.relational.kernel_scan import known_values, scan_source, scanned
from gpuetl.engines.no_result import null_input
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded, recoded
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch, device_type
from gpuetl.user_kernels.kernel_code import KernelCode, null_argument
from gpuetl.user_kernels.shared_memory import shared_bytes
from gpuetl.user_kernels.triton_kernel import TritonKernel

MAX_OFFSET = 2**31 - 1
Operation = TypeVar("Operation", bound=Kernel)


@run_operation.register
def run_kernel(operation: Kernel, machine: Machine, frame: Frame) -> Frame:
    """Add the kernel's outputs.

    With `propagate` the kernel sees only rows in which every input is valid; the others get null.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, the source does not compile, or groups have more rows than offsets count.
    """
    starts = new_group = None
    if operation.grouped:
        if frame.rows > MAX_OFFSET:
            found = f"kernel '{operation.contract.entry}' has {frame.rows:,} rows in one partition"
            raise EvaluationError(
                coded("GE2008", f"{found}, and offsets hold {MAX_OFFSET:,}.  Run with smaller partitions")
            )
        order = sort_rows(frame, operation.sort_keys, len(operation.by), operation.presorted, machine, whole=True)
        note_ties(operation, operation.sort_keys, order.ties)
        frame, new_group = order.apply(frame, machine), order.new_group
        starts = order.group_starts(machine) if operation.kind == "groups" else None
    inputs = {name: frame.columns[name] for name in operation.reads}
    if operation.nulls == "forbid":
        refuse_nulls(operation, inputs, machine)
    if isinstance(operation.contract, KernelCode):
        outputs = run_generated(operation, operation.contract, inputs, new_group, frame.rows, machine)
    elif operation.nulls == "masks":
        outputs = with_masks(operation, inputs, starts, frame.rows, machine)
    else:
        outputs = on_valid(operation, inputs, starts, frame.rows, machine, launched)
    return frame.updated(outputs)


@programs.register
def kernel_programs(operation: Kernel, frame: Kinds) -> Needed:
    """List those of the arguments, and the user's."""
    needed = argument_programs(operation)
    inputs = columns_of_kinds({name: frame.columns[name] for name in operation.reads})
    contract, arguments = operation.contract, columns_of_kinds(needed.columns)
    new_vectors = {name: Kind(dtype) for name, dtype in operation.outputs.items()}
    if isinstance(contract, TritonKernel):  # Triton compiles and keeps it
        return Needed(needed.sources, passed(operation.schema, new_vectors, frame.columns))
    if isinstance(contract, KernelContract):
        text = KernelSource(contract.source, contract.entry, contract.cuda)
    elif operation.grouped:
        text = KernelSource(scan_source(operation, contract, inputs, known_values(operation)), contract.entry)
    else:
        text = KernelSource(elementwise_source(operation, contract, inputs, arguments), contract.entry)
    return Needed([*needed.sources, text], passed(operation.schema, new_vectors, frame.columns))


def argument_programs(operation: Kernel | KernelReduction | KernelTable) -> Needed:
    """List the programs that compute a step's arguments, as a frame of one row."""
    return evaluated(operation.arguments, Kinds({}, 1))


def run_generated(
    operation: Kernel, contract: KernelCode, inputs: dict[str, Vector], new_group: Array | None, rows: int,
    machine: Machine,
) -> dict[str, Vector]:  # fmt: skip
    """Run what is generated around a user's sources; `new_group` marks (uint8) where the groups of a scan begin."""
    arguments = argument_columns(operation, machine)
    if new_group is None:
        return elementwise(operation, contract, inputs, arguments, rows, machine)
    values = {name: machine.host(vector.data)[0].item() for name, vector in arguments.items()}
    return scanned(operation, contract, inputs, values, new_group, rows, machine)


def refuse_nulls(
    operation: Kernel | KernelReduction | KernelTable, inputs: dict[str, Vector], machine: Machine
) -> None:
    """Raise `EvaluationError` for the first null that the kernel forbids."""
    for name, vector in inputs.items():
        if vector.nulls:
            raise null_input(operation, name, int(numbers_where(valid_rows(vector, machine), machine, ZERO)[0]))


def on_valid(
    operation: Operation, inputs: dict[str, Vector], starts: Array | None, rows: int, machine: Machine,
    compute: Callable[[Operation, dict[str, Vector], Array | None, int, Machine], dict[str, Vector]],
) -> dict[str, Vector]:  # fmt: skip
    """Compute on the rows that are valid in every input, and spread the outputs over all rows."""
    nullable = [vector for vector in inputs.values() if vector.nulls]
    if not nullable:
        return compute(operation, inputs, offsets_of(starts, None, rows, machine), rows, machine)
    valid = valid_in_all(nullable, machine)
    kept = numbers_where(valid, machine)
    before = None if starts is None else scan(valid, machine, "int32", before=True)
    offsets = offsets_of(starts, before, len(kept), machine)
    outputs = compute(operation, take(inputs, kept, machine, missing=False), offsets, len(kept), machine)
    places = filled(rows, -1, "int32", machine)
    scatter(places, kept, machine)
    return take(outputs, places, machine)


def offsets_of(starts: Array | None, before: Array | None, rows: int, machine: Machine) -> Array | None:
    """Return where each group begins among the rows that the kernel sees (int32), and their number; none is empty.

    `before` (int32) counts those rows before each row, where they are not all.
    """
    if starts is None:
        return None
    if before is not None:
        starts = pick(before, starts, machine)
    if not rows:
        return machine.arrays.zeros(1, "int32")
    ends = with_last(starts, rows, machine)
    return pick(ends, numbers_where(mark_changes(ends, machine), machine), machine)


def with_masks(
    operation: Kernel, inputs: dict[str, Vector], starts: Array | None, rows: int, machine: Machine
) -> dict[str, Vector]:
    """Run with each array's validity words after it; the kernel writes those of its outputs."""
    offsets = offsets_of(starts, None, rows, machine)
    new_vectors = {name: empty(dtype, rows, machine) for name, dtype in operation.outputs.items()}
    masks = {name: empty_bits(rows, machine) for name in new_vectors}
    written = {f"output '{n}'": v for n, v in new_vectors.items()} | {
        f"the validity words of '{n}'": v for n, v in masks.items()
    }
    arguments, bands = guarded(written, machine)
    values, words = list(arguments.values())[: len(new_vectors)], list(arguments.values())[len(new_vectors) :]
    pairs = [part for vector in inputs.values() for part in (vector.data, mask_of(vector, machine))]
    pairs += [part for pair in zip(values, words, strict=True) for part in pair]
    call(operation, pairs, offsets, rows, machine)
    check_guards(operation, bands)
    results = {}
    for (name, dtype), data, mask in zip(operation.outputs.items(), values, words, strict=True):
        results[name] = valid_in([mask], Vector(dtype, rows, choose(mask, data, 0, machine)), machine)
    return results


def mask_of(vector: Vector, machine: Machine) -> Array:
    """Return a column's validity words, also where it has no null."""
    valid: Array | None = vector.valid
    if valid is not None:
        return valid
    return valid_words([], vector.rows, machine)[0]


def empty(dtype: Any, rows: int, machine: Machine) -> Array:
    """Return an output to be written."""
    return machine.arrays.zeros(rows, storage_type(dtype))


def launched(
    operation: Kernel, inputs: dict[str, Vector], offsets: Array | None, rows: int, machine: Machine
) -> dict[str, Vector]:
    """Run on columns without nulls."""
    new_vectors = {f"output '{name}'": empty(dtype, rows, machine) for name, dtype in operation.outputs.items()}
    outputs, bands = guarded(new_vectors, machine)
    call(operation, [*(vector.data for vector in inputs.values()), *outputs.values()], offsets, rows, machine)
    check_guards(operation, bands)
    arrays = [array.copy() for array in outputs.values()] if bands else outputs.values()  # without their bands
    return {name: Vector(t, rows, array) for (name, t), array in zip(operation.outputs.items(), arrays, strict=True)}


def call(operation: Kernel, arrays: list[Array], offsets: Array | None, rows: int, machine: Machine) -> None:
    """Launch a thread for each row, or a block for each group, and wait for the kernel.

    Raises
    ------
    EvaluationError
        Where the kernel does not compile, ends in a fault, or does not end in time.
    """
    if not rows:
        return
    contract = operation.contract
    assert isinstance(contract, KernelContract)
    values = scalars(operation, contract, machine, 2 * (operation.kind == "groups"))
    arguments = [*arrays, *values]
    shared = shared_bytes_of(operation, values)
    blocks = -(-rows // operation.block)
    if offsets is not None:
        blocks = len(offsets) - 1
        arguments += [offsets, np.int32(blocks)]
    if isinstance(contract, TritonKernel):
        start = machine.triton_kernel(contract, launch_types(operation), operation.block)
        with user_kernel(operation, machine):
            start(blocks, [*arguments, np.int64(rows)])
        return
    launch = machine.user_kernel(contract.source, contract.cuda, contract.entry)
    with user_kernel(operation, machine):
        launch(blocks, operation.block, [*arguments, np.int64(rows)], shared)


def shared_bytes_of(operation: Kernel | KernelTable, values: Iterable[Any]) -> int:
    """Return the shared memory of a block, which the step's arguments may decide.

    Raises
    ------
    EvaluationError
        Where no device has so much.
    """
    named_values = dict(zip(operation.arguments, (value.item() for value in values), strict=True))
    try:
        return shared_bytes(operation.shared_bytes, operation.block, named_values)
    except KernelMismatch as error:
        raise EvaluationError(recoded(f"kernel '{operation.contract.entry}': {error}", error)) from None


def argument_columns(operation: Kernel | KernelReduction | KernelTable, machine: Machine) -> dict[str, Vector]:
    """Return the step's arguments as columns of one row; raise `EvaluationError` for a null."""
    values = evaluate(operation.arguments, {}, 1, machine)
    for name, vector in values.items():
        if vector.nulls:
            raise EvaluationError(coded("GE1306", null_argument(operation.contract.entry, name)))
    return values


def scalars(operation: Kernel | KernelTable, contract: KernelContract, machine: Machine, after: int = 0) -> list[Any]:
    """Return the step's arguments as the types in which the kernel takes them; `after` more parameters follow them."""
    values = argument_columns(operation, machine)
    parameters = contract.parameters
    first = len(parameters) - 1 - after - len(values)
    results = []
    for vector, parameter in zip(values.values(), parameters[first:], strict=False):
        dtype = parameter.dtype or device_type(vector.dtype)
        results.append(np.dtype(dtype.to_pandas_dtype()).type(machine.host(vector.data)[0]))
    return results

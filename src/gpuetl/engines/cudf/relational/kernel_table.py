"""KernelTable: a user's kernel writes rows into slots, as many as it may make; what it made is put together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.codegen.user_kernels import check_guards, guarded, user_kernel
from gpuetl.engines.cudf.columns.arrays import canonical, filled, iota, numbers_where, pick, scan
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.columns.validity import valid_in_all
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.cudf.relational.kernel import (
    argument_programs,
    empty,
    offsets_of,
    refuse_nulls,
    scalars,
    shared_bytes_of,
)
from gpuetl.engines.table_kernel_bounds import check_total, most_rows, not_counted, too_many
from gpuetl.plan.nodes import KernelTable

SOURCE = f"""{headers_text(["rows.cuh"])}
// Marks units that made more rows than they have slots, or did not say how many, and counts the rows of each.
KERNEL check_counts(int64_t units, const int32_t* counts, const int64_t* starts, int64_t* made, uint8_t* bad) {{
    FOR_EACH_ROW(unit, units) {{
        if (unit >= units) continue;
        const int64_t count = counts[unit];
        bad[unit] = count < 0 || count > starts[unit + 1] - starts[unit];
        made[unit] = count < 0 ? 0 : count;
    }}
}}
// Finds the slot and the unit of each row; `ends` are the sums of the units' rows.
KERNEL find_slots(int64_t rows, int64_t units, const int64_t* ends, const int64_t* starts, int32_t* slots,
                  int32_t* owners) {{
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        int64_t low = 0, high = units - 1;  // the first unit that ends after the row
        while (low < high) {{
            const int64_t middle = (low + high) / 2;
            if (ends[middle] > row) high = middle;
            else low = middle + 1;
        }}
        slots[row] = int32_t(starts[low] + row - (low ? ends[low - 1] : 0));
        owners[row] = int32_t(low);
    }}
}}
"""


class Units(NamedTuple):
    """The rows that a kernel sees, in units.

    Parameters
    ----------
    inputs
        Columns without nulls.
    rows
        How many rows they have.
    kept
        Their numbers in the frame (int32); None where they are all.
    offsets
        Where groups begin among them, and their number (int32); None without groups.
    number
        How many units they are.
    """

    inputs: dict[str, Vector]
    rows: int
    kept: Array | None
    offsets: Array | None
    number: int


class Slots(NamedTuple):
    """What a kernel wrote: its outputs, the first slot of each unit and their number (int64), and counts (int32)."""

    outputs: dict[str, Vector]
    starts: Array
    counts: Array
    total: int


@run_operation.register
def make_rows(operation: KernelTable, machine: Machine, frame: Frame) -> Frame:
    """Let the kernel make rows of those in which every input is valid.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, the source does not compile, or the kernel makes more rows than declared.
    """
    starts = None
    if operation.grouped:
        order = sort_rows(frame, operation.sort_keys, len(operation.by), False, machine, whole=True)
        if operation.order_by:
            note_ties(operation, operation.sort_keys, order.ties)
        frame, starts = order.apply(frame, machine), order.group_starts(machine)
    units = units_of(operation, frame, starts, machine)
    slots = launched_table(operation, units, machine) if units.number else None
    if slots is None:
        none = machine.arrays.zeros(0, "int32")
        kept = take({name: frame.columns[name] for name in operation.kept}, none, machine, missing=False)
        outputs = {name: Vector(dtype, 0, empty(dtype, 0, machine)) for name, dtype in operation.outputs.items()}
        return Frame({name: {**kept, **outputs}[name] for name in operation.schema}, 0)
    rows, places, owners = made_rows(operation, units, slots, machine)
    outputs = slots.outputs if rows == slots.total else take(slots.outputs, places, machine, missing=False)
    columns = dict(outputs)
    if operation.kept:
        if units.offsets is not None:
            owners = pick(units.offsets, owners, machine)
        if units.kept is not None:
            owners = pick(units.kept, owners, machine)
        columns |= take({name: frame.columns[name] for name in operation.kept}, owners, machine, missing=False)
    if operation.grouped:
        columns |= {name: canonical(columns[name], machine) for name in operation.by}
    return Frame({name: columns[name] for name in operation.schema}, rows)


@programs.register
def table_programs(operation: KernelTable, frame: Kinds) -> Needed:
    """List those of the arguments, the user's, and what puts rows together."""
    needed, contract = argument_programs(operation), operation.contract
    sources = [*needed.sources, KernelSource(contract.source, contract.entry, contract.cuda), KernelSource(SOURCE)]
    outputs = {name: Kind(dtype) for name, dtype in operation.outputs.items()}
    return Needed(sources, passed(operation.schema, outputs, frame.columns))


def units_of(operation: KernelTable, frame: Frame, starts: Array | None, machine: Machine) -> Units:
    """Return the rows that are valid in every input, in units; `starts` are the first rows of groups."""
    inputs = {name: frame.columns[name] for name in operation.reads}
    if operation.nulls == "forbid":
        refuse_nulls(operation, inputs, machine)
    kept, before, rows = None, None, frame.rows
    nullable = [vector for vector in inputs.values() if vector.nulls]
    if nullable:
        valid = valid_in_all(nullable, machine)
        kept = numbers_where(valid, machine)
        before = None if starts is None else scan(valid, machine, "int32", before=True)
        inputs, rows = take(inputs, kept, machine, missing=False), len(kept)
    offsets = offsets_of(starts, before, rows, machine)
    count = rows if operation.per == "row" else min(rows, 1) if offsets is None else len(offsets) - 1
    return Units(inputs, rows, kept, offsets, count)


def launched_table(operation: KernelTable, units: Units, machine: Machine) -> Slots:
    """Launch a thread for each row, or a block for each group, with room for all rows that the units may make."""
    contract, groups = operation.contract, units.offsets is not None
    values = scalars(operation, contract, machine, 2 + 2 * groups)
    arguments = dict(zip(operation.arguments, (value.item() for value in values), strict=True))
    starts, total = first_slots(operation, units, arguments, machine)
    made = {f"output '{name}'": empty(dtype, total, machine) for name, dtype in operation.outputs.items()}
    arrays, bands = guarded({**made, "counts": filled(units.number, -1, "int32", machine)}, machine)
    *outputs, counts = arrays.values()
    passed_on: list[Any] = [*(vector.data for vector in units.inputs.values()), *outputs, *values]
    blocks = -(-units.rows // operation.block)
    if units.offsets is not None:
        blocks = units.number
        passed_on += [units.offsets, np.int32(blocks)]
    launch = machine.user_kernel(contract.source, contract.cuda, contract.entry)
    with user_kernel(operation, machine):
        launch(blocks, operation.block, [*passed_on, starts, counts, np.int64(units.rows)],
               shared_bytes_of(operation, values))  # fmt: skip
    check_guards(operation, bands)
    if bands:  # without their bands
        outputs, counts = [array.copy() for array in outputs], counts.copy()
    vectors = {n: Vector(t, total, array) for (n, t), array in zip(operation.outputs.items(), outputs, strict=True)}
    return Slots(vectors, starts, counts, total)


def first_slots(operation: KernelTable, units: Units, arguments: dict[str, Any], machine: Machine) -> tuple[Array, int]:
    """Return the first slot of each unit, and the number of all behind them (int64); and that number."""
    if operation.per == "row":
        (bound,) = most_rows(operation, [1], arguments).tolist()
        check_total(operation, bound * units.number)
        return iota(units.number + 1, machine, "int64", bound), bound * units.number
    sizes = np.array([units.rows]) if units.offsets is None else np.diff(machine.host(units.offsets))
    ends = np.concatenate([[0], np.cumsum(most_rows(operation, sizes, arguments))]).astype(np.int64)  # type: ignore[arg-type]
    return machine.arrays.asarray(ends), int(ends[-1])


def made_rows(operation: KernelTable, units: Units, slots: Slots, machine: Machine) -> tuple[int, Array, Array]:
    """Return how many rows the units made, the slot of each and its unit (int32).

    Raises
    ------
    EvaluationError
        For the first unit that made more than it may, or did not say how many.
    """
    arrays, module = machine.arrays, machine.compiled(SOURCE)
    made, bad = arrays.empty(units.number, "int64"), arrays.empty(units.number, "uint8")
    machine.launch(
        module, "check_counts", units.number, [units.number, slots.counts, slots.starts, made, bad]
    )  # fmt: skip
    wrong = numbers_where(bad, machine)
    if len(wrong):
        raise refused_unit(operation, units, slots, int(machine.host(wrong[:1])[0]), machine)
    ends = scan(made, machine)
    rows = int(machine.host(ends[units.number - 1 :])[0])
    places, owners = arrays.empty(rows, "int32"), arrays.empty(rows, "int32")
    machine.launch(module, "find_slots", rows, [rows, units.number, ends, slots.starts, places, owners])
    return rows, places, owners


def refused_unit(operation: KernelTable, units: Units, slots: Slots, unit: int, machine: Machine) -> Exception:
    """Return the error of a unit whose count is not what it may be."""
    row = None
    if operation.per == "row":
        row = unit if units.kept is None else int(machine.host(units.kept[unit : unit + 1])[0])
    count = int(machine.host(slots.counts[unit : unit + 1])[0])
    if count < 0:
        return not_counted(operation, row)
    first, last = machine.host(slots.starts[unit : unit + 2]).tolist()
    size = units.rows
    if units.offsets is not None:
        begin, end = machine.host(units.offsets[unit : unit + 2]).tolist()
        size = end - begin
    return too_many(operation, size, count, last - first, row)

"""Window: rows sorted by group and order once, then a few kernels for all calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar, cast

from gpuetl.engines.cudf.codegen.evaluate import evaluate, row_and_reason
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.codegen.row_kernels import case
from gpuetl.engines.cudf.columns.arrays import choose, filled, joined, mark_not_negative, scan, scatter
from gpuetl.engines.cudf.columns.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import single_row, to_arrow
from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.columns.validity import valid_rows
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.cudf.relational.frame_order import OrderedColumn, run_frame_order
from gpuetl.engines.cudf.relational.window_frames import KernelOutput, WindowRows, frame_source, run_frames
from gpuetl.engines.cudf.relational.window_functions import WINDOW_FUNCTIONS, WindowCall
from gpuetl.engines.cudf.relational.window_scans import KnownColumns, Pass, pass_sources, reads_of, run_pass
from gpuetl.engines.cudf.relational.window_steps import (
    FIRST_ROW,
    CallPlan,
    FrameFold,
    FrameOrder,
    Output,
    PresentRows,
    RowNumbers,
    Scan,
    ShiftedValues,
    Step,
    Values,
)
from gpuetl.engines.no_result import window_overflow
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.windows import TIE_FREE
from gpuetl.expressions.ir import ABSENT, Call, Column, Expr, Literal
from gpuetl.plan.nodes import Window
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, DataType, is_number, is_temporal, type_name
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_nested

# The outputs of all calls, each once: passes in both directions, then frames.


OUTPUTS_PER_KERNEL = 8
"""More would take more registers than threads have, and more parameters than a kernel."""
BEYOND = 2**31 - 1
Item = TypeVar("Item")


@dataclass(frozen=True)
class Results:
    """What was written, and the first fault of each step, 0 where there is none."""

    columns: Mapping[Output, Vector]
    faults: Mapping[Step, int]

    @classmethod
    def of(cls, kernels: Sequence[KernelOutput], rows: WindowRows) -> Results:
        """Ask the device once what it has to tell of all kernels."""
        columns: dict[Output, Vector] = {}
        faults: dict[Step, int] = {}
        if not kernels:
            return cls(columns, faults)
        counters = iter(joined([written.state for written in kernels], rows.machine).tolist())
        for written in kernels:
            own_faults, own_columns = written.completed(list(islice(counters, len(written.state))))
            faults.update(own_faults)
            columns.update(own_columns)
        return cls(columns, faults)


def compute_outputs(outputs: Iterable[Output], rows: WindowRows) -> Results:
    """Compute outputs, and what their steps read."""
    work = Work.of(outputs)
    kernels = [run_pass(Pass(some, True, {}, rows)) for some in work.backward]
    columns = {output: column.data for written in kernels for output, column in written.columns.items()}
    known: KnownColumns = {scan: [columns[RowNumbers(scan)]] for scan in work.scans_read}
    known = {**known, **{each: present_rows(each, rows) for each in work.present}}
    kernels += [run_pass(Pass(some, False, known, rows)) for some in work.forward]
    columns = {output: column.data for written in kernels for output, column in written.columns.items()}
    kernels += [run_frames(some, [columns[bound] for bound in bounds], rows) for bounds, some in work.frames]
    kernels += [*ordered_frames(work.ordered, columns, rows)]
    return Results.of(kernels, rows)


def ordered_frames(
    outputs: Sequence[Values], columns: Mapping[Output, Array], rows: WindowRows
) -> Iterator[KernelOutput]:
    """Write outputs by the order of values; each column is put in order once."""
    ordered: dict[str, OrderedColumn] = {}
    for output in outputs:
        step = output.step
        assert isinstance(step, FrameOrder)
        of_column = OrderedColumn(rows.columns[step.column], columns[RowNumbers(FIRST_ROW)], rows.machine)
        bounds = [columns[bound] for bound in bounds_of(step)]
        yield run_frame_order(output, bounds, ordered.setdefault(step.column, of_column), rows)


def output_programs(outputs: Iterable[Output], rows: WindowRows) -> list[str]:
    """List the programs of `compute_outputs`; of the rows it takes the kinds of columns alone."""
    work = Work.of(outputs)
    known: KnownColumns = {**{scan: [] for scan in work.scans_read}, **{each: [] for each in work.present}}
    passes = [Pass(some, True, {}, rows) for some in work.backward]
    passes += [Pass(some, False, known, rows) for some in work.forward]
    sources = [text for each in passes for text in pass_sources(each)]
    return sources + [frame_source(some, rows) for _, some in work.frames]


@dataclass(frozen=True)
class Work:
    """Which kernels write which outputs, in the order in which they run.

    `backward` passes come first.  `forward` passes may read what backward scans give (`scans_read`).  They may also
    read the rows that are `present`.  `frames` are outputs of equal frames, with the steps that give their bounds;
    `ordered` are those of frames by the order of their values.
    """

    backward: Sequence[Sequence[Output]]
    forward: Sequence[Sequence[Output]]
    frames: Sequence[tuple[tuple[RowNumbers, ...], Sequence[Output]]]
    scans_read: Sequence[Scan]
    present: Sequence[PresentRows]
    ordered: Sequence[Values]

    @classmethod
    def of(cls, outputs: Iterable[Output]) -> Work:
        """Divide outputs, and what their steps read, among kernels."""
        wanted = dict.fromkeys(outputs)
        bounds = {
            output: bounds_of(output.step) for output in wanted if isinstance(output.step, FrameFold | FrameOrder)
        }
        ordered = [each for each in bounds if isinstance(each, Values) and isinstance(each.step, FrameOrder)]
        numbers = [number for each in bounds.values() for number in each] + [RowNumbers(FIRST_ROW)] * bool(ordered)
        passes = dict.fromkeys([*(output for output in wanted if output not in bounds), *numbers])
        forward = [output for output in passes if not runs_backward(output.step)]
        read = dict.fromkeys(each for output in forward for each in reads_of(output.step))
        scans = [each for each in read if isinstance(each, Scan) and each.backward]
        own = [output for output in passes if runs_backward(output.step)]
        backward = dict.fromkeys([*own, *map(RowNumbers, scans)])
        frames = [
            (each, some)
            for each in dict.fromkeys(bounds.values())
            for some in pieces([out for out in bounds if bounds[out] == each and out not in ordered])
        ]
        present = [each for each in read if isinstance(each, PresentRows)]
        return cls(list(pieces(list(backward))), list(pieces(forward)), frames, scans, present, ordered)


def bounds_of(step: FrameFold | FrameOrder) -> tuple[RowNumbers, ...]:
    """Return what gives the first row of each frame, and the row after it where that is not the row after its own."""
    return tuple(RowNumbers(bound) for bound in (step.start, step.end) if bound is not None)


def runs_backward(step: Step) -> bool:
    """Whether a step is computed from the last row on."""
    return not isinstance(step, FrameFold | FrameOrder) and step.backward


def pieces(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield as many at a time as a kernel takes."""
    for place in range(0, len(items), OUTPUTS_PER_KERNEL):
        yield items[place : place + OUTPUTS_PER_KERNEL]


def present_rows(step: PresentRows, rows: WindowRows) -> list[Any]:
    """Return the arguments that stand for the rows that have a value: how many are before each, and their numbers.

    Behind them is a number beyond all rows, so that nobody has to ask the device how many they are.
    """
    machine, column = rows.machine, rows.columns[step.column]
    before = scan(valid_rows(column, machine), machine, "int32", before=True)
    present = filled(rows.rows + 1, BEYOND, "int32", machine)
    scatter(present, choose(column.valid, before, -1, machine), machine)
    return [before, present, rows.rows]


@run_operation.register
def compute_windows(operation: Window, machine: Machine, frame: Frame) -> Frame:
    """Sort the rows, and add each call's column.

    Raises
    ------
    EvaluationError
        Where a sum, product or difference leaves its type.
    """
    order = sort_rows(frame, operation.sort_keys, len(operation.by), operation.presorted, machine, whole=True)
    if any(call.function.name not in TIE_FREE for call in operation.calls.values()):
        note_ties(operation, operation.sort_keys, order.ties)
    frame = order.apply(frame, machine)
    calls, constants = with_constants(operation.calls)
    columns = {**frame.columns, **evaluate(constants, frame.columns, frame.rows, machine)}
    rows = WindowRows(columns, frame.rows, order.new_group, order.new_value, machine)
    plans = call_plans(operation, calls, rows.rows)
    results = compute_outputs([output_of(plan, rows) for plan in plans.values()], rows)
    outputs = {name: column_of(operation, name, calls[name], plan, results, rows) for name, plan in plans.items()}
    return frame.updated(outputs)


@programs.register
def window_programs(operation: Window, frame: Kinds) -> Needed:
    """List those of constants, of passes and frames, and of defaults of strings that are moved."""
    calls, constants = with_constants(operation.calls)
    needed = evaluated(constants, frame)
    kinds, nothing = {**frame.columns, **needed.columns}, cast("Any", None)
    rows = WindowRows(columns_of_kinds(kinds), int(min(frame.rows, MAX_ROWS)), nothing, nothing, nothing)
    plans = call_plans(operation, calls, rows.rows)
    sources = [KernelSource(text) for text in output_programs([output_of(plan, rows) for plan in plans.values()], rows)]
    outputs: dict[str, Kind] = {}
    for name, plan in plans.items():
        outputs[name] = kinds[plan.column] if isinstance(plan, ShiftedValues) else Kind(calls[name].dtype)
        if isinstance(plan, ShiftedValues) and plan.default and isinstance(output_of(plan, rows), RowNumbers):
            gathered = kinds[plan.column]
            known = {":found": Kind(BOOL), ":taken": gathered, ":default": kinds[plan.default]}
            chosen = evaluated({"": or_default(gathered.dtype)}, Kinds(known, frame.rows))
            sources += chosen.sources
            outputs[name] = chosen.columns[""]
    return Needed([*needed.sources, *sources], passed(operation.schema, outputs, frame.columns))


def call_plans(operation: Window, calls: Mapping[str, Call], rows: int) -> dict[str, CallPlan]:
    """Return how calls are computed, by name; `rows` bounds their offsets."""
    time, key = order_time(operation), order_key(operation)
    return {
        name: WINDOW_FUNCTIONS[call.function.name](WindowCall(call, time, rows, key)) for name, call in calls.items()
    }


def with_constants(calls: Mapping[str, Call]) -> tuple[dict[str, Call], dict[str, Expr]]:
    """Return the calls with columns in place of constants of which rows are moved or folded, and the constants."""
    outputs: dict[Literal, Column] = {}

    def on_columns(call: Call) -> Call:
        slots = zip(call.function.arguments, call.args, strict=False)
        return replace(call, args=tuple(arg if slot.constant else column(arg) for slot, arg in slots))

    def column(argument: Expr) -> Expr:
        if not isinstance(argument, Literal) or argument == ABSENT:
            return argument
        return outputs.setdefault(argument, Column(f":constant {len(outputs)}", argument.dtype))

    rewritten = {name: on_columns(call) for name, call in calls.items()}
    return rewritten, {column.name: literal for literal, column in outputs.items()}


def order_time(operation: Window) -> Column | None:
    """Return the first key of the order, if it is an ascending date or timestamp."""
    key = operation.order_by[0]
    dtype = operation.source.schema[key.column]
    return Column(key.column, dtype) if is_temporal(dtype) and not key.descending else None


def order_key(operation: Window) -> Column | None:
    """Return the first key of the order, if it ascends and is a time or a number."""
    key = operation.order_by[0]
    dtype = operation.source.schema[key.column]
    return None if key.descending or not (is_temporal(dtype) or is_number(dtype)) else Column(key.column, dtype)


def column_of(operation: Window, name: str, call: Call, plan: CallPlan, results: Results, rows: WindowRows) -> Vector:
    """Return a call's column; raise `EvaluationError` where a row has no result."""
    if fault := results.faults[plan.step]:
        row, _ = row_and_reason(fault)
        columns, machine = rows.columns, rows.machine
        failed = window_overflow(
            operation,
            call,
            overflow(call, row),
            row,
            lambda column: to_arrow(single_row(columns[column], row, machine), machine)[0],
        )
        raise EvaluationError.of_column(name, failed)
    output = output_of(plan, rows)
    outputs = results.columns[output]
    return (
        shifted_values(plan, outputs.data, rows)
        if isinstance(plan, ShiftedValues) and isinstance(output, RowNumbers)
        else outputs
    )


def output_of(plan: CallPlan, rows: WindowRows) -> Output:
    """Return what a kernel writes for a call: of strings and lists that are moved, the row numbers."""
    if isinstance(plan, ShiftedValues):
        dtype = rows.columns[plan.column].dtype
        return RowNumbers(plan.step) if has_bytes(dtype) or is_nested(dtype) else plan
    return plan


def overflow(call: Call, row: int) -> str:
    """Return the words for the first row that has no result."""
    name, decimal = call.function.name, is_decimal(call.dtype)
    dtype = type_name(call.dtype) if decimal else "int64"
    if decimal and name == "diff":
        return f"diff: overflow of {dtype}; cast the column to float64"
    return f"{name} leaves {dtype} at row {row}; cast the column to {'float64' if decimal else 'float64 or decimal'}"


def shifted_values(plan: ShiftedValues, numbers: Array, rows: WindowRows) -> Vector:
    """Return the values of the rows of some numbers, and the default where the number is -1."""
    gathered = take({"": rows.columns[plan.column]}, numbers, rows.machine)[""]
    if plan.default is None:
        return gathered
    found = Vector(BOOL, rows.rows, mark_not_negative(numbers, rows.machine))
    known = {":found": found, ":taken": gathered, ":default": rows.columns[plan.default]}
    return evaluate({"": or_default(gathered.dtype)}, known, rows.rows, rows.machine)[""]


def or_default(dtype: DataType) -> Expr:
    """Return the values of the column ":taken" where ":found" is true, else of ":default"."""
    return case(Column(":found", BOOL), *(Column(name, dtype) for name in (":taken", ":default")), dtype=dtype)

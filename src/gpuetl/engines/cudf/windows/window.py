"""Window: rows sorted by group and order once, then a few kernels for all calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from gpuetl.engines.cudf.columns.arrays import mark_not_negative
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_rows
from gpuetl.engines.cudf.expressions.evaluate import evaluate
from gpuetl.engines.cudf.expressions.faults import row_and_reason
from gpuetl.engines.cudf.expressions.prepare import case
from gpuetl.engines.cudf.expressions.programs import evaluated
from gpuetl.engines.cudf.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.interchange import single_row, to_arrow
from gpuetl.engines.cudf.machine import Array, Machine, Text
from gpuetl.engines.cudf.operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.compute import Results, compute_outputs, output_programs
from gpuetl.engines.cudf.windows.functions import WINDOW_FUNCTIONS, WindowCall
from gpuetl.engines.cudf.windows.rows import WindowRows
from gpuetl.engines.cudf.windows.steps import CallPlan, Moved, Output, RowNumbers
from gpuetl.engines.no_result import window_overflow
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.windows import TIE_FREE
from gpuetl.expressions.ir import ABSENT, Call, Column, Expr, Literal
from gpuetl.plan.nodes import Window
from gpuetl.types.data_types import BOOL, STRING, DataType, is_list, is_temporal, type_name
from gpuetl.types.decimal_types import is_decimal


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
    made = {name: column_of(operation, name, calls[name], plan, results, rows) for name, plan in plans.items()}
    return frame.updated(made)


@programs.register
def window_programs(operation: Window, frame: Kinds) -> Needed:
    """List those of constants, of passes and frames, and of defaults of texts that are moved."""
    calls, constants = with_constants(operation.calls)
    needed = evaluated(constants, frame)
    kinds, nothing = {**frame.columns, **needed.columns}, cast("Any", None)
    rows = WindowRows(columns_of_kinds(kinds), int(min(frame.rows, MAX_ROWS)), nothing, nothing, nothing)
    plans = call_plans(operation, calls, rows.rows)
    texts = [Text(text) for text in output_programs([output_of(plan, rows) for plan in plans.values()], rows)]
    made: dict[str, Kind] = {}
    for name, plan in plans.items():
        made[name] = kinds[plan.column] if isinstance(plan, Moved) else Kind(calls[name].dtype)
        if isinstance(plan, Moved) and plan.default and isinstance(output_of(plan, rows), RowNumbers):
            taken = kinds[plan.column]
            known = {":found": Kind(BOOL), ":taken": taken, ":default": kinds[plan.default]}
            chosen = evaluated({"": or_default(taken.dtype)}, Kinds(known, frame.rows))
            texts += chosen.texts
            made[name] = chosen.columns[""]
    return Needed([*needed.texts, *texts], passed(operation.schema, made, frame.columns))


def call_plans(operation: Window, calls: Mapping[str, Call], rows: int) -> dict[str, CallPlan]:
    """Return how calls are computed, by name; `rows` bounds their offsets."""
    time = order_time(operation)
    return {name: WINDOW_FUNCTIONS[call.function.name](WindowCall(call, time, rows)) for name, call in calls.items()}


def with_constants(calls: Mapping[str, Call]) -> tuple[dict[str, Call], dict[str, Expr]]:
    """Return the calls with columns in the place of constants of which rows are moved or folded, and the constants."""
    made: dict[Literal, Column] = {}

    def on_columns(call: Call) -> Call:
        slots = zip(call.function.arguments, call.args, strict=False)
        return replace(call, args=tuple(arg if slot.constant else column(arg) for slot, arg in slots))

    def column(argument: Expr) -> Expr:
        if not isinstance(argument, Literal) or argument == ABSENT:
            return argument
        return made.setdefault(argument, Column(f":constant {len(made)}", argument.dtype))

    rewritten = {name: on_columns(call) for name, call in calls.items()}
    return rewritten, {column.name: literal for literal, column in made.items()}


def order_time(operation: Window) -> Column | None:
    """Return the first key of the order, if it is an ascending date or timestamp."""
    key = operation.order_by[0]
    dtype = operation.source.schema[key.column]
    return Column(key.column, dtype) if is_temporal(dtype) and not key.descending else None


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
    made = results.columns[output]
    return moved(plan, made.data, rows) if isinstance(plan, Moved) and isinstance(output, RowNumbers) else made


def output_of(plan: CallPlan, rows: WindowRows) -> Output:
    """Return what a kernel writes for a call: of texts and lists that are moved, the row numbers."""
    if isinstance(plan, Moved):
        dtype = rows.columns[plan.column].dtype
        return RowNumbers(plan.step) if dtype == STRING or is_list(dtype) else plan
    return plan


def overflow(call: Call, row: int) -> str:
    """Return the words for the first row that has no result."""
    name, decimal = call.function.name, is_decimal(call.dtype)
    dtype = type_name(call.dtype) if decimal else "int64"
    if decimal and name == "diff":
        return f"diff: overflow of {dtype}; cast the column to float64"
    return f"{name} leaves {dtype} at row {row}; cast the column to {'float64' if decimal else 'float64 or decimal'}"


def moved(plan: Moved, numbers: Array, rows: WindowRows) -> Vector:
    """Return the values of the rows of some numbers, and the default where the number is -1."""
    taken = take({"": rows.columns[plan.column]}, numbers, rows.machine)[""]
    if plan.default is None:
        return taken
    found = Vector(BOOL, rows.rows, mark_not_negative(numbers, rows.machine))
    known = {":found": found, ":taken": taken, ":default": rows.columns[plan.default]}
    return evaluate({"": or_default(taken.dtype)}, known, rows.rows, rows.machine)[""]


def or_default(dtype: DataType) -> Expr:
    """Return the values of the column ":taken" where ":found" is true, else of ":default"."""
    return case(Column(":found", BOOL), *(Column(name, dtype) for name in (":taken", ":default")), dtype=dtype)

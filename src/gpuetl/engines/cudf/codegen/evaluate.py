"""Expressions computed for the rows of a frame, and rows without a result in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from gpuetl.engines import no_result as text_limits
from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.bytecode import assembled
from gpuetl.engines.cudf.codegen.coded_strings import as_numbers, by_dictionary, choice_of, matches_patterns
from gpuetl.engines.cudf.codegen.cuda_types import ColumnKinds, buffers_of, in_kernels
from gpuetl.engines.cudf.codegen.emit import ALWAYS, arguments
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, Library
from gpuetl.engines.cudf.codegen.list_columns import list_column
from gpuetl.engines.cudf.codegen.list_lambdas import lambda_of, transformed_lists
from gpuetl.engines.cudf.codegen.list_reductions import reduced_lists
from gpuetl.engines.cudf.codegen.list_writers import list_writer, written_lists
from gpuetl.engines.cudf.codegen.row_kernels import (
    RowKernel,
    as_written,
    chooses,
    fixed_kernel,
    is_library,
    prepared,
    text_kernel,
)
from gpuetl.engines.cudf.columns.arrays import above, filled, numbers_where
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import to_arrow
from gpuetl.engines.cudf.columns.validity import empty_bits, empty_column, offsets_of_sizes, with_nulls
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.no_result import (
    BEYOND_DATES,
    BEYOND_MICROSECONDS,
    BEYOND_TIMESTAMPS,
    EMPTY_FILL,
    EMPTY_STRING,
    EQUAL_KEYS,
    LENGTHS_DIFFER,
    LONG_STRING,
    LONG_STRINGS,
    LONGER_STRING,
    NEVER_SHOWN,
    NO_BAR,
    NO_CODE_POINT,
    NO_PART,
    NO_SIZE,
    NOT_A_JSON_NUMBER,
    NOT_A_PATH,
    NOT_ABOVE_ZERO,
    NOT_BASE64,
    NOT_FORMATTED,
    NOT_HEX,
    NOT_JSON,
    NOT_UTF8,
    NULL_ELEMENT,
    NULL_KEY,
    OF_ANOTHER_FORM,
    OFFSET_SECONDS,
    OTHER_LENGTH,
    OTHER_SIZE,
    OVERFLOW,
    RANGE_TOO_LONG,
    SHOWN_TWICE,
    SIZE_OF_NO_LIST,
    STEP_OF_ZERO,
    TOO_MANY_CHARACTERS,
    YEAR_DIGITS,
    NoResult,
    not_valid,
)
from gpuetl.expressions.ir import Call, Column, Expr, Lambda, Literal, can_fail, children, columns_of
from gpuetl.messages import recoded
from gpuetl.types.calendar_intervals import CALENDAR
from gpuetl.types.data_types import STRING, type_name
from gpuetl.types.nested_types import is_nested

# Rows without a result: the reasons that kernels give, in words, with the values that have none.


Evaluate: TypeAlias = Callable[[Mapping[str, Expr], Mapping[str, Vector], int, Machine], Mapping[str, Vector]]

REASONS = (
    "",
    OVERFLOW,
    "{dtype} cannot hold it exactly",
    "it is not a valid {dtype}",
    BEYOND_DATES,
    BEYOND_TIMESTAMPS,
    not_valid("date"),
    not_valid("date and time"),
    OF_ANOTHER_FORM,
    YEAR_DIGITS,
    BEYOND_MICROSECONDS,
    SHOWN_TWICE,
    NEVER_SHOWN,
    OFFSET_SECONDS,
    "it is neither 0 nor 1",
    "it has a time of day; use to_date",
    "it is beyond {dtype}",
    "it is not a valid number",
    "it has more digits than {dtype}",
    NOT_HEX,
    NOT_BASE64,
    NOT_UTF8,
    TOO_MANY_CHARACTERS,
    EMPTY_FILL,
    LENGTHS_DIFFER,
    NULL_ELEMENT,
    RANGE_TOO_LONG,
    NO_CODE_POINT,
    LONG_STRINGS,
    OTHER_LENGTH,
    EMPTY_STRING,
    EQUAL_KEYS,
    NULL_KEY,
    NOT_JSON,
    NOT_A_JSON_NUMBER,
    LONG_STRING,
    LONGER_STRING,
    NOT_FORMATTED,
    SIZE_OF_NO_LIST,
    STEP_OF_ZERO,
    NOT_A_PATH,
    OTHER_SIZE,
    NO_PART,
    NOT_ABOVE_ZERO,
    NO_SIZE,
    NO_BAR,
)
"""What `Reason` in rows.cuh stands for, in its order; `dtype` is that of the result."""


def no_result(expr: Expr, fault: int, columns: Mapping[str, Vector], machine: Machine, evaluate: Evaluate) -> NoResult:
    """Return the error of what a kernel told: the row and the reason, beside the expression's arguments there."""
    row, reason = row_and_reason(fault)
    words = recoded(REASONS[reason].format(dtype=type_name(expr.dtype)), REASONS[reason])
    return no_result_of(expr, row, words, columns, machine, evaluate)


def no_result_of(
    expr: Expr, row: int, reason: str, columns: Mapping[str, Vector], machine: Machine, evaluate: Evaluate
) -> NoResult:
    """Return the error of a row, for a reason in words, beside the expression's arguments there."""
    there = take(columns, filled(1, row, "int64", machine), machine, missing=False)
    values = [value_of(arg, there, machine, evaluate) for arg in children(expr)]
    written = as_written(expr)
    return NoResult(written, row if columns_of(written) else None, values, reason)


def row_and_reason(fault: int) -> tuple[int, int]:
    """Return what a kernel's `Fault` holds: the first row without a result, and the number of its reason."""
    bits = ~fault & 0xFFFFFFFFFFFFFFFF
    return bits >> 8, 255 - (bits & 255)


def value_of(expr: Expr, row: Mapping[str, Vector], machine: Machine, evaluate: Evaluate) -> Any:
    """Return an expression's value in a frame of one row, as a `pyarrow.Scalar`."""
    if isinstance(expr, Literal) and expr.dtype == CALENDAR:
        return pa.scalar(expr.value, expr.dtype)
    return to_arrow(evaluate({"": expr}, row, 1, machine)[""], machine)[0]


# Expressions computed for the rows of a frame: columns that must come first, then all others in one kernel.


Vectors = Mapping[str, Vector]


def evaluate(exprs: Mapping[str, Expr], frame: Vectors, rows: int, machine: Machine) -> dict[str, Vector]:
    """Return the expressions' values as columns of their types.

    Raises
    ------
    NoResult
        Where a value has no result, naming the expression, the row and the values.
    """
    if not rows:
        check_constants(exprs, machine)
    first, outputs = prepared(exprs)
    input_columns = dict(frame)
    for name, expr in first.items():
        input_columns |= computed({name: expr}, input_columns, rows, machine)
    results = computed(outputs, input_columns, rows, machine)
    return {name: results[name] for name in exprs}


def check_constants(exprs: Mapping[str, Expr], machine: Machine) -> None:
    """Compute what reads no column for one row: it has no result in a frame without rows either."""
    found = [part for expr in exprs.values() for part in constant_parts(expr) if can_fail(part)]
    if found:
        evaluate({str(place): part for place, part in enumerate(found)}, {}, 1, machine)


def constant_parts(expr: Expr) -> Iterator[Expr]:
    """Yield the largest parts that read no column; of CASE and coalesce only in the first, which every row reaches."""
    if isinstance(expr, Lambda):  # it has no result of its own
        return
    if not columns_of(expr):
        yield expr
        return
    for operand in children(expr)[: 1 if chooses(expr) else None]:
        yield from constant_parts(operand)


def computed(exprs: Mapping[str, Expr], input_columns: Vectors, rows: int, machine: Machine) -> dict[str, Vector]:
    """Compute prepared expressions: columns pass, libcudf's and strings one by one, numbers and the like together."""
    results: dict[str, Vector] = {}
    fixed: dict[str, Expr] = {}
    dictionaries: dict[str, Vector] = {}
    for name, expr in exprs.items():
        if isinstance(expr, Column):
            results[name] = input_columns[expr.name]
        elif is_library(expr):
            results[name] = from_library(expr, input_columns, rows, machine)
        elif list_writer(expr):
            assert isinstance(expr, Call)
            results[name] = written_lists(expr, input_columns, rows, machine, run)
        elif is_nested(expr.dtype):
            results[name] = list_column(expr, input_columns, rows, machine, evaluate)
        elif has_bytes(expr.dtype) and expr.dtype != STRING:
            results[name] = string_column(expr, input_columns, rows, machine)
        elif expr.dtype != STRING:
            found = by_dictionary(expr, input_columns, rows, machine, alone) if matches_patterns(expr) else None
            if found is None:
                fixed[name] = expr
            else:
                results[name] = found
        elif (choice := choice_of(name, expr, input_columns)) and (
            numbers := as_numbers(choice, input_columns, machine)
        ):
            fixed[name], dictionaries[name] = numbers.expr, numbers.dictionary
            input_columns = {**input_columns, **numbers.columns}
        else:
            results[name] = by_dictionary(expr, input_columns, rows, machine, string_column) or string_column(
                expr, input_columns, rows, machine
            )
    together = computed_together(fixed, input_columns, rows, machine) if fixed else {}
    return results | {name: vector.as_codes_of(dictionaries.get(name)) for name, vector in together.items()}


def from_library(expr: Any, input_columns: Vectors, rows: int, machine: Machine) -> Vector:
    """Compute a call for whole columns."""
    if lambda_of(expr):
        compute = reduced_lists if expr.function.name == "list_reduce" else transformed_lists
        return compute(expr, input_columns, rows, machine, evaluate)
    function = DEVICE_FUNCTIONS[expr.function.name]
    assert isinstance(expr, Call)
    assert isinstance(function, Library)
    arguments = [input_columns[arg.name] if isinstance(arg, Column) else arg for arg in expr.args]
    return function.compute(expr, arguments, rows, machine)  # type: ignore[no-any-return]


def computed_together(
    exprs: Mapping[str, Expr], input_columns: Vectors, rows: int, machine: Machine
) -> dict[str, Vector]:
    """Compute columns of fixed width, equal ones once: in one kernel, or in few where they are hundreds."""
    done: dict[Expr, Vector] = {}
    for outputs in in_kernels({expr: columns_of(expr) for expr in exprs.values()}, input_columns):
        done |= computed_by_kernel(outputs, input_columns, rows, machine)
    return {name: done[expr] for name, expr in exprs.items()}


def alone(expr: Expr, input_columns: Vectors, rows: int, machine: Machine) -> Vector:
    """Compute one column of fixed width."""
    return computed_together({"": expr}, input_columns, rows, machine)[""]


def computed_by_kernel(
    outputs: Sequence[Expr], input_columns: Vectors, rows: int, machine: Machine
) -> dict[Expr, Vector]:
    """Compute expressions of fixed width in one kernel: their own, or by instructions while that is not compiled."""
    columns = columns_read(outputs, input_columns)
    kernel = fixed_kernel(ColumnKinds.of(columns), tuple(outputs))
    having_nulls = {ALWAYS, *(name for name, vector in columns.items() if vector.valid is not None)}
    results = {
        expr: empty_column(expr.dtype, rows, machine, nullable=not null_with.isdisjoint(having_nulls))
        for expr, null_with in zip(outputs, kernel.null_with, strict=True)
    }
    if rows and chosen("interpret") and machine.interprets(kernel.source, rows):
        counts = interpreted(results, columns, rows, machine)
        if counts is not None:
            return {
                expr: with_nulls(output, count) for (expr, output), count in zip(results.items(), counts, strict=True)
            }
    string_column = list[Any]()
    for output, null_with in zip(results.values(), kernel.null_with, strict=True):
        string_column += [output.data, 0 if output.valid is None else output.valid][: 1 + bool(null_with)]
    counted_outputs = sum(map(bool, kernel.null_with)) if any(v.valid is not None for v in results.values()) else 0
    buffers = [*buffers_of(columns), *string_column]
    counted = iter(run(kernel, "compute", rows, counted_outputs, buffers, columns, machine))
    nulls = [next(counted) if counted_outputs and null_with else 0 for null_with in kernel.null_with]
    return {expr: with_nulls(output, count) for (expr, output), count in zip(results.items(), nulls, strict=True)}


def interpreted(results: Mapping[Expr, Vector], columns: Vectors, rows: int, machine: Machine) -> list[int] | None:
    """Compute expressions by instructions, and return the nulls of each; None where they have to be compiled.

    Raises
    ------
    NoResult
        As their kernel does.
    """
    code = assembled(results, columns, machine.address)
    if code is None:
        return None
    nullable = [output.valid is not None for output in results.values()]
    counts = len(nullable) if any(nullable) else 0
    state = machine.arrays.zeros(len(code.sites) + counts, "uint64") if code.sites or counts else None
    places = [0, 0] if state is None else [state, state[len(code.sites) :]]
    machine.launch(machine.closed("bytecode"), "interpret", rows, [rows, code.instructions, *places, code.words])
    counters = [] if state is None else state.tolist()
    check_faults(code.sites, counters, columns, machine)
    return [int(count) for count in counters[len(code.sites) :]] or [0] * len(nullable)


def string_column(expr: Expr, input_columns: Vectors, rows: int, machine: Machine) -> Vector:
    """Compute a column of strings: first their sizes, then their bytes."""
    arrays, columns = machine.arrays, columns_read([expr], input_columns)
    kinds = ColumnKinds.of(columns)
    kernel = text_kernel(kinds, expr)
    if not rows:
        return Vector(expr.dtype, 0, arrays.empty(0, "uint8"), offsets=arrays.zeros(1, "int32"))
    sizes, valid = arrays.empty(rows + 1, "int64"), empty_bits(rows, machine)
    nulls, total = run(kernel, "measure", rows, 2, [*buffers_of(columns), sizes, valid], columns, machine)
    check_sizes(expr, sizes, total, columns, machine)
    offsets = offsets_of_sizes(sizes, total, machine)
    data = arrays.empty(total, "uint8")
    if total:
        state = arrays.zeros(len(kernel.sites) + 2, "uint64")
        module = machine.compiled(text_kernel(kinds, expr, str(offsets.dtype)).source)
        constants = arguments(kernel.constants, machine)
        machine.launch(module, "write", rows, [rows, state, state, *constants, *buffers_of(columns), offsets, data])
    return with_nulls(Vector(expr.dtype, rows, data, valid, 0, offsets), nulls)


def check_sizes(expr: Expr, sizes: Array, total: int, columns: Vectors, machine: Machine) -> None:
    """Raise `NoResult` for the first row whose text has more bytes than one may have; `sizes` come after a first 0."""
    if total <= text_limits.MOST_BYTES:
        return
    longer = numbers_where(sizes, machine, above(text_limits.MOST_BYTES))
    if len(longer):
        row = int(longer[0])
        raise no_result_of(expr, row - 1, text_limits.too_long(int(sizes[row])), columns, machine, evaluate)


def run(
    kernel: RowKernel, entry: str, rows: int, counts: int, buffers: list[Any], columns: Vectors, machine: Machine
) -> list[int]:
    """Run a kernel and return what it counts, nulls first; raise `NoResult` for a row.

    The host waits for that.  It does not wait where nothing is counted and no row can be without a result.
    """
    if not rows:
        return [0] * counts
    sites = len(kernel.sites)
    state = machine.arrays.zeros(sites + counts, "uint64") if sites + counts else None
    places = ([0, 0] if state is None else [state, state[sites:]]) if kernel.reports else []
    constants = arguments(kernel.constants, machine)
    machine.launch(machine.compiled(kernel.source), entry, rows, [rows, *places, *constants, *buffers])
    counters = [] if state is None else state.tolist()
    check_faults(kernel.sites, counters, columns, machine)
    return [int(count) for count in counters[sites:]]


def check_faults(sites: Sequence[Expr], counters: Sequence[int], columns: Vectors, machine: Machine) -> None:
    """Raise `NoResult` for the first site that reports a row."""
    for expr, fault in zip(sites, counters, strict=False):
        if fault:
            raise no_result(expr, fault, columns, machine, evaluate)


def columns_read(exprs: Iterable[Expr], input_columns: Vectors) -> dict[str, Vector]:
    """Return the columns that the expressions read, in the order of the frame."""
    read = columns_of(*exprs)
    return {name: vector for name, vector in input_columns.items() if name in read}

"""`list_reduce` on a GPU: rounds over all lists that have a next element, one place of the lists after the other."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gpuetl.engines.cudf.codegen.list_lambdas import Compute
from gpuetl.engines.cudf.codegen.nested_columns import arrays_of_rows, as_column, gathered_lists
from gpuetl.engines.cudf.columns.arrays import above, filled, iota, numbers_where, pick, scatter, shifted
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.no_result import EMPTY_LIST, NoResult
from gpuetl.expressions.functions.function import scalar_call
from gpuetl.expressions.ir import (
    Call,
    Cast,
    Column,
    Expr,
    Lambda,
    Literal,
    columns_of,
    element_column,
    over_elements,
)
from gpuetl.types.data_types import BOOL, INT64, DataType

INT32 = pa.int32()


def size_of(lists: Expr) -> Expr:
    """Return the number of elements, -1 of a null."""
    return Cast(
        scalar_call("coalesce", (scalar_call("list_length", (lists,), INT64), Literal(-1, INT64)), INT64), INT32
    )


def is_empty(size: Expr) -> Expr:
    """Return whether a list has no elements, and is no null."""
    return scalar_call("equal", (size, Literal(0, INT32)), BOOL)


def as_first(element: Expr, dtype: DataType) -> Expr:
    """Return an element as the value to begin with."""
    return element if element.dtype == dtype else Cast(element, dtype, implicit=True)


def reduced_lists(expr: Call, columns: Mapping[str, Vector], rows: int, machine: Machine, compute: Compute) -> Vector:
    """Return what a lambda makes of the value so far and the next element, and so on.

    Where lists end, the values of the round are kept as a piece, and the others go on.  In the end each row takes its
    value from the last piece that has it.

    Raises
    ------
    NoResult
        For the row of an empty list without a first value, and of the first step without a result.
    """
    source, function, *initial = expr.args
    assert isinstance(function, Lambda)
    lists = gathered_lists(argument_column(source, columns, rows, machine), machine)
    sizes = compute({"": size_of(Column("", lists.dtype))}, {"": lists}, rows, machine)[""].data
    numbers = numbers_where(sizes, machine, above(0))
    if initial:
        value = decoded(argument_column(initial[0], columns, rows, machine), machine)
        pieces, places = [value], arrays_of_rows(lists, machine)
        value = take({"": value}, numbers, machine, missing=False)[""]
        left = pick(sizes, numbers, machine)
    else:
        refuse_empty(expr, sizes, machine, compute)
        value = elements_at(lists, numbers, 0, machine)
        begun = as_first(Column("", value.dtype), expr.dtype)
        value = decoded(compute({"": begun}, {"": value}, len(numbers), machine)[""], machine)
        pieces, places = [value], filled(rows, -1, "int32", machine)
        scatter(places, numbers, machine, iota(len(numbers), machine))
        going_on = numbers_where(pick(sizes, numbers, machine), machine, above(1))
        value = take({"": value}, going_on, machine, missing=False)[""]
        numbers = pick(numbers, going_on, machine)
        left = pick(sizes, numbers, machine)
    read = {name: columns[name] for name in sorted(columns_of(function.body))}
    step = 1 - len(initial)
    while len(numbers):
        frame = take(read, numbers, machine, missing=False) if read else {}
        elements = elements_at(lists, numbers, step, machine)
        step += 1
        place = Vector(INT64, len(numbers), filled(len(numbers), step, "int64", machine))
        given = zip(function.parameters, (value, elements, place), strict=False)
        frame |= {element_column(variable.name): values for variable, values in given}
        try:
            value = decoded(compute({"": over_elements(function)}, frame, len(numbers), machine)[""], machine)
        except NoResult as error:
            constant = error.row is None or not columns_of(expr)
            raise error.in_row(None if constant else int(numbers[error.row])) from None
        going_on = numbers_where(left, machine, above(step))
        if len(going_on) < len(numbers):
            own = machine.arrays.empty(len(numbers), "int32")
            shifted(iota(len(numbers), machine), sum(piece.rows for piece in pieces), own, machine)
            scatter(places, numbers, machine, own)
            pieces.append(value)
            value = take({"": value}, going_on, machine, missing=False)[""]
            numbers, left = (pick(each, going_on, machine) for each in (numbers, left))
    if not any(piece.rows for piece in pieces):
        return from_arrow(pa.nulls(rows, expr.dtype), machine)
    return take({"": stacked(pieces, machine) if len(pieces) > 1 else pieces[0]}, places, machine)[""]


def argument_column(argument: Expr, columns: Mapping[str, Vector], rows: int, machine: Machine) -> Vector:
    """Return a prepared argument as a column."""
    assert isinstance(argument, Column | Literal)
    return as_column(columns[argument.name] if isinstance(argument, Column) else argument, rows, machine)


def refuse_empty(expr: Call, sizes: Array, machine: Machine, compute: Compute) -> None:
    """Raise `NoResult` for the first list without elements."""
    given = {"": Vector(INT32, len(sizes), sizes)}
    marks = compute({"": is_empty(Column("", INT32))}, given, len(sizes), machine)[""].data
    empty = numbers_where(marks, machine)
    if len(empty):
        row = int(empty[0]) if columns_of(expr) else None
        raise NoResult(expr, row, [pa.scalar([], expr.args[0].dtype)], EMPTY_LIST)


def elements_at(lists: Vector, numbers: Array, place: int, machine: Machine) -> Vector:
    """Return the elements at a place from 0 of the lists of some rows."""
    assert lists.elements is not None
    starts = pick(lists.required_offsets, numbers, machine)
    rows = machine.arrays.empty(len(numbers), "int32")
    shifted(starts, place, rows, machine)
    return take({"": lists.elements}, rows, machine, missing=False)[""]

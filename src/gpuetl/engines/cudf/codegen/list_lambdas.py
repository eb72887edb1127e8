"""Lambdas over the elements of lists: an expression over a frame of elements, beside the columns of their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpuetl.engines.cudf.codegen.nested_columns import as_column, element_rows, gathered_lists
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.no_result import NoResult
from gpuetl.expressions.ir import Call, Column, Expr, Lambda, Literal, columns_of, element_column, over_elements
from gpuetl.types.data_types import INT64

Compute = Callable[[Mapping[str, Expr], Mapping[str, Vector], int, Machine], Mapping[str, Vector]]


def lambda_of(expr: Expr) -> Lambda | None:
    """Return the lambda of a call that has one."""
    args = expr.args if isinstance(expr, Call) else ()
    return next((arg for arg in args if isinstance(arg, Lambda)), None)


def transformed_lists(
    expr: Call, columns: Mapping[str, Vector], rows: int, machine: Machine, compute: Compute
) -> Vector:
    """Return the lists of what a lambda gives of each element.

    Raises
    ------
    NoResult
        For the row of the first element without a result.
    """
    source, function = expr.args
    assert isinstance(function, Lambda)
    assert isinstance(source, Column | Literal)
    given = columns[source.name] if isinstance(source, Column) else source
    lists = gathered_lists(as_column(given, rows, machine), machine)
    assert lists.elements is not None
    numbers = element_rows(lists, machine)
    read = {name: columns[name] for name in sorted(columns_of(function.body))}
    frame = take(read, numbers, machine, missing=False) if read else {}
    for variable, values in zip(function.parameters, (lists.elements, None), strict=False):
        frame[element_column(variable.name)] = values or element_places(lists, numbers, machine)
    try:
        found = compute({"": over_elements(function)}, frame, lists.elements.rows, machine)[""]
    except NoResult as error:
        constant = error.row is None or not columns_of(expr)
        raise error.in_row(None if constant else int(numbers[error.row])) from None
    return replace(lists, dtype=expr.dtype, elements=decoded(found, machine))


def element_places(lists: Vector, numbers: Array, machine: Machine) -> Vector:
    """Return the place from 1 of each element in its list; `numbers` has the row of each."""
    places = machine.arrays.empty(len(numbers), "int64")
    arguments = [len(numbers), numbers, lists.required_offsets, places]
    machine.launch(machine.closed("lists"), "element_places", len(numbers), arguments)
    return Vector(INT64, len(numbers), places)


def kinds_of_elements(expr: Call, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return the kinds of the frame over which a lambda is computed."""
    source, function = expr.args[:2]
    assert isinstance(function, Lambda)
    lists = kinds[source.name] if isinstance(source, Column) else Kind.of(source.dtype)
    frame = {name: kinds[name] for name in sorted(columns_of(function.body))}
    so_far = (Kind.of(expr.dtype),) if expr.function.name == "list_reduce" else ()
    for variable, kind in zip(function.parameters, (*so_far, lists.elements, None), strict=False):
        frame[element_column(variable.name)] = kind or Kind(INT64)
    return frame

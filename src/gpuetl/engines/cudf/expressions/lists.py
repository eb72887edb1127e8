"""Columns of lists: CASE and coalesce choose a list for each row, and constants are null."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import filled
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.interchange import from_arrow
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.types.data_types import INT64, is_list

Compute = Callable[[Mapping[str, Expr], Mapping[str, Vector], int, Machine], Mapping[str, Vector]]
NO_LIST = Literal(-1, INT64)


def list_column(expr: Expr, known: Mapping[str, Vector], rows: int, machine: Machine, compute: Compute) -> Vector:
    """Return a column of lists: of null, or of CASE or coalesce over columns and nulls."""
    lists = listed_columns(expr)
    if not rows or not lists:
        return from_arrow(pa.nulls(rows, expr.dtype), machine)
    assert isinstance(expr, Call)
    if expr.function.name == "case":
        choice = compute({"": numbered(expr, lists)}, known, rows, machine)[""].data
    else:
        choice = first_valid(expr, lists, known, rows, machine)
    below = stacked([known[column.name] for column in lists], machine)
    places = machine.arrays.empty(rows, "int64")
    machine.launch(machine.closed("lists"), "place_lists", rows, [rows, choice, places])
    return take({"": below}, places, machine)[""]


def listed_columns(expr: Expr) -> list[Column]:
    """Return the columns of lists among which CASE or coalesce chooses, each once."""
    operands = expr.args if isinstance(expr, Call) else ()
    return list(dict.fromkeys(arg for arg in operands if isinstance(arg, Column) and is_list(arg.dtype)))


def numbered(case: Call, lists: Sequence[Column]) -> Call:
    """Return CASE with the number of each list in its place, -1 for null."""
    args = [_number(arg, lists) if is_list(arg.dtype) else arg for arg in case.args]
    return replace(case, args=(*args, *[NO_LIST] * (len(args) % 2 == 0)), dtype=INT64)


def _number(operand: Expr, lists: Sequence[Column]) -> Literal:
    return Literal(lists.index(operand), INT64) if isinstance(operand, Column) else NO_LIST


def first_valid(expr: Call, lists: Sequence[Column], known: Mapping[str, Vector], rows: int, machine: Machine) -> Any:
    """Return the number of the first of coalesce's lists that is not null in the row, -1 where there is none."""
    choice = filled(rows, -1, "int64", machine)
    for operand in reversed(expr.args):
        if isinstance(operand, Column):
            words = known[operand.name].valid
            arguments = [rows, lists.index(operand), 0 if words is None else words, choice]
            machine.launch(machine.closed("lists"), "choose_list", rows, arguments)
    return choice

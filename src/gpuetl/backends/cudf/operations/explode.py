"""Explode."""

from __future__ import annotations

from typing import Any

from gpuetl.backends.cudf.columns.gather import repeat, take
from gpuetl.backends.cudf.columns.validity import valid_rows, with_valid
from gpuetl.backends.cudf.frame import MAX_ROWS, Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.operation import run_operation
from gpuetl.backends.cudf.vector import Vector
from gpuetl.errors import EvaluationError
from gpuetl.expressions.types import INT64
from gpuetl.messages import coded
from gpuetl.plan.nodes import Explode


@run_operation.register
def explode_lists(operation: Explode, machine: Machine, frame: Frame) -> Frame:
    """Repeat each row for the elements of its list, in order.

    Raises
    ------
    EvaluationError
        Where the result would have 2^31 rows or more.
    """
    arrays, lists = machine.arrays, frame.columns[operation.column]
    assert lists.elements is not None
    starts, lengths = list_bounds(lists, machine)
    repeats = arrays.maximum(lengths, 1) if operation.keep_empty else lengths
    ends = arrays.cumsum(repeats)
    total = int(ends[-1]) if frame.rows else 0
    if total > MAX_ROWS:
        found = f"the explode would have {total:,} rows, more than {MAX_ROWS:,}"
        raise EvaluationError(coded("GE2008", f"{found}.  Read smaller partitions, or filter before"))
    rows = repeat(arrays.arange(frame.rows), repeats, total, machine)
    place = arrays.arange(total) - (ends - repeats)[rows]
    found = lengths[rows] > 0
    others = {name: vector for name, vector in frame.columns.items() if name != operation.column}
    columns = take(others, rows, machine, missing=False)
    elements = arrays.where(found, starts[rows] + place, -1)
    columns |= take({operation.column: lists.elements}, elements, machine)
    if operation.index:
        columns[operation.index] = with_valid(Vector(INT64, total, place), found, machine)
    return Frame({name: columns[name] for name in operation.schema}, total)


def list_bounds(lists: Vector, machine: Machine) -> tuple[Any, Any]:
    """Return where each list's elements start, and how many they are: none of a null one."""
    starts = lists.offsets[:-1].astype("int64")
    return starts, machine.arrays.where(valid_rows(lists, machine) != 0, lists.offsets[1:] - starts, 0)

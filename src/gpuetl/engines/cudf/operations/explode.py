"""Explode."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import scan
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.validity import with_valid
from gpuetl.engines.cudf.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.vector import Vector
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.plan.nodes import Explode
from gpuetl.types.data_types import INT64


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
    module, bounds = machine.closed("lists"), [lists.offsets, 0 if lists.valid is None else lists.valid]
    repeats = arrays.empty(frame.rows, "int64")
    arguments = [frame.rows, int(operation.keep_empty), *bounds, repeats]
    machine.launch(module, "measure_lists", frame.rows, arguments)
    ends = scan(repeats, machine)
    total = int(ends[-1]) if frame.rows else 0
    if total > MAX_ROWS:
        found = f"the explode would have {total:,} rows, more than {MAX_ROWS:,}"
        raise EvaluationError(coded("GE2008", f"{found}.  Read smaller partitions, or filter before"))
    rows, place, elements, found = (arrays.empty(total, each) for each in ("int32", "int64", "int32", "uint8"))
    machine.launch(module, "explode", total, [total, frame.rows, ends, *bounds, rows, place, elements, found])
    others = {name: vector for name, vector in frame.columns.items() if name != operation.column}
    columns = take(others, rows, machine, missing=False)
    columns |= take({operation.column: lists.elements}, elements, machine)
    if operation.index:
        columns[operation.index] = with_valid(Vector(INT64, total, place), found, machine)
    return Frame({name: columns[name] for name in operation.schema}, total)


@programs.register
def explode_programs(operation: Explode, frame: Kinds) -> Needed:
    """List none."""
    elements = frame.columns[operation.column].elements
    assert elements is not None
    made = {operation.column: elements, operation.index: Kind(INT64)}
    return Needed([], passed(operation.schema, made, frame.columns))

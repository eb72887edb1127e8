"""Rows that are made before and after others: a scan of how many, a kernel that finds rows, and two gathers."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import scan
from gpuetl.engines.cudf.columns.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Machine
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.plan.nodes import InsertRows
from gpuetl.types.data_types import INT64

PROGRAM = "insert_rows"


@run_operation.register
def insert_rows(operation: InsertRows, machine: Machine, frame: Frame) -> Frame:
    """Repeat each row as often as it says; made rows have the values of the repeated columns only.

    Raises
    ------
    EvaluationError
        Where the result would have 2^31 rows or more, or would not fit into the device's memory.
    """
    arrays, module = machine.arrays, machine.closed(PROGRAM)
    before, after = (frame.columns[name].data for name in (operation.before, operation.after))
    repeats = arrays.empty(frame.rows, "int64")
    machine.launch(module, "measure_inserts", frame.rows, [frame.rows, MAX_ROWS + 1, before, after, repeats])
    ends = scan(repeats, machine)
    total = int(ends[-1]) if frame.rows else 0
    check_size(total, frame, machine)
    if total == frame.rows:
        place = Vector(INT64, total, arrays.zeros(total, "int64"))
        return Frame({**frame.columns, operation.place: place}, total)
    rows, own, places = (arrays.empty(total, each) for each in ("int32", "int32", "int64"))
    machine.launch(module, "insert_rows", total, [total, frame.rows, ends, before, rows, own, places])
    repeated = {name: vector for name, vector in frame.columns.items() if name in operation.repeated}
    others = {name: vector for name, vector in frame.columns.items() if name not in operation.repeated}
    columns = take(repeated, rows, machine, missing=False) | take(others, own, machine)
    columns[operation.place] = Vector(INT64, total, places)
    return Frame({name: columns[name] for name in operation.schema}, total)


def check_size(rows: int, frame: Frame, machine: Machine) -> None:
    """Raise `EvaluationError` where rows are more than a frame or the memory holds."""
    size = rows * frame.nbytes / max(1, frame.rows)
    if rows > MAX_ROWS:
        found = f"more than {MAX_ROWS:,} rows, and a frame holds no more"
    elif size > machine.memory:
        found = f"{rows:,} rows, about {size / 1e9:,.1f} GB, and this machine has {machine.memory / 1e9:,.1f} GB"
    else:
        return
    hint = "Look for a row that is far from the others, or take a wider `every`"
    raise EvaluationError(coded("GE2008", f"fill_gaps would make {found}.  {hint}"))


@programs.register
def insert_programs(operation: InsertRows, frame: Kinds) -> Needed:
    """List none."""
    return Needed([], passed(operation.schema, {operation.place: Kind(INT64)}, frame.columns))

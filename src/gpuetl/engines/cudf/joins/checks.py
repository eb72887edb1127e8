"""What a join checks before it is built: that keys do not repeat, and that the result fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuetl.engines.cudf.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.interchange import single_row, to_arrow
from gpuetl.engines.cudf.joins.keys import JoinKeys
from gpuetl.engines.cudf.joins.lookup import lookup_of
from gpuetl.engines.cudf.joins.rows import KeyCodes, count_codes
from gpuetl.engines.cudf.joins.slots import Lookup
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.no_result import written
from gpuetl.errors import EvaluationError, listing
from gpuetl.messages import coded
from gpuetl.plan.nodes import Join


def check_unique(operation: Join, frames: Sequence[Frame], keys: JoinKeys, right: Lookup, machine: Machine) -> None:
    """Raise `EvaluationError` where a key repeats on a side on which it must not: it shows as the tables are built."""
    for side, checked in enumerate(operation.unique):
        if not checked:
            continue
        lookup = right if side else lookup_of(replace(keys, right=keys.left, left=keys.right), machine)
        if lookup.repeated:
            raise EvaluationError(
                coded("GE2004", repeats(operation, side, frames[side], lookup.slots, lookup.size, machine))
            )


def repeats(operation: Join, side: int, frame: Frame, codes: Array, size: int, machine: Machine) -> str:
    """Say which key repeats most on the left (0) or right (1) side; of those that tie, that of the first row."""
    name, names = operation.written_sides[side]
    first = first_of_most(codes, [count_codes(codes, size, machine)], machine)
    columns = (operation.left_on, operation.right_on)[side]
    return (
        f"the join is not {operation.written_validate}: {listing(names)} repeats on the {name} side, "
        f"{written_key(frame, columns, names, first, machine)} is in more than one row.  "
        "Make the keys distinct, or relax validate"
    )


def check_size(
    operation: Join, left: Frame, right: Frame, rows: int, machine: Machine, keys: KeyCodes | None = None
) -> None:
    """Raise `EvaluationError` where a result of `rows` rows is more than a frame or the machine's memory holds."""
    payload = right.select(operation.payload)
    size = rows * sum(frame.nbytes / max(1, frame.rows) for frame in (left, payload))
    memory = device_memory(machine)
    if rows <= MAX_ROWS and size <= memory:
        return
    why = most_repeated(operation, left, keys, machine) if keys else every_row(left, right)
    raise EvaluationError(
        coded(
            "GE2008",
            f"the join would have {rows:,} rows (about {size / 1e9:,.1f} GB): a frame holds {MAX_ROWS:,} at most, "
            f"and this machine has {memory / 1e9:,.1f} GB.  {why}",
        )
    )


def device_memory(machine: Machine) -> int:
    """Return the bytes that frames may take in all."""
    return machine.memory


def every_row(left: Frame, right: Frame) -> str:
    """Say what a cross join multiplies."""
    counts = f"Each of {left.rows:,} rows on the left side meets each of {right.rows:,} on the right"
    return f"{counts}.  Filter or aggregate a side first, or join on keys"


def most_repeated(operation: Join, left: Frame, keys: KeyCodes, machine: Machine) -> str:
    """Name the key that gives most rows."""
    counts = [count_codes(codes, keys.size, machine) for codes in (keys.left, keys.right)]
    row = first_of_most(keys.left, counts, machine)
    worst = int(keys.left[row])
    sides = operation.written_sides
    found = {name: f"{int(count[worst]):,}" for (name, _), count in zip(sides, counts, strict=True)}
    key = written_key(left, operation.left_on, sides[0][1], row, machine)
    return (
        f"{key} repeats most: in {found['left']} rows on the left side, {found['right']} on the right.  "
        "Join on more columns, or make the keys of one side distinct"
    )


def first_of_most(codes: Array, counts: Sequence[Array], machine: Machine) -> int:
    """Return the first of the rows whose code stands most often, by one or two counts, which are multiplied."""
    most, module = machine.arrays.zeros(2, "uint64"), machine.closed("pairs")
    arguments = [len(codes), codes, counts[0], counts[1] if len(counts) > 1 else 0]
    machine.launch(module, "find_most", len(codes), [*arguments, most])  # below 2^62: a side has fewer than 2^31 rows
    machine.launch(module, "find_first_most", len(codes), [*arguments, most, most[1:]])
    return (1 << 63) - 1 - int(most[1])


def written_key(frame: Frame, columns: Sequence[str], names: Sequence[str], row: int, machine: Machine) -> str:
    """Return the key of a row with the names that the user knows."""
    values = [written(to_arrow(single_row(frame.columns[c], row, machine), machine)[0]) for c in columns]
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))

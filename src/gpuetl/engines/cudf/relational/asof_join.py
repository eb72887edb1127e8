"""As-of join: the right side's rows are sorted by key and time, and each left row finds its own by binary search.

CPU libraries merge two sides in the order of time, which DuckDB sorts and pandas and Polars expect; libcudf 26.10 has
no as-of join.  Here only the right side is sorted, in one radix sort of packed words: in one kernel, each left row
looks up the segment of its key and bisects the times there.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from gpuetl.engines.cudf.columns.arrays import NOT_NEGATIVE, filled, numbers_where, pick
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.keys import Key, Keys, Words, key_of, launch_components
from gpuetl.engines.cudf.columns.kind import Kinds
from gpuetl.engines.cudf.columns.order import note_ties, sort_keys
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.cudf.relational.join import combined, written_key
from gpuetl.engines.cudf.relational.join_lookup import (
    comparable,
    comparable_sources,
    join_keys,
    lookup_of,
    single_partners,
)
from gpuetl.errors import EvaluationError, listing
from gpuetl.messages import coded
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import AsofJoin
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT32, NULL

PROGRAM = "asof"
DIRECTIONS = ("backward", "forward", "nearest")
"""As in device/asof.cuh."""
WORD = (1 << 64) - 1


@run_operation.register
def asof_join_frames(operation: AsofJoin, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Join two frames; rows come in the order of the left ones.

    Raises
    ------
    EvaluationError
        Where right rows repeat that must not.
    """
    ours, theirs = comparable(left.columns[operation.left_asof], right.columns[operation.right_asof], machine)
    slots = key_slots(operation, left, right, machine)
    segments = right_segments(operation, right, slots, theirs, machine)
    found, count = find_nearest(operation, segments, slots, Keys((Key(ours, False),), left.rows), machine)
    pairs = single_partners(found, count, operation.how == "inner", machine)
    return combined(operation, left, right, pairs, machine.arrays.zeros(0, "int32"), machine)


@programs.register
def asof_join_programs(operation: AsofJoin, left: Kinds, right: Kinds) -> Needed:
    """List those of keys and times that are cast to compare."""
    sources = list[KernelSource]()
    keys = zip((*operation.left_on, operation.left_asof), (*operation.right_on, operation.right_asof), strict=True)
    for ours, theirs in keys:
        sources += comparable_sources(left.columns[ours], right.columns[theirs])
    return Needed(sources, passed(operation.schema, left.columns, right.columns))


@dataclass(frozen=True, eq=False)
class Slots:
    """The slot (int32) of each row's key on either side, from 0 below `size`, -1 for none; no array for no keys."""

    left: Array | None
    right: Array | None
    size: int


def key_slots(operation: AsofJoin, left: Frame, right: Frame, machine: Machine) -> Slots:
    """Number the keys of both sides."""
    if not operation.left_on:
        return Slots(None, None, 1)
    keys = join_keys(operation, left, right, machine)
    lookup = lookup_of(keys, machine)
    found, _ = lookup.find(keys.left, slots=True)
    return Slots(found, lookup.slots, lookup.size)


@dataclass(frozen=True, eq=False)
class Segments:
    """Right rows in the order of their slots and times.

    `order` has the row (int32) of each place, None where they are in that order already; `times` are their times, in
    order.  `bounds` (int32) are the places at which each slot's rows begin and end.
    """

    order: Array | None
    times: Keys
    bounds: Array


def right_segments(operation: AsofJoin, right: Frame, slots: Slots, times: Vector, machine: Machine) -> Segments:
    """Sort the right rows that can match, unless they are in order, and look at those that tie."""
    arrays, rows = machine.arrays, right.rows
    chosen, count = arrays.empty(rows, "int32"), arrays.zeros(1, "uint64")
    time = Key(replace_valid(times), False)
    launch = partial(launch_times, Keys((Key(times, False),), rows), machine=machine)
    launch("choose_rows", [0 if slots.right is None else slots.right, chosen, count])
    selected = None if int(count[0]) == rows else numbers_where(chosen, machine, NOT_NEGATIVE)
    typed = [key for key in operation.order_by if right.columns[key.column].dtype != NULL]
    own = tuple(key_of(right.columns[key.column], key, machine) for key in typed)
    keys = Keys((Key(Vector(INT32, rows, chosen), False), time, *own), int(count[0]), selected)
    by_time = sort_keys(keys, 2, False, machine)
    order = by_time.rows if selected is None else selected
    if selected is not None and by_time.rows is not None:
        order = pick(selected, by_time.rows, machine)
    if operation.unique_right:
        check_unique(operation, right, order, by_time.new_group, machine)
    note_ties(operation, [*map(SortKey, operation.right_on), *operation.right_order], by_time.ties)
    bounds = arrays.zeros(2 * slots.size, "int32")
    machine.launch(
        machine.closed(PROGRAM), "bound_segments", keys.rows, [keys.rows, 0 if order is None else order, chosen, bounds]
    )
    ordered = time.column if order is None else take({"": time.column}, order, machine, missing=False)[""]
    return Segments(order, Keys((Key(ordered, False),), keys.rows), bounds)


def replace_valid(times: Vector) -> Vector:
    """Return a column without its nulls: only rows that have none are looked at."""
    return replace(times, valid=None, nulls=0)


def check_unique(operation: AsofJoin, right: Frame, order: Array | None, marks: Array, machine: Machine) -> None:
    """Raise `EvaluationError` where rows have equal keys and times; marks, in order, are set where these differ."""
    first = machine.arrays.zeros(1, "uint64")
    arguments = [len(marks), 0 if order is None else order, marks, first]
    machine.launch(machine.closed(PROGRAM), "find_first_marked", len(marks), arguments)
    if not (found := int(first[0])):
        return
    names = (*operation.right_on, operation.right_asof)
    key = written_key(right, names, names, (1 << 63) - 1 - found, machine)
    raise EvaluationError(
        coded(
            "GE2004",
            f"the join is not many_to_one: {listing(names)} repeats on the right side, {key} is in more than one row.  "
            "Make the keys distinct, or relax validate",
        )
    )


def find_nearest(
    operation: AsofJoin, segments: Segments, slots: Slots, times: Keys, machine: Machine
) -> tuple[Array, Array]:
    """Return the right row (int32) of each left row, -1 for none, and how many have one (uint64)."""
    arrays = machine.arrays
    if not segments.times.rows:
        return filled(times.rows, -1, "int32", machine), arrays.zeros(1, "uint64")
    found, count = arrays.empty(times.rows, "int32"), arrays.zeros(1, "uint64")
    limit = [] if operation.tolerance is None else limit_words(operation.tolerance)
    arguments = [
        *(0 if each is None else each for each in (slots.left, segments.order)), segments.bounds,
        DIRECTIONS.index(operation.direction), int(operation.strict), int(bool(limit)), *(limit or [0, 0]),
        found, count,
    ]  # fmt: skip
    launch_times(times, "find_nearest", arguments, machine, segments.times)
    return found, count


def limit_words(tolerance: int | float) -> list[int]:
    """Return the largest distance as two words of a `Distance` of device/asof.cuh, as signed integers."""
    bits = struct.unpack("<Q", struct.pack("<d", tolerance))[0] if isinstance(tolerance, float) else tolerance
    return [signed(bits >> 64), signed(bits & WORD)]


def signed(word: int) -> int:
    """Return the signed integer that has the bits of an unsigned one."""
    return word - (1 << 64) if word >> 63 else word


def launch_times(
    times: Keys, entry: str, arguments: Sequence[object], machine: Machine, others: Keys | None = None
) -> None:
    """Run a kernel over rows, given the times of one side or of both."""
    sides: Words = []
    for keys in (times,) if others is None else (times, others):
        sides += keys.struct(keys.described(machine), machine)
    launch_components(PROGRAM, entry, times.components, times.rows, arguments, sides, machine)

"""Join: the right side's rows are put into a table by key, checked, and each left row finds its partners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import NEGATIVE, NOT_NEGATIVE, joined, numbers_where, scan
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow, single_row, to_arrow
from gpuetl.engines.cudf.columns.kind import Kinds
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.cudf.relational.join_lookup import (
    JoinKeys,
    KeyCodes,
    Lookup,
    Pairs,
    comparable_sources,
    count_codes,
    join_keys,
    lookup_of,
    paired,
    single_partners,
    unmatched_right,
)
from gpuetl.engines.no_result import check_single, written
from gpuetl.errors import EvaluationError, listing
from gpuetl.messages import coded
from gpuetl.plan.node import written_keys, written_values
from gpuetl.plan.nodes import AsofJoin, Join, ScalarJoin

# What a join checks before it is built: that keys do not repeat, and that the result fits.


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
        f"the join is not {operation.written_validate}: {listing(written_keys(names))} repeats on the {name} side, "
        f"{written_key(frame, columns, names, first, machine)} is in more than one row.  "
        "Make the keys distinct, or relax validate"
    )


def check_size(
    operation: Join, left: Frame, right: Frame, rows: int, machine: Machine, keys: KeyCodes | None = None
) -> None:
    """Raise `EvaluationError` where a result of `rows` rows is more than a frame or the machine's memory holds."""
    check_result(
        operation, left, right, rows, machine,
        lambda: most_repeated(operation, left, keys, machine) if keys else every_row(left, right),
    )  # fmt: skip


def check_result(
    operation: Join, left: Frame, right: Frame, rows: int, machine: Machine, why: Callable[[], str]
) -> None:
    """Raise `EvaluationError` for a result that is too large, and say why, and what to do."""
    payload = right.select(operation.payload)
    size = rows * sum(frame.nbytes / max(1, frame.rows) for frame in (left, payload))
    memory = device_memory(machine)
    if rows <= MAX_ROWS and size <= memory:
        return
    raise EvaluationError(
        coded(
            "GE2008",
            f"the join would have {rows:,} rows (about {size / 1e9:,.1f} GB): a frame holds {MAX_ROWS:,} at most, "
            f"and this machine has {memory / 1e9:,.1f} GB.  {why()}",
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
    return written_values(names, values)


# Join: the right side's rows are put into a table by key, in which each left row finds its partners.


@run_operation.register
def join_frames(operation: Join, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Join two frames.

    Rows come in the order of the left ones, then of the right ones; a full join's right rows without a match come last.

    Raises
    ------
    EvaluationError
        Where `validate` is broken, or the result would have 2^31 rows or more, or not fit the device's memory.
    """
    arrays = machine.arrays
    none = arrays.zeros(0, "int32")
    if operation.how == "cross":
        return combined(operation, left, right, every_pair(operation, left, right, machine), none, machine)
    keys = join_keys(operation, left, right, machine)
    lookup = lookup_of(keys, machine)
    check_unique(operation, (left, right), keys, lookup, machine)
    if operation.how in ("semi", "anti"):
        found, _ = lookup.find(keys.left, slots=False)
        kept = numbers_where(found, machine, NOT_NEGATIVE if operation.how == "semi" else NEGATIVE)
        return combined(operation, left, right, Pairs(kept, none), none, machine)
    if operation.how != "full" and not lookup.repeated:
        found, count = lookup.find(keys.left, slots=False)
        pairs = single_partners(found, count, operation.how == "inner", machine)
        check_size(operation, left, right, len(pairs.right), machine)
        return combined(operation, left, right, pairs, none, machine)
    found, _ = lookup.find(keys.left, slots=True)
    codes = KeyCodes(found, lookup.slots, lookup.size)
    unmatched = unmatched_right(codes, machine) if operation.how == "full" else none
    pairs = matching_pairs(operation, left, right, codes, len(unmatched), machine)
    return combined(operation, left, right, pairs, unmatched, machine)


@run_operation.register
def join_value(operation: ScalarJoin, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Add the value of the right side's only row to every left row.

    Raises
    ------
    EvaluationError
        Where the stage of the value has more than one row.
    """
    check_single(operation, to_arrow(right.columns[operation.count], machine)[0].as_py())
    value = {operation.value: right.columns[operation.value]}
    repeated = take(value, machine.arrays.zeros(left.rows, "int32"), machine, missing=False)
    return Frame({**left.columns, **repeated}, left.rows)


@programs.register
def join_programs(operation: Join, left: Kinds, right: Kinds) -> Needed:
    """List those of keys that are cast to compare."""
    sources, keys = list[KernelSource](), zip(operation.left_on, operation.right_on, strict=True)
    for ours, theirs in keys:
        sources += comparable_sources(left.columns[ours], right.columns[theirs])
    return Needed(sources, passed(operation.schema, left.columns, right.columns))


def every_pair(operation: Join, left: Frame, right: Frame, machine: Machine) -> Pairs:
    """Pair every left row with every right one."""
    if right.rows == 1:
        return Pairs(None, machine.arrays.zeros(left.rows, "int32"))
    total = left.rows * right.rows
    check_size(operation, left, right, total, machine)
    ours, theirs = machine.arrays.empty(total, "int32"), machine.arrays.empty(total, "int32")
    machine.launch(machine.closed("pairs"), "pair_all", total, [total, right.rows, ours, theirs])
    return Pairs(ours, theirs)


def matching_pairs(operation: Join, left: Frame, right: Frame, keys: KeyCodes, more: int, machine: Machine) -> Pairs:
    """Pair rows of equal keys, after looking whether that many, and `more`, fit."""
    counts = count_codes(keys.right, keys.size, machine)
    repeats = machine.arrays.empty(left.rows, "int64")
    arguments = [left.rows, int(operation.how != "inner"), keys.left, counts, repeats]
    machine.launch(machine.closed("pairs"), "count_partners", left.rows, arguments)
    ends = scan(repeats, machine)
    total = int(ends[-1]) if left.rows else 0
    check_size(operation, left, right, total + more, machine, keys)
    return paired(keys, counts, repeats, ends, total, machine)


def combined(
    operation: Join | AsofJoin, left: Frame, right: Frame, pairs: Pairs, unmatched: Array, machine: Machine
) -> Frame:
    """Put the columns of paired rows beside each other, and below them the right rows that are alone."""
    keys = dict(zip(operation.left_on, operation.right_on, strict=True))
    wanted = {name: right.columns[name] for name in operation.schema if name not in left.columns}
    ours = {name: left.columns[name] for name in operation.schema if name in left.columns}
    columns = dict(ours) if pairs.left is None else take(ours, pairs.left, machine, missing=False)
    rows = left.rows if pairs.left is None else len(pairs.left)
    if len(unmatched):
        below = take(
            {name: right.columns[keys[name]] for name in ours if name in keys}, unmatched, machine, missing=False
        )
        for name, vector in columns.items():
            alone = below[name] if name in below else from_arrow(pa.nulls(len(unmatched), vector.dtype), machine)
            columns[name] = stacked([vector, alone], machine)
    others = joined([pairs.right, unmatched], machine) if len(unmatched) else pairs.right
    columns |= take(wanted, others, machine, missing=operation.how not in ("inner", "cross"))
    return Frame({name: columns[name] for name in operation.schema}, rows + len(unmatched))

"""Join: which rows go together, what is checked before, and the rows put together."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.no_result import check_single, written
from gpuetl.engines.pandas.columns.column import MAX_ROWS, arange, take_column, whole
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.join_keys import encode_sides
from gpuetl.errors import EvaluationError, listing
from gpuetl.messages import coded
from gpuetl.plan.node import written_keys, written_values
from gpuetl.plan.nodes import Join, ScalarJoin
from gpuetl.records import dataclass
from gpuetl.threads import in_threads

# Which rows of two sides go together, from the codes of their keys; -1 matches nothing.


Ints = NDArray[np.int64]
Rows = NDArray[Any]
"""Row numbers, int32 or int64."""


@dataclass(frozen=True, eq=False)
class KeyCodes:
    """The codes of the left and the right side's keys, from 0 below `size`."""

    left: Ints
    right: Ints
    size: int


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows that go together, in the order of the left ones, then of the right ones.

    `left` None stands for every left row once, in order; -1 in `right` for none.
    """

    left: Rows | None
    right: Rows


def rows_by_code(codes: Ints, size: int) -> Rows | None:
    """Return the row of each code and a last -1, -1 where there is none; None where a code repeats."""
    rows: Rows = np.full(size + 1, -1, np.int32 if len(codes) < 1 << 31 else np.int64)
    rows[codes] = np.arange(len(codes), dtype=rows.dtype)  # code -1 goes to the last slot
    rows[-1] = -1
    return rows if np.count_nonzero(rows >= 0) == np.count_nonzero(codes >= 0) else None


def count_codes(codes: Ints, size: int) -> Ints:
    """Return how often each code stands, and a last 0, which is what code -1 finds."""
    return np.bincount(codes[codes >= 0], minlength=size + 1)


def has_match(codes: Ints, others: Ints, size: int) -> NDArray[np.bool_]:
    """Tell for each of `codes` whether it is among `others`."""
    present = np.zeros(size + 1, np.bool_)
    present[others] = True
    present[-1] = False
    return present[codes]


def pairs_of_one(partners: Rows, keys: KeyCodes, outer: bool) -> Pairs:
    """Pair each left row with the one right row of its code; `outer` keeps those that have none."""
    right = partners[keys.left]
    if outer or (right >= 0).all():
        return Pairs(None, right)
    left = np.flatnonzero(right >= 0)
    return Pairs(left, right[left])


def pairs_of_many(counts: Ints, repeats: Ints, keys: KeyCodes) -> Pairs:
    """Pair each left row with the right rows of its code, of which there are `counts`.

    A left row stands `repeats` times in the result; where that is more often than it has partners, it has none.
    """
    by_code = np.append(sorted_rows(keys.right), -1)
    starts = (np.cumsum(counts) - counts)[keys.left]
    starts[counts[keys.left] == 0] = len(by_code) - 1
    firsts = np.cumsum(repeats) - repeats
    right = by_code[arange(int(repeats.sum())) + np.repeat(starts - firsts, repeats)]
    return Pairs(np.repeat(arange(len(repeats)), repeats), right)


def sorted_rows(codes: Ints) -> Ints:
    """Return the rows that have a code, by code, equal codes in order: one sort of both in one number."""
    rows = np.flatnonzero(codes >= 0)
    bits = len(codes).bit_length()
    packed = (codes[rows] << bits) | rows
    packed.sort()
    return packed & ((1 << bits) - 1)


# What a join checks before it is built: that keys do not repeat, and that the result fits.


def check_unique(operation: Join, side: int, frame: pa.Table, codes: Ints, size: int) -> None:
    """Raise `EvaluationError` where a code repeats in the left (0) or right (1) side; -1 may."""
    counts = count_codes(codes, size)
    if counts.max() < 2:
        return
    name, names = operation.written_sides[side]
    first = int(np.flatnonzero(codes == counts.argmax())[0])
    columns = (operation.left_on, operation.right_on)[side]
    raise EvaluationError(
        coded(
            "GE2004",
            f"the join is not {operation.written_validate}: {listing(written_keys(names))} repeats on the {name} side, "
            f"{written_key(frame, columns, names, first)} is in more than one row.  "
            "Make the keys distinct, or relax validate",
        )
    )


def check_size(operation: Join, left: pa.Table, right: pa.Table, rows: int, keys: KeyCodes | None = None) -> None:
    """Raise `EvaluationError` where a result of `rows` rows is more than a frame or this machine's memory holds."""
    check_result(
        operation, left, right, rows,
        lambda: most_repeated(operation, left, keys) if keys else every_row(left, right),
    )  # fmt: skip


def check_result(operation: Join, left: pa.Table, right: pa.Table, rows: int, why: Callable[[], str]) -> None:
    """Raise `EvaluationError` for a result that is too large, and say why, and what to do."""
    payload = right.select(operation.payload)
    size = rows * sum(frame.nbytes / max(1, frame.num_rows) for frame in (left, payload))
    memory = physical_memory()
    if rows <= MAX_ROWS and size <= memory:
        return
    raise EvaluationError(
        coded(
            "GE2008",
            f"the join would have {rows:,} rows (about {size / 1e9:,.1f} GB): a frame holds {MAX_ROWS:,} at most, "
            f"and this machine has {memory / 1e9:,.1f} GB.  {why()}",
        )
    )


def physical_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def every_row(left: pa.Table, right: pa.Table) -> str:
    """Say what a cross join multiplies."""
    counts = f"Each of {left.num_rows:,} rows on the left side meets each of {right.num_rows:,} on the right"
    return f"{counts}.  Filter or aggregate a side first, or join on keys"


def most_repeated(operation: Join, left: pa.Table, keys: KeyCodes) -> str:
    """Name the key that gives most rows."""
    counts = count_codes(keys.left, keys.size), count_codes(keys.right, keys.size)
    worst = int((counts[0] * counts[1]).argmax())  # below 2^62: each side has fewer than 2^31 rows
    row = int(np.flatnonzero(keys.left == worst)[0]) if counts[0][worst] else 0
    sides = operation.written_sides
    found = {name: f"{count[worst]:,}" for (name, _), count in zip(sides, counts, strict=True)}
    return (
        f"{written_key(left, operation.left_on, sides[0][1], row)} repeats most: in {found['left']} rows on the left "
        f"side, {found['right']} on the right.  Join on more columns, or make the keys of one side distinct"
    )


def written_key(frame: pa.Table, columns: Sequence[str], names: Sequence[str], row: int) -> str:
    """Return the key of a row with the names that the user knows."""
    values = (written(frame.column(column)[row]) for column in columns)
    return written_values(names, values)


# Join: equal keys get equal codes; each left row takes the right rows of its code.


@run_operation.register
def join_tables(operation: Join, left: pa.Table, right: pa.Table) -> pa.Table:
    """Join two frames.

    Rows come in the order of the left ones, then of the right ones; a full join's right rows without a match come last.

    Raises
    ------
    EvaluationError
        Where `validate` is broken, or the result would have 2^31 rows or more, or not fit this machine's memory.
    """
    if operation.how == "cross":
        return combined(operation, left, right, every_pair(operation, left, right), np.zeros(0, np.int64))
    keys = encoded_keys(operation, left, right)
    if operation.how in ("semi", "anti"):
        kept = has_match(keys.left, keys.right, keys.size) == (operation.how == "semi")
        return combined(operation, left, right, Pairs(np.flatnonzero(kept), arange(0)), arange(0))
    unmatched = arange(0)
    if operation.how == "full":
        unmatched = np.flatnonzero(~has_match(keys.right, keys.left, keys.size))
    return combined(operation, left, right, matching_pairs(operation, left, right, keys, len(unmatched)), unmatched)


@run_operation.register
def join_value(operation: ScalarJoin, left: pa.Table, right: pa.Table) -> pa.Table:
    """Add the value of the right side's only row to every left row.

    Raises
    ------
    EvaluationError
        Where the stage of the value has more than one row.
    """
    check_single(operation, right.column(operation.count)[0].as_py())
    value = take_values(right.column(operation.value), np.zeros(left.num_rows, np.int32))
    return pa.table([*left.columns, value], schema=operation.schema.to_arrow())


def every_pair(operation: Join, left: pa.Table, right: pa.Table) -> Pairs:
    """Pair every left row with every right one."""
    check_size(operation, left, right, left.num_rows * right.num_rows)
    rows = np.repeat(arange(left.num_rows), right.num_rows)
    return Pairs(rows, np.tile(arange(right.num_rows), left.num_rows))


def encoded_keys(operation: Join, left: pa.Table, right: pa.Table) -> KeyCodes:
    """Number the keys of both sides, and check those that must not repeat.

    A side that is checked needs codes for all of its keys, so it is the base; else the smaller one is.
    """
    sides = [left.column(name) for name in operation.left_on], [right.column(name) for name in operation.right_on]
    smaller = 0 if left.num_rows < right.num_rows else 1
    base = operation.unique.index(True) if any(operation.unique) else smaller
    codes = encode_sides(sides[base], sides[1 - base], operation.nulls_equal)
    for side in (0, 1):
        if operation.unique[side]:
            own = codes if side == base else encode_sides(sides[side], nothing(sides[base]), operation.nulls_equal)
            check_unique(operation, side, (left, right)[side], own.base, own.size)
    return KeyCodes(*((codes.other, codes.base) if base else (codes.base, codes.other)), codes.size)


def nothing(columns: Sequence[Any]) -> list[Any]:
    """Return no rows of the columns."""
    return [column[:0] for column in columns]


def matching_pairs(operation: Join, left: pa.Table, right: pa.Table, keys: KeyCodes, more: int) -> Pairs:
    """Pair rows of equal keys, after looking whether that many, and `more`, fit."""
    outer = operation.how != "inner"
    partners = rows_by_code(keys.right, keys.size)
    if partners is not None:
        pairs = pairs_of_one(partners, keys, outer)
        check_size(operation, left, right, len(pairs.right) + more, keys)
        return pairs
    counts = count_codes(keys.right, keys.size)
    repeats = np.maximum(counts[keys.left], 1) if outer else counts[keys.left]
    check_size(operation, left, right, int(repeats.sum()) + more, keys)
    return pairs_of_many(counts, repeats, keys)


def combined(operation: Join, left: pa.Table, right: pa.Table, pairs: Pairs, unmatched: Rows) -> pa.Table:
    """Put the columns of paired rows beside each other, and below them the right rows that are alone."""
    keys = dict(zip(operation.left_on, operation.right_on, strict=True))
    right_rows = pairs.right if not len(unmatched) else np.concatenate([pairs.right, unmatched])

    def column(name: str) -> Any:
        if name not in left.column_names:
            return take_values(right.column(name), right_rows)
        top = left.column(name) if pairs.left is None else take_values(left.column(name), pairs.left)
        if not len(unmatched):
            return top
        below = take_values(right.column(keys[name]), unmatched) if name in keys else pa.nulls(len(unmatched), top.type)
        return pa.chunked_array([whole(top), below])

    names = operation.schema.names
    return pa.table(in_threads(column, names), schema=operation.schema.to_arrow())


def take_values(column: Any, rows: Rows) -> Any:
    """Return the values at `rows`, null at -1."""
    missing = rows < 0
    return take_column(column, pa.array(rows, mask=missing if missing.any() else None))

"""As-of join: right rows sorted by key and order, in which each left row finds its place by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import arange, has_numbers, take_column, to_masked, whole
from gpuetl.engines.pandas.columns.order import (
    argsort_packed,
    note_ties,
    ordered_values,
    ordinal,
    pack_keys,
    rank_values,
)
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.join import count_codes, take_values, written_key
from gpuetl.engines.pandas.relational.join_keys import Codes, encode_sides
from gpuetl.errors import EvaluationError, listing
from gpuetl.messages import coded
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import AsofJoin
from gpuetl.records import dataclass
from gpuetl.threads import in_threads
from gpuetl.types.data_types import is_floating

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = list[NDArray[Any]]
"""Distances, the most significant word first: two of unsigned integers, or one of floats."""
WORD = (1 << 64) - 1


# Values of both sides that compare: ranks, and distances.


@dataclass(frozen=True, eq=False)
class Compared:
    """The order's column of a side: integers in its order, which rows can match, and its values as words."""

    ranks: Ints
    valid: Flags
    words: Words

    def take(self, rows: Ints) -> Words:
        """Return the words of some rows."""
        return [word[rows] for word in self.words]


def compared(left: Any, right: Any, operation: AsofJoin) -> tuple[Compared, Compared]:
    """Return the order's columns of both sides in their common type."""
    sides = [whole(column).cast(operation.order_type) for column in (left, right)]
    if not has_numbers(operation.order_type):
        both = rank_values(pa.concat_arrays(sides))
        rows = len(sides[0])
        parts = slice(None, rows), slice(rows, None)
        ours, theirs = (
            Compared(both.ranks[part], both.valid[part], decimal_words(side))
            for part, side in zip(parts, sides, strict=True)
        )
        return ours, theirs
    ours, theirs = map(compared_numbers, sides)
    return ours, theirs


def compared_numbers(column: Any) -> Compared:
    """Return a column of numbers or times; NaN is not valid."""
    ranks, valid = ordered_values(column)
    if is_floating(column.type):
        values = to_masked(column).values
        return Compared(ranks, valid & ~np.isnan(values), [values.astype(np.float64)])
    above_least = ranks.view(np.uint64) ^ np.uint64(1 << 63)
    return Compared(ranks, valid, [np.zeros(len(ranks), np.uint64), above_least])


def decimal_words(column: Any) -> Words:
    """Return the halves of 128 bits of decimals."""
    wide = column.cast(pa.decimal128(38, column.type.scale))
    halves = np.frombuffer(wide.buffers()[1] or b"", np.uint64)[2 * wide.offset : 2 * (wide.offset + len(wide))]
    return [halves[1::2], halves[::2]]


def distances(greater: Words, less: Words) -> Words:
    """Return how far values are from values that are not greater; equal infinities have the distance 0."""
    if len(greater) == 1:
        with np.errstate(invalid="ignore"):
            return [np.where(greater[0] == less[0], 0.0, greater[0] - less[0])]
    borrow = (greater[1] < less[1]).astype(np.uint64)
    return [greater[0] - less[0] - borrow, greater[1] - less[1]]


def not_greater(words: Words, others: Sequence[Any]) -> Flags:
    """Return where words are not greater than others."""
    *first, last = zip(words, others, strict=True)
    found: Flags = last[0] <= last[1]
    for own, other in reversed(first):
        found = (own < other) | ((own == other) & found)
    return found


def limit_words(tolerance: int | float) -> list[Any]:
    """Return the largest distance as words."""
    if isinstance(tolerance, float):
        return [tolerance]
    return [np.uint64(tolerance >> 64), np.uint64(tolerance & WORD)]


# The right side in order.


@dataclass(frozen=True, eq=False)
class Segments:
    """Right rows in the order of their codes and ranks: a code's rows are at the places from `starts` to `ends`."""

    rows: Ints
    ranks: Ints
    starts: Ints
    ends: Ints

    def bound(self, codes: Ints, values: Ints, beyond: bool) -> Ints:
        """Return the first place of each code whose rank is not less than a value, or is `beyond` it, or its end."""
        low, high = self.starts[codes], self.ends[codes]
        open_rows = np.flatnonzero(low < high)
        while len(open_rows):
            middle = (low[open_rows] + high[open_rows]) // 2
            ranks, wanted = self.ranks[middle], values[open_rows]
            passed = ranks <= wanted if beyond else ranks < wanted
            low[open_rows] = np.where(passed, middle + 1, low[open_rows])
            high[open_rows] = np.where(passed, high[open_rows], middle)
            open_rows = open_rows[low[open_rows] < high[open_rows]]
        return low


def segments(operation: AsofJoin, right: pa.Table, codes: Codes, order: Compared) -> Segments:
    """Sort the right rows that can match, and look at those that tie."""
    usable = np.flatnonzero((codes.base >= 0) & order.valid)
    own = in_threads(lambda key: ordinal(right.column(key.column), key)[usable], operation.order_by)
    keys = [codes.base[usable], order.ranks[usable], *own]
    places = argsort_packed(pack_keys(keys))
    tied = np.ones(max(0, len(places) - 1), np.bool_)
    for number, key in enumerate(keys):
        ordered = key[places]
        tied &= ordered[1:] == ordered[:-1]
        if number == 1 and operation.unique_right and tied.any():
            raise EvaluationError(repeats(operation, right, int(usable[places[1:][tied]].min())))
    note_ties(operation, [*map(SortKey, operation.right_on), *operation.right_order], int(tied.sum()))
    ends = np.cumsum(count_codes(keys[0], codes.size))
    return Segments(usable[places], order.ranks[usable][places], np.append(0, ends[:-1]), ends)


def repeats(operation: AsofJoin, right: pa.Table, row: int) -> str:
    """Say that a key and its order are in more than one right row."""
    names = (*operation.right_on, operation.right_asof)
    return coded(
        "GE2004",
        f"the join is not many_to_one: {listing(names)} repeats on the right side, "
        f"{written_key(right, names, names, row)} is in more than one row.  "
        "Make the keys distinct, or relax validate",
    )


# The join.


@run_operation.register
def asof_join_tables(operation: AsofJoin, left: pa.Table, right: pa.Table) -> pa.Table:
    """Join two frames; rows come in the order of the left ones.

    Raises
    ------
    EvaluationError
        Where right rows repeat that must not.
    """
    ours, theirs = compared(left.column(operation.left_asof), right.column(operation.right_asof), operation)
    codes = key_codes(operation, left, right)
    found = segments(operation, right, codes, theirs)
    own_codes = np.where(ours.valid, codes.other, codes.size)  # which has no rows, as -1 has none
    places = nearest_places(operation, found, own_codes, ours, theirs)
    rows = np.where(places < 0, -1, np.append(found.rows, -1)[places])
    kept = None
    if operation.how == "inner" and (rows < 0).any():
        kept = np.flatnonzero(rows >= 0)
        rows = rows[kept]

    def column(name: str) -> Any:
        if name not in left.column_names:
            return take_values(right.column(name), rows)
        return left.column(name) if kept is None else take_column(left.column(name), pa.array(kept))

    schema = operation.schema
    return pa.table(in_threads(column, schema.names), schema=schema.to_arrow())


def key_codes(operation: AsofJoin, left: pa.Table, right: pa.Table) -> Codes:
    """Number the keys of both sides, the right one as the base; without keys all rows have one."""
    if not operation.left_on:
        return Codes(0 * arange(right.num_rows), 0 * arange(left.num_rows), 1)
    sides = [right.column(name) for name in operation.right_on], [left.column(name) for name in operation.left_on]
    return encode_sides(*sides, operation.nulls_equal)


def nearest_places(operation: AsofJoin, found: Segments, codes: Ints, ours: Compared, theirs: Compared) -> Ints:
    """Return the place of the right row for each left row, -1 for none; code -1 and the last one have no rows."""
    codes = np.where(codes < 0, len(found.ends) - 1, codes)
    bound: Callable[[bool], Ints] = lambda beyond: found.bound(codes, ours.ranks, beyond)  # noqa: E731
    before = after = np.full(len(codes), -1)
    if operation.direction != "forward":
        before = bound(not operation.strict) - 1
        before = np.where(before < found.starts[codes], -1, before)
    if operation.direction != "backward":
        after = bound(operation.strict)
        after = np.where(after < found.ends[codes], after, -1)
    if operation.direction == "nearest":
        last = found.bound(codes, np.append(found.ranks, 0)[after], beyond=True) - 1
        after = np.where(after < 0, -1, last)
        is_nearer = not_greater(*(distance(found, ours, theirs, places) for places in (after, before)))
        places = np.where((before < 0) | ((after >= 0) & is_nearer), after, before)
    else:
        places = before if operation.direction == "backward" else after
    if operation.tolerance is None:
        return places
    near = not_greater(distance(found, ours, theirs, places), limit_words(operation.tolerance))
    return np.where(near, places, -1)


def distance(found: Segments, ours: Compared, theirs: Compared, places: Ints) -> Words:
    """Return how far each left row is from the right row at a place; anything where there is none."""
    rows = np.append(found.rows, -1)[places]
    if not len(theirs.ranks):
        return [word * 0 for word in ours.words]
    own, other = ours.words, theirs.take(rows)
    is_later = ours.ranks >= theirs.ranks[rows]
    greater = [np.where(is_later, a, b) for a, b in zip(own, other, strict=True)]
    less = [np.where(is_later, b, a) for a, b in zip(own, other, strict=True)]
    return distances(greater, less)

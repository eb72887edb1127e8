"""Condition join: candidates for pairs come in bounded chunks, and those that fulfil the condition stay.

Candidates have equal keys.  Without keys they are those in a range that the condition names, found in sorted rows, or
else all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.columns.column import arange, whole
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.join import (
    Ints,
    Pairs,
    check_result,
    combined,
    count_codes,
    encoded_keys,
    sorted_rows,
    take_values,
)
from gpuetl.expressions.ir import Expr
from gpuetl.plan.nodes import ConditionJoin
from gpuetl.plan.nodes.condition_join import LEFT, RIGHT, Bound, of_side, range_of
from gpuetl.records import dataclass
from gpuetl.types.data_types import is_floating

CHUNK_BYTES = 32 << 20
"""Of the row numbers of candidates, and the columns that the condition reads."""
LEAST_CHUNK = 1 << 10
STRICTER = "Make the condition stricter, or filter or aggregate a side first"


class Rows(NamedTuple):
    """Row numbers of either side, as many."""

    left: Ints
    right: Ints


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs that may fulfil a condition: each row of one side with a run of places of the other.

    A row's pairs end before its number in `ends`.  Its run begins at its place in `starts`, in `others`, which are rows
    of the other side.  With `flipped` the rows are those of the right side.
    """

    ends: Ints
    starts: Ints
    others: Ints
    flipped: bool = False

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def pairs(self, first: int, last: int) -> Rows:
        """Return those from number `first` to before `last`."""
        numbers = arange(last - first) + first
        rows = np.searchsorted(self.ends, numbers, side="right")
        begins = np.where(rows > 0, self.ends[rows - 1], 0)
        others = self.others[self.starts[rows] + numbers - begins]
        return Rows(others, rows) if self.flipped else Rows(rows, others)


@run_operation.register
def join_on_condition(operation: ConditionJoin, left: pa.Table, right: pa.Table) -> pa.Table:
    """Join two frames on a condition.

    Raises
    ------
    EvaluationError
        Where `validate` is broken, the condition has no result for a pair, or the result does not fit.
    """
    lefts, rights, kept = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    matched = np.zeros(left.num_rows, np.bool_), np.zeros(right.num_rows, np.bool_)
    wants_pairs = operation.how not in ("semi", "anti")
    for rows in fulfilling(operation, left, right):
        matched[0][rows.left] = True
        matched[1][rows.right] = True
        if wants_pairs:
            lefts.append(rows.left)
            rights.append(rows.right)
            check_result(operation, left, right, kept := kept + len(rows.left), lambda: STRICTER)
    if not wants_pairs:
        rows_kept = np.flatnonzero(matched[0] == (operation.how == "semi"))
        return combined(operation, left, right, Pairs(rows_kept, arange(0)), arange(0))
    if operation.how != "inner":
        alone = np.flatnonzero(~matched[0])
        lefts.append(alone)
        rights.append(np.full(len(alone), -1))
    ours, theirs = np.concatenate(lefts), np.concatenate(rights)
    order = np.lexsort((theirs, ours))
    unmatched = np.flatnonzero(~matched[1]) if operation.how == "full" else arange(0)
    check_result(operation, left, right, len(ours) + len(unmatched), lambda: STRICTER)
    return combined(operation, left, right, Pairs(ours[order], theirs[order]), unmatched)


def fulfilling(operation: ConditionJoin, left: pa.Table, right: pa.Table) -> Iterator[Rows]:
    """Yield the pairs that fulfil the condition, from one chunk of candidates after the other."""
    candidates = candidates_of(operation, left, right)
    if not candidates.total:
        return
    ours, theirs = operation.condition_columns
    columns = [(LEFT + name, left.column(name), 0) for name in ours]
    columns += [(RIGHT + name, right.column(name), 1) for name in theirs]
    pair_bytes = 32 + sum(column.nbytes / max(1, len(column)) for _, column, _ in columns)
    chunk = max(LEAST_CHUNK, int(CHUNK_BYTES / pair_bytes))
    for first in range(0, candidates.total, chunk):
        rows = candidates.pairs(first, min(first + chunk, candidates.total))
        frame = {name: take_values(column, rows[side]) for name, column, side in columns}
        frame[""] = pa.chunked_array([pa.nulls(len(rows.left))])  # of a condition without columns
        found = whole(evaluate_column(operation.condition, pa.table(frame)))
        places = np.flatnonzero(found.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False))
        yield Rows(rows.left[places], rows.right[places])


def candidates_of(operation: ConditionJoin, left: pa.Table, right: pa.Table) -> Candidates:
    """Return the pairs of equal keys, of a range, or all."""
    if operation.left_on:
        keys = encoded_keys(operation, left, right)
        counts = count_codes(keys.right, keys.size)
        starts = np.cumsum(counts) - counts
        return Candidates(np.cumsum(counts[keys.left]), starts[keys.left], sorted_rows(keys.right))
    if not left.num_rows or not right.num_rows:
        return Candidates(arange(0), arange(0), arange(0))
    if (found := range_of(operation.condition)) is None:
        ends = (arange(left.num_rows) + 1) * right.num_rows
        return Candidates(ends, np.zeros(left.num_rows, np.int64), arange(right.num_rows))
    own, other = (left, right) if found.side == LEFT else (right, left)
    values, valid = numbers(found.value, own)
    rows = np.flatnonzero(valid)
    rows = rows[np.argsort(values[rows], kind="stable")]
    ordered = values[rows]
    starts, ends = np.zeros(other.num_rows, np.int64), np.full(other.num_rows, len(rows))
    if found.lower:
        starts = places(ordered, found.lower, other, "left" if found.lower.inclusive else "right", len(rows))
    if found.upper:
        ends = places(ordered, found.upper, other, "right" if found.upper.inclusive else "left", 0)
    return Candidates(np.cumsum(np.maximum(ends - starts, 0)), starts, rows, flipped=found.side == LEFT)


def places(ordered: Ints, bound: Bound, other: pa.Table, side: str, of_null: int) -> Ints:
    """Return where the values of a bound go among ordered ones; null, which compares with nothing, at one end."""
    values, valid = numbers(bound.value, other)
    found: Ints = np.searchsorted(ordered, values, side=side)  # type: ignore[call-overload]
    return np.where(valid, found, of_null)


def numbers(value: Expr, frame: pa.Table) -> tuple[Ints, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """Return the values of one side as int64 or float64, and which are not null."""
    column = whole(evaluate_column(of_side(value), frame))
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    if is_floating(column.type):
        return column.fill_null(0.0).to_numpy(zero_copy_only=False), valid
    whole_numbers = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    return whole_numbers.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), valid

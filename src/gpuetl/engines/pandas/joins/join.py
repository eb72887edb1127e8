"""Join: equal keys get equal codes; each left row takes the right rows of its code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.columns.column import arange, whole
from gpuetl.engines.pandas.columns.gather import take_column
from gpuetl.engines.pandas.joins.checks import check_size, check_unique
from gpuetl.engines.pandas.joins.keys import encode_sides
from gpuetl.engines.pandas.joins.rows import (
    KeyCodes,
    Pairs,
    Rows,
    count_codes,
    has_match,
    pairs_of_many,
    pairs_of_one,
    rows_by_code,
)
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.plan.nodes import Join
from gpuetl.threads import in_threads


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
    lonely = arange(0)
    if operation.how == "full":
        lonely = np.flatnonzero(~has_match(keys.right, keys.left, keys.size))
    return combined(operation, left, right, matching_pairs(operation, left, right, keys, len(lonely)), lonely)


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


def combined(operation: Join, left: pa.Table, right: pa.Table, pairs: Pairs, lonely: Rows) -> pa.Table:
    """Put the columns of paired rows beside each other, and below them the right rows that are alone."""
    keys = dict(zip(operation.left_on, operation.right_on, strict=True))
    right_rows = pairs.right if not len(lonely) else np.concatenate([pairs.right, lonely])

    def column(name: str) -> Any:
        if name not in left.column_names:
            return taken(right.column(name), right_rows)
        top = left.column(name) if pairs.left is None else taken(left.column(name), pairs.left)
        if not len(lonely):
            return top
        below = taken(right.column(keys[name]), lonely) if name in keys else pa.nulls(len(lonely), top.type)
        return pa.chunked_array([whole(top), below])

    names = operation.schema.names
    return pa.table(in_threads(column, names), schema=operation.schema.to_arrow())


def taken(column: Any, rows: Rows) -> Any:
    """Return the values at `rows`, null at -1."""
    missing = rows < 0
    return take_column(column, pa.array(rows, mask=missing if missing.any() else None))

"""Sorting: keys as integers whose order is the contract's, packed into one where their ranges allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.backends.pandas.columns import canonical, has_numbers, to_masked, whole
from gpuetl.expressions.types import is_floating
from gpuetl.plan.node import Node, SortKey
from gpuetl.report.recorder import note

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class SortedRows:
    """Rows in order, and where they differ from the row before.

    `rows` lists the row numbers, None where they are in order already.  In that order, `new_group` marks rows that
    differ in the leading keys, and `new_value` rows that differ in any (the first row does).
    """

    rows: Ints | None
    new_group: Flags
    new_value: Flags

    @property
    def ties(self) -> int:
        """How many rows differ in no key from the row before."""
        return int(len(self.new_value) - self.new_value.sum())

    def apply(self, frame: pa.Table) -> pa.Table:
        """Return the frame's rows in order."""
        return frame if self.rows is None else frame.take(pa.array(self.rows))


def note_ties(operation: Node, keys: Sequence[SortKey], ties: int) -> None:
    """Tell the user of rows that the order does not tell apart: their order may differ from engine to engine."""
    if ties:
        names = ", ".join(key.column for key in keys)
        note(f"{operation.origin}: some rows tie in ({names}); add a column to the order that tells them apart")


def sort_rows(frame: pa.Table, keys: Sequence[SortKey], leading: int = 0, presorted: bool = False) -> SortedRows:
    """Sort stably: NaN greatest, nulls where each key says, strings by UTF-8 bytes.

    `leading` is how many of the keys make a group; `presorted` rows are in order, as the planner knows.  One
    comparison sort of a packed integer where the keys' measured ranges fit 63 bits, else a sort a key.
    """
    digits = [ordinal(frame.column(key.column), key) for key in keys]
    packed = _packed(digits) or digits
    rows = None if presorted or _in_order(packed) else _argsort(packed)
    if rows is not None:
        digits = [digit[rows] for digit in digits]
    same = np.ones(frame.num_rows, bool)
    same[:1] = False
    for digit in digits[:leading]:
        same[1:] &= digit[1:] == digit[:-1]
    new_group = ~same
    for digit in digits[leading:]:
        same[1:] &= digit[1:] == digit[:-1]
    return SortedRows(rows, new_group, ~same)


def ordinal(column: Any, key: SortKey) -> Ints:
    """Return integers in the order that the key asks for; the nulls are an integer beyond all values."""
    column = whole(column)
    values, valid = _values(column)
    if key.descending:
        values = ~values  # reverses the order and cannot overflow
    if valid.all():
        return values
    return _with_nulls(values, valid, key.nulls_first)


def _values(column: Any) -> tuple[Ints, Flags]:
    if not has_numbers(column.type):
        ranked = rank_values(column)
        return ranked.ranks, ranked.valid
    masked = to_masked(canonical(column))
    if is_floating(column.type):
        bits = masked.values.astype(np.float64).view(np.int64)
        return bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF)), masked.valid
    if column.type == pa.uint64():
        return (masked.values ^ np.uint64(1 << 63)).view(np.int64), masked.valid
    return masked.values.astype(np.int64), masked.valid


@dataclass(frozen=True)
class RankedValues:
    """A column as ranks of its distinct `values`, which ascend; the rank under a null is 0."""

    ranks: Ints
    valid: Flags
    values: Any


def rank_values(column: Any) -> RankedValues:
    """Rank the distinct values of a string or decimal column."""
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order.to_numpy()] = np.arange(len(order))
    ranks[-1] = 0
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    indices = pc.fill_null(encoded.indices, len(order)).to_numpy(zero_copy_only=False)
    return RankedValues(ranks[indices], valid, encoded.dictionary.take(order))


def _with_nulls(values: Ints, valid: Flags, first: bool) -> Ints:
    """Put nulls before or after all values; where the range is full, values are ranked to make room."""
    kept = values[valid]
    if not len(kept):
        return np.zeros(len(values), np.int64)
    limits = np.iinfo(np.int64)
    if kept.min() == limits.min or kept.max() == limits.max:
        kept = np.unique(kept, return_inverse=True)[1].astype(np.int64)
    result = np.empty(len(values), np.int64)
    result[valid] = kept
    result[~valid] = kept.min() - 1 if first else kept.max() + 1
    return result


def _packed(digits: Sequence[Ints]) -> list[Ints]:
    """Return the digits as one integer, or nothing where their ranges need more than 63 bits."""
    if len(digits) < 2 or not len(digits[0]):
        return []
    lows = [int(digit.min()) for digit in digits]
    sizes = [int(digit.max()) - low + 1 for digit, low in zip(digits, lows, strict=True)]
    if np.prod([float(size) for size in sizes]) >= 2.0**62:
        return []
    packed = np.zeros(len(digits[0]), np.int64)
    for digit, low, size in zip(digits, lows, sizes, strict=True):
        packed = packed * size + (digit - low)
    return [packed]


def _in_order(digits: Sequence[Ints]) -> bool:
    if len(digits) == 1:
        return bool((digits[0][1:] >= digits[0][:-1]).all())
    return not digits


def _argsort(digits: Sequence[Ints]) -> Ints:
    if len(digits) == 1:
        return np.argsort(digits[0], kind="stable")
    return np.lexsort(digits[::-1]).astype(np.int64)

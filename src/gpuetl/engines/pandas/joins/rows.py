"""Which rows of two sides go together, from the codes of their keys; -1 matches nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import arange
from gpuetl.records import dataclass

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

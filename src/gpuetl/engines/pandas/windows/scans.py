"""Scans over blocks of sorted rows, and frame reductions by doubling, in NumPy.

`combine` is any associative function of two tuples of arrays, the earlier rows on the left.  These are the loops
behind `Segments.scan` and `Segments.reduce_frames`, which say what they return and cost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.records import dataclass

Ints = NDArray[np.int64]
States = tuple[NDArray[Any], ...]
Combine = Callable[[States, States], States]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Segments cut into blocks, and the order of rows in which a step of all blocks is one slice.

    Slots are ordered by place in the block, then by the block's rank by descending length, so that the blocks
    that are still running at a step are always the first ones.
    """

    block_rows: int
    first_blocks: Ints  # each segment's first block
    lengths: Ints
    last_rows: Ints  # the last row of each block
    slot_of_row: Ints
    widths: list[int]  # blocks with a row at this place
    carried: Ints  # blocks that do not start their segment
    carried_rows: Ints

    @classmethod
    def of(cls, segment_starts: Ints, n_rows: int, block_rows: int) -> Blocks:
        """Cut segments, which start strictly ascending from 0, into blocks of up to 32767 rows."""
        per_segment = -(-np.diff(segment_starts, append=n_rows) // block_rows)
        first_blocks = np.cumsum(per_segment) - per_segment
        position = np.arange(int(per_segment.sum())) - np.repeat(first_blocks, per_segment)
        starts = np.repeat(segment_starts, per_segment) + position * block_rows
        lengths = np.diff(starts, append=n_rows)
        rank = np.empty_like(lengths)
        rank[np.argsort(-lengths.astype(np.int16), kind="stable")] = np.arange(len(lengths))  # a radix sort
        widths = len(lengths) - np.cumsum(np.bincount(lengths, minlength=block_rows + 1))[:-1]
        place = np.arange(n_rows) - np.repeat(starts, lengths)
        return cls(
            block_rows=block_rows,
            first_blocks=first_blocks,
            lengths=lengths,
            last_rows=starts + lengths - 1,
            slot_of_row=(np.cumsum(widths) - widths)[place] + np.repeat(rank, lengths),
            widths=widths[widths > 0].tolist(),
            carried=np.flatnonzero(position > 0),
            carried_rows=np.flatnonzero(np.repeat(position > 0, lengths)),
        )

    @cached_property
    def totals(self) -> Blocks:
        """The level above: the same segments, of one row per block."""
        return Blocks.of(self.first_blocks, len(self.lengths), self.block_rows)

    def scan(self, combine: Combine, states: States) -> States:
        """Return the scan of every segment: of its blocks by themselves, and carried from block to block."""
        local = self.scan_each(combine, states)
        if self.carried_rows.size == 0:
            return local
        prefixes = self.totals.scan(combine, _take(local, self.last_rows))
        repeats = self.lengths[self.carried]
        left = tuple(np.repeat(prefix[self.carried - 1], repeats) for prefix in prefixes)
        _put(local, self.carried_rows, combine(left, _take(local, self.carried_rows)))
        return local

    def scan_each(self, combine: Combine, states: States) -> States:
        """Return the scan of every block by itself."""
        laid = tuple(np.empty_like(state) for state in states)
        _put(laid, self.slot_of_row, states)
        left, start = 0, 0
        for width in self.widths:
            if start:
                here = slice(start, start + width)
                _put(laid, here, combine(_cut(laid, left, left + width), _cut(laid, start, start + width)))
            left, start = start, start + width
        return _take(laid, self.slot_of_row)


def reduce_frames(combine: Combine, before: Ints, states: States, chunk_rows: int) -> States:
    """Return, for each row, `combine` over the `before` rows before it and itself, `chunk_rows` rows at a time."""
    result, totals = _copy(states), _copy(states)
    for bit in range(int(before.max(initial=0)).bit_length()):
        # From the last chunk to the first, because a row reads totals of rows before it.
        for stop in range(len(before), 0, -chunk_rows):
            chunk = slice(max(stop - chunk_rows, 0), stop)
            _take_totals(combine, before, 1 << bit, chunk, result, totals)
            _double_totals(combine, 1 << bit, chunk, totals)
    return result


def _take_totals(combine: Combine, before: Ints, span: int, chunk: slice, result: States, totals: States) -> None:
    """Extend the frames in `chunk` that have the bit `span` by the total that ends left of what they have."""
    rows = chunk.start + np.flatnonzero(before[chunk] & span)
    ends = rows - 1 - (before[rows] & (span - 1))
    _put(result, rows, combine(_take(totals, ends), _take(result, rows)))


def _double_totals(combine: Combine, span: int, chunk: slice, totals: States) -> None:
    """Extend the totals in `chunk` to twice `span` rows; no frame reads those across a segment's start."""
    start = max(chunk.start, span)
    if start < chunk.stop:
        left, right = _cut(totals, start - span, chunk.stop - span), _cut(totals, start, chunk.stop)
        _put(totals, slice(start, chunk.stop), combine(left, right))


def _copy(states: States) -> States:
    return tuple(state.copy() for state in states)


def _take(states: States, rows: Ints) -> States:
    return tuple(state[rows] for state in states)


def _cut(states: States, start: int, stop: int) -> States:
    return tuple(state[start:stop] for state in states)


def _put(states: States, rows: Ints | slice, values: States) -> None:
    for state, value in zip(states, values, strict=True):
        state[rows] = value

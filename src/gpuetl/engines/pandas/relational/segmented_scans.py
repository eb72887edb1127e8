"""Scans and frame reductions over sorted rows, in segments: in blocks, by doubling."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import INT64_MAX, INT64_MIN, Masked
from gpuetl.records import dataclass

# Scans over blocks of sorted rows, and frame reductions by doubling, in NumPy.
#
# `combine` is any associative function of two tuples of arrays, the earlier rows on the left.  These are the loops
# behind `Segments.scan` and `Segments.reduce_frames`, which say what they return and cost.


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
    continued: Ints  # blocks that do not start their segment
    continued_rows: Ints

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
            continued=np.flatnonzero(position > 0),
            continued_rows=np.flatnonzero(np.repeat(position > 0, lengths)),
        )

    @cached_property
    def totals(self) -> Blocks:
        """The level above: the same segments, of one row per block."""
        return Blocks.of(self.first_blocks, len(self.lengths), self.block_rows)

    def scan(self, combine: Combine, states: States) -> States:
        """Return the scan of every segment: of its blocks by themselves, and carried from block to block."""
        local = self.scan_each(combine, states)
        if self.continued_rows.size == 0:
            return local
        prefixes = self.totals.scan(combine, _take(local, self.last_rows))
        repeats = self.lengths[self.continued]
        left = tuple(np.repeat(prefix[self.continued - 1], repeats) for prefix in prefixes)
        _put(local, self.continued_rows, combine(left, _take(local, self.continued_rows)))
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


# Scans and frame reductions over rows that are sorted into segments, in NumPy.
#
# A segment is a contiguous run of rows with equal ``by`` keys.  `combine` is any associative function of two
# tuples of arrays, the earlier rows on the left; floats are never subtracted to undo a sum, so inf, NaN and
# 1e308 in one segment or frame cannot reach another.


CHUNK_ROWS = 1 << 15  # what is passed over many times is taken in chunks that fit the cache


@dataclass(frozen=True, eq=False)
class Segments:
    """Where the segments of `n_rows` sorted rows start.

    Parameters
    ----------
    starts
        int64, strictly ascending from 0: each segment's first row; empty when there are no rows.
    n_rows
        Rows of all segments together.
    block_rows
        Rows that a scan passes one at a time before it goes up a level; only tests need another value.

    Raises
    ------
    ValueError
        `starts` is not what is described above, or `block_rows` is not in 2..32767.
    """

    starts: Ints
    n_rows: int
    block_rows: int = 64

    def __post_init__(self) -> None:
        bounds = np.append(self.starts, self.n_rows)
        if bounds[0] != 0 or (np.diff(bounds) <= 0).any():
            raise ValueError(f"segment starts must ascend strictly from 0 and stay below {self.n_rows} rows")
        if not 2 <= self.block_rows <= 32767:
            raise ValueError(f"block_rows must be in 2..32767, got {self.block_rows}")

    @cached_property
    def lengths(self) -> Ints:
        """Rows of each segment."""
        return np.diff(self.starts, append=self.n_rows)

    @cached_property
    def segment_of_row(self) -> Ints:
        """The segment that each row is in."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    @cached_property
    def first_row(self) -> Ints:
        """The first row of each row's segment."""
        return np.repeat(self.starts, self.lengths)

    @cached_property
    def last_row(self) -> Ints:
        """The last row of each row's segment."""
        return np.repeat(self.starts + self.lengths - 1, self.lengths)

    @cached_property
    def position(self) -> Ints:
        """Each row's 0-based place in its segment."""
        return np.arange(self.n_rows) - self.first_row

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks.of(self.starts, self.n_rows, self.block_rows)

    @np.errstate(over="ignore", invalid="ignore")
    def scan(self, combine: Combine, *states: NDArray[Any]) -> States:
        """Return, for each row, `combine` over the rows of its segment up to and with it.

        Blocks of `block_rows` rows are scanned side by side, one pass per place in a block; the blocks'
        totals are scanned the same way, one level up, and carried into the blocks that follow (Blelloch 1990,
        "Prefix Sums and Their Applications").  `combine` sees rows in order, but grouped otherwise than from
        the left: float sums differ by rounding from a loop's, and where partial sums overflow, by inf or NaN.

        O(rows) work in `block_rows` passes per level, of which there are log(longest segment); memory: a few
        copies of `states`, and a permutation that is kept for the next scan.
        """
        return self._blocks.scan(combine, states)

    @np.errstate(over="ignore", invalid="ignore")
    def reduce_frames(self, combine: Combine, first: Ints, *states: NDArray[Any]) -> States:
        """Return, for each row i, `combine` over rows ``first[i]..i``.

        Doubling (Hillis & Steele 1986, "Data Parallel Algorithms") gives the total of the 2**k rows that end
        at each row; a frame is the row itself and one such total for every set bit of the number of rows
        before it.

        O(rows * log(longest frame)) work; memory: a few copies of `states`.

        Raises
        ------
        ValueError
            A frame starts outside its row's segment or after its row.
        """
        return reduce_frames(combine, self.rows_before(first), states, CHUNK_ROWS)

    def rows_before(self, first: Ints) -> Ints:
        """Return how many rows each frame has before its own; raise `ValueError` if it leaves the segment."""
        before: Ints = np.arange(self.n_rows) - first
        if ((before < 0) | (before > self.position)).any():
            raise ValueError("every frame must start in its row's segment, at or before its row")
        return before

    def frame_starts_by_rows(self, rows: int) -> Ints:
        """Return the first row of each frame: the row itself and up to `rows` - 1 before it."""
        if rows < 1:
            raise ValueError(f"a frame has at least 1 row, got {rows}")
        return np.maximum(self.first_row, np.arange(self.n_rows) - (min(rows, self.n_rows) - 1))

    def frame_starts_by_interval(self, time: Masked, interval: int) -> Ints:
        """Return the first row of each row's segment whose `time` is at least the row's own less `interval`.

        The frame's older end is inclusive, rows after the current one never belong to it, and the frame of a
        row of null time is the null times up to it.  Nulls stand together at either end of a segment.

        Parameters
        ----------
        time
            int64, ascending in each segment, nulls last or first.
        interval
            In the unit of `time`, 0 or more.

        Notes
        -----
        A binary search by descending jumps, all rows at once: O(rows * log(longest frame)).
        """
        if not 0 <= interval <= INT64_MAX:
            raise ValueError(f"a frame's interval must be in 0..2**63 - 1, got {interval}")
        nulls_first = ~time.valid[self.first_row]
        instants = np.where(time.valid, time.values, np.where(nulls_first, INT64_MIN, INT64_MAX))
        oldest = np.maximum(instants, INT64_MIN + interval) - interval  # saturates where it would wrap
        reached, jumps = np.arange(self.n_rows), self._jumps(instants, oldest)
        for start in range(0, self.n_rows, CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            for jump in reversed(jumps):
                target = np.maximum(reached[chunk] - jump, self.first_row[chunk])
                np.copyto(reached[chunk], target, where=instants[target] >= oldest[chunk])
        valid_rows = np.repeat(self.valid_rows(time), self.lengths)
        first_null = self.first_row + np.where(nulls_first, 0, valid_rows)
        first_valid = self.first_row + np.where(nulls_first, np.repeat(self.lengths, self.lengths) - valid_rows, 0)
        return np.where(time.valid, np.maximum(reached, first_valid), first_null)

    def _jumps(self, instants: Ints, oldest: Ints) -> list[int]:
        """Return the powers of two by which some row's frame reaches back."""
        jumps: list[int] = []
        jump = 1
        while jump < self.n_rows:
            if not ((instants[:-jump] >= oldest[jump:]) & (self.position[jump:] >= jump)).any():
                break
            jumps.append(jump)
            jump *= 2
        return jumps

    def valid_rows(self, column: Masked) -> Ints:
        """Return how many rows of each segment are not null."""
        counts = np.append(0, np.cumsum(column.valid, dtype=np.int64))
        valid_rows: Ints = counts[self.starts + self.lengths] - counts[self.starts]
        return valid_rows


def integer_frame_sums(integers: NDArray[Any], first: Ints, stop: Ints | None = None) -> Ints:
    """Return, for each row i, the sum of `integers` (or of bools) over rows ``first[i]..i``, modulo 2**64.

    With `stop`, over the rows from ``first[i]`` up to, and without, ``stop[i]``.  Taking the difference of two running
    totals is exact in modular arithmetic, unlike with floats.  O(rows).
    """
    totals = np.cumsum(integers, dtype=np.int64)
    sums: Ints = totals[:0]
    if stop is None:
        sums = totals - totals[first] + integers[first]
    else:
        before = np.append(0, totals)
        sums = before[np.maximum(stop, first)] - before[first]
    return sums


def reduce_between(combine: Combine, before: Ints, ends: Ints, states: States) -> States:
    """Return, for each row, `combine` over row `ends` and the `before` rows before it, as `reduce_frames`."""
    result, totals = _take(states, ends), _copy(states)
    for bit in range(int(before.max(initial=0)).bit_length()):
        span = 1 << bit
        rows = np.flatnonzero(before & span)
        left = ends[rows] - 1 - (before[rows] & (span - 1))
        _put(result, rows, combine(_take(totals, left), _take(result, rows)))
        if span < len(before):
            _put(totals, slice(span, None), combine(_cut(totals, 0, -span), _cut(totals, span, len(before))))
    return result

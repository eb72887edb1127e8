"""Scans and frame reductions over rows that are sorted into segments, in NumPy.

A segment is a contiguous run of rows with equal ``by`` keys.  `combine` is any associative function of two
tuples of arrays, the earlier rows on the left; floats are never subtracted to undo a sum, so inf, NaN and
1e308 in one segment or frame cannot reach another.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import INT64_MAX, INT64_MIN, Masked
from gpuetl.engines.pandas.windows.scans import Blocks, Combine, Ints, States, reduce_frames
from gpuetl.records import dataclass

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
        valid_rows = np.repeat(self._valid_rows(time), self.lengths)
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

    def _valid_rows(self, column: Masked) -> Ints:
        """Return how many rows of each segment are not null."""
        counts = np.append(0, np.cumsum(column.valid, dtype=np.int64))
        valid_rows: Ints = counts[self.starts + self.lengths] - counts[self.starts]
        return valid_rows


def integer_frame_sums(integers: NDArray[Any], first: Ints) -> Ints:
    """Return, for each row i, the sum of `integers` (or of bools) over rows ``first[i]..i``, modulo 2**64.

    Taking the difference of two running totals is exact in modular arithmetic, unlike with floats.  O(rows).
    """
    totals = np.cumsum(integers, dtype=np.int64)
    sums: Ints = totals - totals[first] + integers[first]
    return sums

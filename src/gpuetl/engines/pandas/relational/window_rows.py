"""Window functions of a row's place in its segment, and of another row's value."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked
from gpuetl.engines.pandas.relational.frame_rows import FrameRows, Frames
from gpuetl.engines.pandas.relational.segmented_scans import Ints, Segments, integer_frame_sums
from gpuetl.records import dataclass

# The sorted rows that window functions take, and the steps from one counted row to the next.


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Sorted rows: their segments, their `time` where they are ordered by one, and where they tie.

    `time` is int64 microseconds, ascending in each segment with nulls last, when the first order_by key is a
    date or a timestamp in ascending order; else None.  `new_value` marks rows that differ in a key from the row
    before, as the first row of each segment does; where it is None, no rows tie.
    """

    segments: Segments
    time: Masked | None = None
    new_value: NDArray[np.bool_] | None = None

    @cached_property
    def peers(self) -> Segments:
        """The runs of rows that tie."""
        n_rows = self.segments.n_rows
        starts = np.arange(n_rows) if self.new_value is None else np.flatnonzero(self.new_value)
        return Segments(starts, n_rows)

    def timed(self, name: str) -> Masked:
        """Return `time`; raise `ValueError` naming the function where there is none."""
        if self.time is None:
            raise ValueError(f"{name} needs a date or timestamp, ascending, as the first order_by key")
        return self.time


def continues(rows: WindowRows, counted: Ints) -> NDArray[np.bool_]:
    """Return, for each counted row, whether another one precedes it in its segment."""
    result: NDArray[np.bool_] = np.diff(rows.segments.segment_of_row[counted], prepend=-1) == 0
    return result


def microseconds_since(time: Masked, counted: Ints) -> NDArray[np.uint64]:
    """Return the time since the counted row before; unsigned, as two int64 may be 2**64 apart."""
    instants = time.values[counted].astype(np.uint64)
    return np.diff(instants, prepend=instants[:1])


# Window functions of a row's place in its segment.  What `functions` says of all of them holds here.


def row_number(rows: WindowRows) -> Masked:
    """Return 1, 2, 3 and so on in each segment."""
    return Masked.all_valid(rows.segments.position + 1)


def rank(rows: WindowRows, method: str = "min") -> Masked:
    """Return 1 more than the rows before in the segment that do not tie with the row; `max`: the last such number."""
    if method == "max":
        return Masked.all_valid(rows.peers.last_row - rows.segments.first_row + 1)
    return Masked.all_valid(rows.peers.first_row - rows.segments.first_row + 1)


def dense_rank(rows: WindowRows) -> Masked:
    """Return 1 more than the runs of tied rows before in the segment."""
    return Masked.all_valid(integer_frame_sums(rows.peers.position == 0, rows.segments.first_row))


def percent_rank(rows: WindowRows) -> Masked:
    """Return ``(rank - 1) / (rows - 1)``, 0 in a segment of one row."""
    others = rows.segments.last_row - rows.segments.first_row
    return Masked.all_valid((rank(rows).values - 1) / np.maximum(others, 1))


def cumulative_share(rows: WindowRows) -> Masked:
    """Return the share of the segment's rows that come before the row or tie with it, itself included."""
    through = rows.peers.last_row - rows.segments.first_row + 1
    return Masked.all_valid(through / (rows.segments.last_row - rows.segments.first_row + 1))


def tile(rows: WindowRows, n: int) -> Masked:
    """Return the tile, from 1, of `n` equal ones; where rows are left over, the first tiles have one more."""
    if n < 1:
        raise ValueError(f"ntile: n must be 1 or more, got {n}")
    place = rows.segments.position
    size, longer = np.divmod(rows.segments.last_row - rows.segments.first_row + 1, n)
    in_longer = longer * (size + 1)
    tiles = np.where(place < in_longer, place // (size + 1), longer + (place - in_longer) // np.maximum(size, 1))
    return Masked.all_valid(tiles + 1)


# Window functions that give a value of another row.  What `functions` says of all of them holds here.
#
# Where nulls are ignored, rows are counted among those that have a value: `_Present` numbers these.


def previous_value(rows: WindowRows, x: Masked, offset: int = 1, ignore_nulls: bool = False) -> Masked:
    """Return `x` of `offset` rows before in the segment; null before the segment's first row.

    Nulls are kept, or, with `ignore_nulls`, not counted as rows; an `offset` of 0 gives the row's own `x`.
    """
    step = _checked_offset(offset, "lag", rows)
    if ignore_nulls and step:
        present = _Present(rows, x)
        return present.values(present.before - step)
    values, valid = x.values.copy(), np.zeros_like(x.valid)
    values[step:] = x.values[: len(values) - step]
    valid[step:] = x.valid[: len(values) - step]
    return Masked(values, valid & (rows.segments.position >= step))


def following_value(rows: WindowRows, x: Masked, offset: int = 1, ignore_nulls: bool = False) -> Masked:
    """Return `x` of `offset` rows after in the segment, as in `previous_value`."""
    step = _checked_offset(offset, "lead", rows)
    if ignore_nulls and step:
        present = _Present(rows, x)
        return present.values(present.before + x.valid + (step - 1))
    values, valid = x.values.copy(), np.zeros_like(x.valid)
    values[: len(values) - step] = x.values[step:]
    valid[: len(values) - step] = x.valid[step:]
    return Masked(values, valid & (np.arange(len(values)) + step <= rows.segments.last_row))


def first_value(rows: WindowRows, x: Masked, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the segment's first row, null if that is null; with `ignore_nulls`, the first that is not null."""
    if ignore_nulls:
        present = _Present(rows, x)
        return present.values(present.before[rows.segments.first_row])
    return Masked(x.values[rows.segments.first_row], x.valid[rows.segments.first_row])


def last_value(rows: WindowRows, x: Masked, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the last row of the whole segment, as in `first_value`."""
    if ignore_nulls:
        present = _Present(rows, x)
        return present.values((present.before + x.valid)[rows.segments.last_row] - 1)
    return Masked(x.values[rows.segments.last_row], x.valid[rows.segments.last_row])


def nth_value(rows: WindowRows, x: Masked, n: int, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the segment's row with number `n`, from 1, null where there is none; nulls as in `first_value`."""
    if n < 1:
        raise ValueError(f"nth_value: n must be 1 or more, got {n}")
    place = min(n, rows.segments.n_rows + 1) - 1
    if ignore_nulls:
        present = _Present(rows, x)
        return present.values(present.before[rows.segments.first_row] + place)
    found = rows.segments.first_row + place
    inside = found <= rows.segments.last_row
    found = np.where(inside, found, 0)
    return Masked(x.values[found], x.valid[found] & inside)


def frame_first(rows: WindowRows, x: Masked, frame_starts: Frames, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the first row of each frame, null where it has none; nulls as in `first_value`."""
    frames = FrameRows.of(frame_starts)
    if ignore_nulls:
        return _Present(rows, x).within(frames, 0)
    return _frame_values(x, frames.first, frames.stops() > frames.first)


def frame_last(rows: WindowRows, x: Masked, frame_starts: Frames, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the last row of each frame, as in `frame_first`."""
    frames = FrameRows.of(frame_starts)
    if ignore_nulls:
        return _Present(rows, x).within(frames, -1)
    return _frame_values(x, frames.stops() - 1, frames.stops() > frames.first)


def frame_nth(rows: WindowRows, x: Masked, frame_starts: Frames, n: int = 2, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the row with number `n`, from 1, of each frame, as in `frame_first`."""
    frames, place = FrameRows.of(frame_starts), min(n, rows.segments.n_rows + 1) - 1
    if ignore_nulls:
        return _Present(rows, x).within(frames, place)
    return _frame_values(x, frames.first + place, frames.stops() > frames.first + place)


def _frame_values(x: Masked, places: Ints, found: NDArray[np.bool_]) -> Masked:
    """Return the values at some rows, null where none is found."""
    places = np.where(found, places, 0)
    return Masked(x.values[places], x.valid[places] & found)


def fill_forward(rows: WindowRows, x: Masked) -> Masked:
    """Return the last non-null `x` so far; null before the first of the segment."""
    present = _Present(rows, x)
    return present.values(present.before + x.valid - 1)


def fill_backward(rows: WindowRows, x: Masked) -> Masked:
    """Return the next non-null `x` from the row on; null after the last of the segment."""
    present = _Present(rows, x)
    return present.values(present.before)


def interpolated(rows: WindowRows, x: Masked, by: Masked | None = None) -> Masked:
    """Return `x` in float64, and where it is null what lies on the line from the last value to the next one.

    Distances are those of rows, or of `by`: null where it is not between those of the two values.  Values whose `by` is
    null are ends of no line.
    """
    ends = x if by is None else Masked(x.values, x.valid & by.valid)
    places = np.arange(len(x.values))
    present = _Present(rows, Masked(places, ends.valid))
    before, after = (present.values(at) for at in (present.before + ends.valid - 1, present.before))
    found = before.valid & after.valid
    first, last = (np.where(found, end.values, 0) for end in (before, after))
    with np.errstate(all="ignore"):
        if by is None:
            share = (places - first) / np.maximum(last - first, 1)
        else:
            own, start, end = by.values, by.values[first], by.values[last]
            found = found & by.valid & (start <= own) & (own <= end)
            share = np.where(start == end, 0.0, _distance(start, own) / _distance(start, end))
        line = x.values[first] + (x.values[last] - x.values[first]) * share
    return Masked(np.where(x.valid, x.values, line), x.valid | found)


def _distance(start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far an end is from a start below it, in float64; integers may be 2**64 apart."""
    if start.dtype.kind == "f":
        found: NDArray[np.float64] = end - start
        return found
    whole = end.astype(np.int64).astype(np.uint64) - start.astype(np.int64).astype(np.uint64)
    return whole.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Present:
    """The rows of a column that are not null, numbered from 0 over all segments."""

    rows: WindowRows
    x: Masked

    @cached_property
    def before(self) -> Ints:
        """How many of them are before each row."""
        counts: Ints = np.cumsum(self.x.valid, dtype=np.int64) - self.x.valid
        return counts

    def within(self, frames: FrameRows, place: int) -> Masked:
        """Return for each row the value of one of them in its frame, by place, -1 for the last; null without one."""
        before = np.append(self.before, np.count_nonzero(self.x.valid))
        low, high = before[frames.first], before[np.maximum(frames.stops(), frames.first)]
        present, number = np.append(np.flatnonzero(self.x.valid), -1), high - 1 if place < 0 else low + place
        found = (low <= number) & (number < high)
        return _frame_values(self.x, present[np.where(found, number, -1)], found)

    def values(self, numbers: Ints) -> Masked:
        """Return for each row the value of one of them; null where it is not in the row's segment."""
        present = np.append(np.flatnonzero(self.x.valid), -1)
        sources = present[np.clip(numbers, -1, len(present) - 1)]
        segments = self.rows.segments
        found = (numbers >= 0) & (sources >= segments.first_row) & (sources <= segments.last_row)
        return Masked(self.x.values[np.where(found, sources, 0)], found)


def _checked_offset(offset: int, name: str, rows: WindowRows) -> int:
    """Return `offset`, at most the number of rows; raise `ValueError` if it is negative."""
    if offset < 0:
        raise ValueError(f"{name}: offset must be 0 or more, got {offset}")
    return min(offset, rows.segments.n_rows)

"""Which rows the frame of each row has, and what these come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import INT64_MAX, INT64_MIN, Masked
from gpuetl.engines.pandas.relational.segmented_scans import (
    Combine,
    Ints,
    Segments,
    States,
    integer_frame_sums,
    reduce_between,
)
from gpuetl.records import dataclass

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The frame of each row: from `first` up to the row itself, or up to, and without, `stop`.

    A frame whose `stop` is not above its `first` has no rows.
    """

    first: Ints
    stop: Ints | None = None

    @classmethod
    def of(cls, frames: FrameRows | Ints) -> FrameRows:
        """Return frames; an array is the first row of frames that end at each row."""
        return frames if isinstance(frames, FrameRows) else cls(frames)

    def stops(self) -> Ints:
        """Return the row after each frame."""
        return np.arange(1, len(self.first) + 1) if self.stop is None else self.stop

    def sums(self, integers: NDArray[Any]) -> Ints:
        """Return the sums of `integer_frame_sums`."""
        return integer_frame_sums(integers, self.first, self.stop)

    def reduce(self, segments: Segments, combine: Combine, *states: NDArray[Any]) -> States:
        """Return `combine` over each frame; anything for a frame without rows."""
        if self.stop is None:
            return segments.reduce_frames(combine, self.first, *states)
        if not segments.n_rows:
            return states
        ends = np.clip(self.stop - 1, 0, segments.n_rows - 1)
        before = np.maximum(self.stop - 1 - self.first, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            return reduce_between(combine, before, ends, states)


Frames = FrameRows | Ints


def frames_between_rows(segments: Segments, start: int | None, end: int | None) -> FrameRows:
    """Return the frames from `start` to `end` rows after each row, negative ones before it; None has no end."""
    rows, most, after = np.arange(segments.n_rows), segments.n_rows, segments.last_row + 1
    low, high = (None if at is None else max(-most, min(at, most)) for at in (start, end))
    first = segments.first_row if low is None else np.clip(rows + low, segments.first_row, after)
    stop = after if high is None else np.clip(rows + high + 1, segments.first_row, after)
    return FrameRows(first, stop)


def frames_between_keys(segments: Segments, key: Masked, start: Any, end: Any) -> FrameRows:
    """Return the rows whose `key` is from the row's own plus `start` to that plus `end`; None has no end.

    The frame of a row of null key is the rows of null key.  Keys ascend in each segment, NaN is the greatest, and nulls
    stand together at either end.  Keys are int64, float64, or integers of any size as objects.  A binary search of all
    rows at once: O(rows * log(longest segment)).
    """
    first, stop = segments.first_row, segments.last_row + 1
    nulls_first = ~key.valid[first]
    keyed = np.repeat(segments.valid_rows(key), segments.lengths)
    first_keyed = np.where(nulls_first, stop - keyed, first)
    stop_keyed = first_keyed + keyed
    low = np.where(key.valid, first_keyed, np.where(nulls_first, first, stop_keyed))
    high = np.where(key.valid, stop_keyed, np.where(nulls_first, first_keyed, stop))
    if start is not None:
        least = _plus(key.values, start)
        found = _partition_point(low, high, key.valid, lambda rows, at: _is_less(key.values[at], least[rows]))
        first = np.where(key.valid, found, low)
    if end is not None:
        most = _plus(key.values, end)
        found = _partition_point(low, high, key.valid, lambda rows, at: ~_is_less(most[rows], key.values[at]))
        stop = np.where(key.valid, found, high)
    return FrameRows(first, stop)


def _plus(keys: NDArray[Any], shift: Any) -> NDArray[Any]:
    """Return keys moved by a shift: as objects where int64 does not hold them."""
    if keys.dtype == np.int64 and len(keys):
        least, greatest = int(keys.min()) + shift, int(keys.max()) + shift
        if least < INT64_MIN or greatest > INT64_MAX or not INT64_MIN <= shift <= INT64_MAX:
            keys = keys.astype(object)
    with np.errstate(over="ignore", invalid="ignore"):
        moved: NDArray[Any] = keys + shift
    return moved


def _is_less(left: NDArray[Any], right: NDArray[Any]) -> Flags:
    """Compare in the order of the language, in which NaN is the greatest."""
    less: Flags = np.asarray(left < right, np.bool_)
    return less | (np.isnan(right) & ~np.isnan(left)) if left.dtype == np.float64 else less


def _partition_point(low: Ints, high: Ints, searched: Flags, before: Callable[[Ints, Ints], Flags]) -> Ints:
    """Return for each row that is `searched` the first place from `low` on that is not `before`, `high` if all are."""
    result = low.copy()
    rows = np.flatnonzero(searched)
    low, high = low[rows], high[rows]
    while (unsure := low < high).any():
        middle = (low + high) // 2
        is_before = np.zeros(len(rows), np.bool_)
        is_before[unsure] = before(rows[unsure], middle[unsure])
        low = np.where(unsure & is_before, middle + 1, low)
        high = np.where(unsure & ~is_before, middle, high)
    result[rows] = low
    return result

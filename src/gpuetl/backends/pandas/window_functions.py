"""Window functions over rows sorted by (by, order_by): each takes the rows and columns, and returns a column.

What holds for all of them: the result has one value per row; a column argument is a `Masked` of as many rows
and a parameter is a plain value; min, max, lag, lead, first, last and ffill keep the type and take bools,
integers or floats; sums and differences take int64, where overflow raises `OverflowError` with the first such
row as its second argument, or float64, where they are IEEE; NaN is the greatest value.  The cost is that of
`Segments.scan`, O(rows), or for rolling functions that of `Segments.reduce_frames`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.backends.pandas.segments import Ints, Masked, Segments, States, integer_frame_sums

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MICROSECONDS_PER_SECOND = 1e6


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Sorted rows: their segments, and their `time` where they are ordered by one.

    `time` is int64 microseconds, ascending in each segment with nulls last, when the first order_by key is a
    date or a timestamp in ascending order; else None.
    """

    segments: Segments
    time: Masked | None = None

    def timed(self, name: str) -> Masked:
        """Return `time`; raise `ValueError` naming the function where there is none."""
        if self.time is None:
            raise ValueError(f"{name} needs a date or timestamp, ascending, as the first order_by key")
        return self.time


def row_number(rows: WindowRows) -> Masked:
    """Return 1, 2, 3 and so on in each segment."""
    return _all_valid(rows.segments.position + 1)


def running_count(rows: WindowRows, x: Masked) -> Masked:
    """Return the count of non-null `x` so far; NaN counts; null where `x` is."""
    return Masked(integer_frame_sums(x.valid, rows.segments.first_row), x.valid)


def running_sum(rows: WindowRows, x: Masked) -> Masked:
    """Return the sum of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    values = _summable(x, "cum_sum")
    if values.dtype == np.float64:
        return Masked(rows.segments.scan(_add, values)[0], x.valid)
    sums = integer_frame_sums(values, rows.segments.first_row)
    before = sums - values
    # Up to a segment's first overflow every sum is exact, so the first flag of all rows is a true one.
    _refuse_overflow((before ^ sums) & (values ^ sums) < 0, "cum_sum")
    return Masked(sums, x.valid)


def running_mean(rows: WindowRows, x: Masked) -> Masked:
    """Return the float64 mean of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    sums = rows.segments.scan(_add, _floats(x))[0]
    counts = integer_frame_sums(x.valid, rows.segments.first_row)
    return Masked(sums / np.maximum(counts, 1), x.valid)


def running_min(rows: WindowRows, x: Masked) -> Masked:
    """Return the least `x` so far, NaN only when all are; nulls are skipped and stay null."""
    return Masked(rows.segments.scan(_lesser, _filled(x, _greatest(x.values.dtype)))[0], x.valid)


def running_max(rows: WindowRows, x: Masked) -> Masked:
    """Return the greatest `x` so far, NaN from the first NaN on; nulls are skipped and stay null."""
    return Masked(rows.segments.scan(_greater, _filled(x, _least(x.values.dtype)))[0], x.valid)


def previous_value(rows: WindowRows, x: Masked, offset: int = 1) -> Masked:
    """Return `x` of `offset` rows before in the segment, nulls kept; null before the segment's first row."""
    step = _checked_offset(offset, "lag", rows)
    values, valid = x.values.copy(), np.zeros_like(x.valid)
    values[step:] = x.values[: len(values) - step]
    valid[step:] = x.valid[: len(values) - step]
    return Masked(values, valid & (rows.segments.position >= step))


def following_value(rows: WindowRows, x: Masked, offset: int = 1) -> Masked:
    """Return `x` of `offset` rows after in the segment, nulls kept; null after the segment's last row."""
    step = _checked_offset(offset, "lead", rows)
    values, valid = x.values.copy(), np.zeros_like(x.valid)
    values[: len(values) - step] = x.values[step:]
    valid[: len(values) - step] = x.valid[step:]
    return Masked(values, valid & (np.arange(len(values)) + step <= rows.segments.last_row))


def first_value(rows: WindowRows, x: Masked) -> Masked:
    """Return `x` of the segment's first row, null if that is null."""
    return Masked(x.values[rows.segments.first_row], x.valid[rows.segments.first_row])


def last_value(rows: WindowRows, x: Masked) -> Masked:
    """Return `x` of the last row of the whole segment, null if that is null."""
    return Masked(x.values[rows.segments.last_row], x.valid[rows.segments.last_row])


def fill_forward(rows: WindowRows, x: Masked) -> Masked:
    """Return the last non-null `x` so far; null before the first of the segment."""
    source = np.maximum.accumulate(np.where(x.valid, np.arange(len(x.values)), -1))
    found = source >= rows.segments.first_row
    return Masked(x.values[np.where(found, source, 0)], found)


@np.errstate(over="ignore", invalid="ignore")
def difference(rows: WindowRows, x: Masked, offset: int = 1) -> Masked:
    """Return `x` less the `x` of `offset` rows before in the segment; null where either is."""
    values = _summable(x, "diff")
    earlier = previous_value(rows, Masked(values, x.valid), offset)
    valid = x.valid & earlier.valid
    result = values - earlier.values
    if result.dtype == np.int64:
        _refuse_overflow(((values ^ earlier.values) & (values ^ result) < 0) & valid, "diff")
    return Masked(result, valid)


def decayed_mean(rows: WindowRows, x: Masked, half_life: float) -> Masked:
    """Return the decaying mean ``y = (1 - a) * y_before + a * x`` with ``a = 1 - 2**(-d / half_life)``.

    The first `x` of a segment is its first y.  `d` is the seconds since the row that was counted last where
    rows have a time, else 1.  A null `x` or time gives null and is skipped.  From its first inf or NaN on, a
    segment's y is the sum of the infs and NaNs so far, whatever their weight: an inf is never forgotten, even
    when its decay underflows to 0, inf and -inf make NaN, and NaN poisons.
    """
    counted = _counted(rows, x)
    exponent = _decay_exponents(rows, counted, half_life)
    weight = -np.expm1(exponent * math.log(2))  # 1 - 2**exponent would cancel for a d far below the half-life
    return _decay(rows, x, counted, exponent, weight)


def decayed_sum(rows: WindowRows, x: Masked, half_life: float) -> Masked:
    """Return ``y = 2**(-d / half_life) * y_before + x``; `d`, nulls, inf and NaN as in `decayed_mean`."""
    counted = _counted(rows, x)
    exponent = _decay_exponents(rows, counted, half_life)
    return _decay(rows, x, counted, exponent, np.ones_like(exponent))


def session_number(rows: WindowRows, gap: int) -> Masked:
    """Return the 0-based count of steps longer than `gap` microseconds; null times are skipped and null."""
    if gap < 0:
        raise ValueError(f"session_id: gap must be 0 or more, got {gap} microseconds")
    time = rows.timed("session_id")
    counted = np.flatnonzero(time.valid)
    breaks = np.zeros(len(time.valid), np.bool_)
    breaks[counted] = _continues(rows, counted) & (_microseconds_since(time, counted) > gap)
    return Masked(integer_frame_sums(breaks, rows.segments.first_row), time.valid)


def frame_count(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the count of non-null `x` in each row's frame, 0 where there is none, never null."""
    return _all_valid(_counts(rows, x, frame_starts))


def frame_sum(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the sum of each row's frame, nulls skipped; null where the frame has no value."""
    values, valid = _summable(x, "rolling_sum"), _counts(rows, x, frame_starts) > 0
    if values.dtype == np.float64:
        return Masked(rows.segments.reduce_frames(_add, frame_starts, values)[0], valid)
    # In halves, which cannot overflow in fewer than 2**31 rows: a frame may fit where partial sums do not.
    low = integer_frame_sums(values & 0xFFFFFFFF, frame_starts)
    high = integer_frame_sums(values >> 32, frame_starts) + (low >> 32)
    _refuse_overflow(high != high.astype(np.int32), "rolling_sum")
    return Masked((high << 32) | (low & 0xFFFFFFFF), valid)


def frame_mean(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the float64 mean of each row's frame, nulls skipped; null where the frame has no value."""
    counts = _counts(rows, x, frame_starts)
    sums = rows.segments.reduce_frames(_add, frame_starts, _floats(x))[0]
    return Masked(sums / np.maximum(counts, 1), counts > 0)


def frame_min(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the least of each row's frame, NaN only when all are; null where the frame has no value."""
    values = _filled(x, _greatest(x.values.dtype))
    least = rows.segments.reduce_frames(_lesser, frame_starts, values)[0]
    return Masked(least, _counts(rows, x, frame_starts) > 0)


def frame_max(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the greatest of each row's frame, NaN when any is; null where the frame has no value."""
    values = _filled(x, _least(x.values.dtype))
    greatest = rows.segments.reduce_frames(_greater, frame_starts, values)[0]
    return Masked(greatest, _counts(rows, x, frame_starts) > 0)


def frame_std(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the standard deviation (ddof 1) of each row's frame; null where it has fewer than 2 values.

    Counts, means and squared deviations are merged pairwise (Chan, Golub & LeVeque 1983, "Algorithms for
    Computing the Sample Variance"), so a large mean does not cancel.  NaN where the frame has an inf or NaN;
    inf or NaN, too, where squared deviations leave float64 (from about 1e154 on).
    """
    counts, values = _counts(rows, x, frame_starts), _floats(x)
    moments = x.valid.astype(np.float64), values, np.zeros_like(values)
    _, means, squares = rows.segments.reduce_frames(_merge_moments, frame_starts, *moments)
    variance = np.where(np.isfinite(means), squares, np.nan) / np.maximum(counts - 1, 1)
    return Masked(np.sqrt(variance), counts > 1)


WINDOW_FUNCTIONS: dict[str, Callable[..., Masked]] = {
    "row_number": row_number,
    "cum_count": running_count,
    "cum_sum": running_sum,
    "cum_mean": running_mean,
    "cum_min": running_min,
    "cum_max": running_max,
    "lag": previous_value,
    "lead": following_value,
    "first": first_value,
    "last": last_value,
    "ffill": fill_forward,
    "diff": difference,
    "ewm_mean": decayed_mean,
    "decayed_sum": decayed_sum,
    "session_id": session_number,
    "rolling_count": frame_count,
    "rolling_sum": frame_sum,
    "rolling_mean": frame_mean,
    "rolling_min": frame_min,
    "rolling_max": frame_max,
    "rolling_std": frame_std,
}


def _add(left: States, right: States) -> States:
    return (left[0] + right[0],)


def _lesser(left: States, right: States) -> States:
    return (np.fmin(left[0], right[0]),)


def _greater(left: States, right: States) -> States:
    return (np.maximum(left[0], right[0]),)


def _compose(left: States, right: States) -> States:
    """Return the function ``y -> a * y + b`` that applies `left`, then `right`."""
    return left[0] * right[0], right[0] * left[1] + right[1]


def _merge_moments(left: States, right: States) -> States:
    count = left[0] + right[0]
    delta = right[1] - left[1]
    weight = right[0] / np.maximum(count, 1)
    # Left to right, so that a side without rows gives 0 even where delta squared would be inf.
    spread = delta * left[0] * weight * delta
    return count, left[1] + delta * weight, left[2] + right[2] + spread


def _counted(rows: WindowRows, x: Masked) -> Ints:
    """Return the rows that a decay counts: non-null `x`, at a non-null time where there is time."""
    return np.flatnonzero(x.valid if rows.time is None else x.valid & rows.time.valid)


def _continues(rows: WindowRows, counted: Ints) -> Bools:
    """Return, for each counted row, whether another one precedes it in its segment."""
    continues: Bools = np.diff(rows.segments.segment_of_row[counted], prepend=-1) == 0
    return continues


def _microseconds_since(time: Masked, counted: Ints) -> NDArray[np.uint64]:
    """Return the time since the counted row before; unsigned, as two int64 may be 2**64 apart."""
    instants = time.values[counted].astype(np.uint64)
    return np.diff(instants, prepend=instants[:1])


@np.errstate(over="ignore", under="ignore")
def _decay_exponents(rows: WindowRows, counted: Ints, half_life: float) -> Floats:
    """Return ``-d / half_life`` of each counted row, -inf for a segment's first, which forgets all before."""
    if not 0 < half_life < math.inf:
        raise ValueError(f"half_life must be a positive, finite number, got {half_life}")
    elapsed = np.ones(len(counted))
    if rows.time is not None:
        elapsed = _microseconds_since(rows.time, counted) / MICROSECONDS_PER_SECOND
    return np.where(_continues(rows, counted), -elapsed / half_life, -np.inf)


@np.errstate(under="ignore")
def _decay(rows: WindowRows, x: Masked, counted: Ints, exponent: Floats, weight: Floats) -> Masked:
    """Return ``y = 2**exponent * y_before + weight * x`` over the counted rows of each segment."""
    values = x.values[counted].astype(np.float64)
    finite = np.isfinite(values)
    decay = _spread(rows, counted, np.exp2(exponent), 1.0)
    fresh = _spread(rows, counted, weight * np.where(finite, values, 0), 0.0)
    result, valid = rows.segments.scan(_compose, decay, fresh)[1], _spread(rows, counted, True, False)
    if finite.all():
        return Masked(result, valid)
    # By themselves: a product of decays that underflows would turn an inf into NaN.
    endless = _spread(rows, counted, np.where(finite, 0, values), 0.0)
    return Masked(result + rows.segments.scan(_add, endless)[0], valid)


def _spread(rows: WindowRows, counted: Ints, values: Any, elsewhere: Any) -> NDArray[Any]:
    """Return a column with `values` in the counted rows and one value in all others."""
    column = np.full(rows.segments.n_rows, elsewhere)
    column[counted] = values
    return column


def _all_valid(values: NDArray[Any]) -> Masked:
    return Masked(values, np.ones(len(values), np.bool_))


def _counts(rows: WindowRows, x: Masked, frame_starts: Ints) -> Ints:
    """Return the non-null values of each frame; raise `ValueError` where one leaves its row's segment."""
    rows.segments.rows_before(frame_starts)
    return integer_frame_sums(x.valid, frame_starts)


def _filled(x: Masked, neutral: Any) -> NDArray[Any]:
    """Return the values with `neutral` under the nulls."""
    return np.where(x.valid, x.values, np.asarray(neutral, x.values.dtype))


def _floats(x: Masked) -> Floats:
    return _filled(x, 0).astype(np.float64)


def _summable(x: Masked, name: str) -> NDArray[Any]:
    """Return the values with 0 under the nulls; raise `TypeError` unless they are int64 or float64."""
    if x.values.dtype not in (np.int64, np.float64):
        raise TypeError(f"{name} takes int64 or float64, got {x.values.dtype}; cast the column first")
    return _filled(x, 0)


def _least(dtype: np.dtype[Any]) -> Any:
    """Return what is never greater than a value of `dtype`."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def _greatest(dtype: np.dtype[Any]) -> Any:
    """Return what is never less than a value of `dtype`: for floats that is NaN."""
    if dtype.kind == "f":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max


def _checked_offset(offset: int, name: str, rows: WindowRows) -> int:
    """Return `offset`, at most the number of rows; raise `ValueError` if it is negative."""
    if offset < 0:
        raise ValueError(f"{name}: offset must be 0 or more, got {offset}")
    return min(offset, rows.segments.n_rows)


def _refuse_overflow(overflows: Bools, name: str) -> None:
    """Raise `OverflowError` with the first row that `overflows`, if any."""
    if overflows.any():
        row = int(overflows.argmax())
        raise OverflowError(f"{name} leaves int64 at row {row}; cast the column to float64 or decimal", row)

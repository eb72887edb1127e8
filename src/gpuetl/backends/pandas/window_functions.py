"""Window functions over rows sorted by (by, order_by): each takes the rows and columns, and returns a column.

What holds for all of them: the result has one value per row; a column argument is a `Masked` of as many rows
and a parameter is a plain value; min, max, lag, lead, first, last and ffill keep the type and take bools,
integers or floats; sums and differences take int64, where overflow raises `OverflowError` with the first such
row as its second argument, or float64, where they are IEEE; NaN is the greatest value.  The cost is that of
`Segments.scan`, O(rows), or for rolling functions that of `Segments.reduce_frames`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuetl.backends.pandas.combines import (
    add,
    filled,
    filled_floats,
    greater,
    greatest_of,
    least_of,
    lesser,
    refuse_overflow,
    summable,
)
from gpuetl.backends.pandas.decay_functions import decayed_mean, decayed_sum
from gpuetl.backends.pandas.frame_functions import (
    frame_count,
    frame_max,
    frame_mean,
    frame_min,
    frame_std,
    frame_sum,
)
from gpuetl.backends.pandas.segments import Masked, integer_frame_sums
from gpuetl.backends.pandas.window_rows import WindowRows, continues, microseconds_since

__all__ = ["WINDOW_FUNCTIONS", "WindowRows"]


def row_number(rows: WindowRows) -> Masked:
    """Return 1, 2, 3 and so on in each segment."""
    return Masked.all_valid(rows.segments.position + 1)


def running_count(rows: WindowRows, x: Masked) -> Masked:
    """Return the count of non-null `x` so far; NaN counts; null where `x` is."""
    return Masked(integer_frame_sums(x.valid, rows.segments.first_row), x.valid)


def running_sum(rows: WindowRows, x: Masked) -> Masked:
    """Return the sum of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    values = summable(x, "cum_sum")
    if values.dtype == np.float64:
        return Masked(rows.segments.scan(add, values)[0], x.valid)
    sums = integer_frame_sums(values, rows.segments.first_row)
    before = sums - values
    # Up to a segment's first overflow every sum is exact, so the first flag of all rows is a true one.
    refuse_overflow((before ^ sums) & (values ^ sums) < 0, "cum_sum")
    return Masked(sums, x.valid)


def running_mean(rows: WindowRows, x: Masked) -> Masked:
    """Return the float64 mean of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    sums = rows.segments.scan(add, filled_floats(x))[0]
    counts = integer_frame_sums(x.valid, rows.segments.first_row)
    return Masked(sums / np.maximum(counts, 1), x.valid)


def running_min(rows: WindowRows, x: Masked) -> Masked:
    """Return the least `x` so far, NaN only when all are; nulls are skipped and stay null."""
    return Masked(rows.segments.scan(lesser, filled(x, greatest_of(x.values.dtype)))[0], x.valid)


def running_max(rows: WindowRows, x: Masked) -> Masked:
    """Return the greatest `x` so far, NaN from the first NaN on; nulls are skipped and stay null."""
    return Masked(rows.segments.scan(greater, filled(x, least_of(x.values.dtype)))[0], x.valid)


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
    values = summable(x, "diff")
    earlier = previous_value(rows, Masked(values, x.valid), offset)
    valid = x.valid & earlier.valid
    result = values - earlier.values
    if result.dtype == np.int64:
        refuse_overflow(((values ^ earlier.values) & (values ^ result) < 0) & valid, "diff")
    return Masked(result, valid)


def session_number(rows: WindowRows, gap: int) -> Masked:
    """Return the 0-based count of steps longer than `gap` microseconds; null times are skipped and null."""
    if gap < 0:
        raise ValueError(f"session_id: gap must be 0 or more, got {gap} microseconds")
    time = rows.timed("session_id")
    counted = np.flatnonzero(time.valid)
    breaks = np.zeros(len(time.valid), np.bool_)
    breaks[counted] = continues(rows, counted) & (microseconds_since(time, counted) > gap)
    return Masked(integer_frame_sums(breaks, rows.segments.first_row), time.valid)


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


def _checked_offset(offset: int, name: str, rows: WindowRows) -> int:
    """Return `offset`, at most the number of rows; raise `ValueError` if it is negative."""
    if offset < 0:
        raise ValueError(f"{name}: offset must be 0 or more, got {offset}")
    return min(offset, rows.segments.n_rows)

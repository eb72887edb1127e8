"""Window functions over a frame of rows that ends at each row: the rolling functions.

What `functions` says of all window functions holds here.  `frame_starts` has the first row of each row's
frame; one outside the row's segment or after the row raises `ValueError`.  The cost is that of
`Segments.reduce_frames`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import Masked, greatest_of, least_of
from gpuetl.engines.pandas.expressions.means import integer_limbs, nearest_floats, nearest_integers
from gpuetl.engines.pandas.windows.combines import (
    add,
    filled,
    filled_floats,
    greater,
    lesser,
    merge_moments,
    refuse_overflow,
    summable,
)
from gpuetl.engines.pandas.windows.rows import WindowRows
from gpuetl.engines.pandas.windows.scans import Ints
from gpuetl.engines.pandas.windows.segments import integer_frame_sums


def frame_count(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the count of non-null `x` in each row's frame, 0 where there is none, never null."""
    return Masked.all_valid(_counts(rows, x, frame_starts))


def frame_sum(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the sum of each row's frame, nulls skipped; null where the frame has no value."""
    values, valid = summable(x, "rolling_sum"), _counts(rows, x, frame_starts) > 0
    if values.dtype == np.float64:
        return Masked(rows.segments.reduce_frames(add, frame_starts, values)[0], valid)
    # In halves, which cannot overflow in fewer than 2**31 rows: a frame may fit where partial sums do not.
    low = integer_frame_sums(values & 0xFFFFFFFF, frame_starts)
    high = integer_frame_sums(values >> 32, frame_starts) + (low >> 32)
    refuse_overflow(high != high.astype(np.int32), "rolling_sum")
    return Masked((high << 32) | (low & 0xFFFFFFFF), valid)


def frame_mean(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the float64 mean of each row's frame, nulls skipped; null where the frame has no value."""
    counts = _counts(rows, x, frame_starts)
    if x.values.dtype == np.int64:
        return integer_means(nearest_floats, x, frame_starts)
    sums = rows.segments.reduce_frames(add, frame_starts, filled_floats(x))[0]
    return Masked(sums / np.maximum(counts, 1), counts > 0)


def frame_duration_mean(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the mean of each row's frame of durations in microseconds, rounded half to even; nulls as above."""
    return integer_means(nearest_integers, x, frame_starts)


def integer_means(nearest: Callable[..., NDArray[Any]], x: Masked, frame_starts: Ints) -> Masked:
    """Return the means of int64 rows from `frame_starts` up to each row, nulls skipped; null where there is no value.

    The sums are exact for fewer than 2^31 rows, and `nearest` rounds their quotients once.
    """
    sums = [integer_frame_sums(limb, frame_starts) for limb in integer_limbs(filled(x, 0))]
    counts = integer_frame_sums(x.valid, frame_starts)
    return Masked(nearest(sums, np.maximum(counts, 1)), counts > 0)


def frame_min(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the least of each row's frame, NaN only when all are; null where the frame has no value."""
    values = filled(x, greatest_of(x.values.dtype))
    least = rows.segments.reduce_frames(lesser, frame_starts, values)[0]
    return Masked(least, _counts(rows, x, frame_starts) > 0)


def frame_max(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the greatest of each row's frame, NaN when any is; null where the frame has no value."""
    values = filled(x, least_of(x.values.dtype))
    greatest = rows.segments.reduce_frames(greater, frame_starts, values)[0]
    return Masked(greatest, _counts(rows, x, frame_starts) > 0)


def frame_var(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the variance (ddof 1) of each row's frame; null where it has fewer than 2 values.

    Counts, means and squared deviations are merged pairwise (Chan, Golub & LeVeque 1983, "Algorithms for
    Computing the Sample Variance"), so a large mean does not cancel.  NaN where the frame has an inf or NaN;
    inf or NaN, too, where squared deviations leave float64 (from about 1e154 on).
    """
    counts, values = _counts(rows, x, frame_starts), filled_floats(x)
    moments = x.valid.astype(np.float64), values, np.zeros_like(values)
    _, means, squares = rows.segments.reduce_frames(merge_moments, frame_starts, *moments)
    return Masked(np.where(np.isfinite(means), squares, np.nan) / np.maximum(counts - 1, 1), counts > 1)


def frame_std(rows: WindowRows, x: Masked, frame_starts: Ints) -> Masked:
    """Return the standard deviation of each row's frame: the root of `frame_var`."""
    variance = frame_var(rows, x, frame_starts)
    return Masked(np.sqrt(variance.values), variance.valid)


def _counts(rows: WindowRows, x: Masked, frame_starts: Ints) -> Ints:
    """Return the non-null values of each frame; raise `ValueError` where one leaves its row's segment."""
    rows.segments.rows_before(frame_starts)
    return integer_frame_sums(x.valid, frame_starts)

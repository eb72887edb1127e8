"""Window functions that combine the rows of a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, greatest_of, least_of
from gpuetl.engines.pandas.expressions.means import integer_limbs, nearest_floats, nearest_integers
from gpuetl.engines.pandas.relational.frame_rows import FrameRows, Frames
from gpuetl.engines.pandas.relational.segmented_scans import Ints, States
from gpuetl.engines.pandas.relational.window_rows import WindowRows

# What scans and frames combine: associative functions, the neutral values under nulls, and what they refuse.


def add(left: States, right: States) -> States:
    """Return the sums."""
    return (left[0] + right[0],)


def multiply(left: States, right: States) -> States:
    """Return the products; of int64, modulo 2**64."""
    return (left[0] * right[0],)


def scaled(values: NDArray[np.float64]) -> States:
    """Return the values as mantissas and exponents of 2."""
    mantissas, exponents = np.frexp(values)
    return mantissas, exponents.astype(np.int64)


def multiply_scaled(left: States, right: States) -> States:
    """Return the products of `scaled` numbers, without overflow or underflow."""
    mantissas, shifts = scaled(left[0] * right[0])
    return mantissas, left[1] + right[1] + shifts


def lesser(left: States, right: States) -> States:
    """Return the lesser values, NaN only where both are."""
    return (np.fmin(left[0], right[0]),)


def greater(left: States, right: States) -> States:
    """Return the greater values, NaN where either is."""
    return (np.maximum(left[0], right[0]),)


def merge_moments(left: States, right: States) -> States:
    """Return the count, mean and sum of squared deviations of both sides' rows together."""
    count = left[0] + right[0]
    delta = right[1] - left[1]
    weight = right[0] / np.maximum(count, 1)
    # Left to right, so that a side without rows gives 0 even where delta squared would be inf.
    spread = delta * left[0] * weight * delta
    return count, left[1] + delta * weight, left[2] + right[2] + spread


def merge_pair_moments(left: States, right: States) -> States:
    """Return the count, both means and the sums of products of deviations (xx, yy, xy) of all pairs."""
    count = left[0] + right[0]
    to_x, to_y = right[1] - left[1], right[2] - left[2]
    weight = right[0] / np.maximum(count, 1)
    between = left[0] * weight  # 0 where a side has no pairs
    products = (to_x * between * to_x, to_y * between * to_y, to_x * between * to_y)
    sums = (one + other + product for one, other, product in zip(left[3:], right[3:], products, strict=True))
    return count, left[1] + to_x * weight, left[2] + to_y * weight, *sums


def filled(x: Masked, neutral: Any) -> NDArray[Any]:
    """Return the values with `neutral` under the nulls."""
    return np.where(x.valid, x.values, np.asarray(neutral, x.values.dtype))


def filled_floats(x: Masked) -> NDArray[np.float64]:
    """Return the values as float64 with 0 under the nulls."""
    return filled(x, 0).astype(np.float64)


def summable(x: Masked, name: str) -> NDArray[Any]:
    """Return the values with 0 under the nulls; raise `TypeError` unless they are int64 or float64."""
    if x.values.dtype not in (np.int64, np.float64):
        raise TypeError(f"{name} takes int64 or float64, got {x.values.dtype}; cast the column first")
    return filled(x, 0)


def refuse_overflow(overflows: NDArray[np.bool_], name: str) -> None:
    """Raise `OverflowError` with the first row that `overflows`, if any."""
    if overflows.any():
        row = int(overflows.argmax())
        raise OverflowError(f"{name} leaves int64 at row {row}; cast the column to float64 or decimal", row)


def unscaled(mantissas: NDArray[np.float64], exponents: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``mantissas * 2**exponents``, rounded once."""
    with np.errstate(over="ignore", under="ignore"):
        values: NDArray[np.float64] = np.ldexp(mantissas, np.clip(exponents, -5000, 5000))
    return values


def product_overflows(left: NDArray[Any], right: NDArray[Any], products: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where int64 products, which are right modulo 2**64, are not the true ones."""
    divisors = np.where(right == 0, 1, right)
    with np.errstate(over="ignore"):
        wrong = (right != 0) & (products // divisors != left)
    overflows: NDArray[np.bool_] = wrong | ((left == np.iinfo(np.int64).min) & (right == -1))
    return overflows


# Window functions over a frame of rows: the rolling functions.
#
# What `functions` says of all window functions holds here.  `frame_starts` are the frames, or the first row of each
# row's frame, which ends at the row; one outside the row's segment or after the row raises `ValueError`.  The
# cost is that of `Segments.reduce_frames`.


def frame_count(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the count of non-null `x` in each row's frame, 0 where there is none, never null."""
    return Masked.all_valid(_counts(rows, x, frame_starts))


def frame_sum(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the sum of each row's frame, nulls skipped; null where the frame has no value."""
    values, valid = summable(x, "rolling_sum"), _counts(rows, x, frame_starts) > 0
    if values.dtype == np.float64:
        return Masked(FrameRows.of(frame_starts).reduce(rows.segments, add, values)[0], valid)
    # In halves, which cannot overflow in fewer than 2**31 rows: a frame may fit where partial sums do not.
    low = FrameRows.of(frame_starts).sums(values & 0xFFFFFFFF)
    high = FrameRows.of(frame_starts).sums(values >> 32) + (low >> 32)
    refuse_overflow(high != high.astype(np.int32), "rolling_sum")
    return Masked((high << 32) | (low & 0xFFFFFFFF), valid)


def frame_mean(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the float64 mean of each row's frame, nulls skipped; null where the frame has no value."""
    counts = _counts(rows, x, frame_starts)
    if x.values.dtype == np.int64:
        return integer_means(nearest_floats, x, frame_starts)
    sums = FrameRows.of(frame_starts).reduce(rows.segments, add, filled_floats(x))[0]
    return Masked(sums / np.maximum(counts, 1), counts > 0)


def frame_duration_mean(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the mean of each row's frame of durations in microseconds, rounded half to even; nulls as above."""
    return integer_means(nearest_integers, x, frame_starts)


def integer_means(nearest: Callable[..., NDArray[Any]], x: Masked, frame_starts: Frames) -> Masked:
    """Return the means of int64 rows from `frame_starts` up to each row, nulls skipped; null where there is no value.

    The sums are exact for fewer than 2^31 rows, and `nearest` rounds their quotients once.
    """
    sums = [FrameRows.of(frame_starts).sums(limb) for limb in integer_limbs(filled(x, 0))]
    counts = FrameRows.of(frame_starts).sums(x.valid)
    return Masked(nearest(sums, np.maximum(counts, 1)), counts > 0)


def frame_min(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the least of each row's frame, NaN only when all are; null where the frame has no value."""
    values = filled(x, greatest_of(x.values.dtype))
    least = FrameRows.of(frame_starts).reduce(rows.segments, lesser, values)[0]
    return Masked(least, _counts(rows, x, frame_starts) > 0)


def frame_max(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the greatest of each row's frame, NaN when any is; null where the frame has no value."""
    values = filled(x, least_of(x.values.dtype))
    greatest = FrameRows.of(frame_starts).reduce(rows.segments, greater, values)[0]
    return Masked(greatest, _counts(rows, x, frame_starts) > 0)


def frame_var(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the variance (ddof 1) of each row's frame; null where it has fewer than 2 values.

    Counts, means and squared deviations are merged pairwise (Chan, Golub & LeVeque 1983, "Algorithms for
    Computing the Sample Variance"), so a large mean does not cancel.  NaN where the frame has an inf or NaN;
    inf or NaN, too, where squared deviations leave float64 (from about 1e154 on).
    """
    counts, values = _counts(rows, x, frame_starts), filled_floats(x)
    moments = x.valid.astype(np.float64), values, np.zeros_like(values)
    _, means, squares = FrameRows.of(frame_starts).reduce(rows.segments, merge_moments, *moments)
    return Masked(np.where(np.isfinite(means), squares, np.nan) / np.maximum(counts - 1, 1), counts > 1)


def frame_std(rows: WindowRows, x: Masked, frame_starts: Frames) -> Masked:
    """Return the standard deviation of each row's frame: the root of `frame_var`."""
    variance = frame_var(rows, x, frame_starts)
    return Masked(np.sqrt(variance.values), variance.valid)


def frame_covariance(ddof: int) -> Callable[..., Masked]:
    """Return the function of the covariance of each frame's pairs; null where it has not more than `ddof`."""

    def covariance(rows: WindowRows, x: Masked, y: Masked, frame_starts: Frames) -> Masked:
        """Return the covariance, NaN where a pair has an inf or NaN."""
        count, _, _, xy = _pair_moments(rows, x, y, frame_starts)
        return Masked(xy / np.maximum(count - ddof, 1), count > ddof)

    return covariance


@np.errstate(divide="ignore", invalid="ignore")
def frame_correlation(rows: WindowRows, x: Masked, y: Masked, frame_starts: Frames) -> Masked:
    """Return Pearson's correlation of each frame's pairs; NaN where x or y is constant, null of fewer than 2 pairs."""
    count, xx, yy, xy = _pair_moments(rows, x, y, frame_starts)
    return Masked(np.clip(xy / (np.sqrt(xx) * np.sqrt(yy)), -1, 1), count > 1)


@np.errstate(over="ignore", invalid="ignore")
def _pair_moments(rows: WindowRows, x: Masked, y: Masked, frame_starts: Frames) -> States:
    """Return how many pairs without a null each frame has, and their sums of products of deviations: xx, yy and xy.

    They are merged as the moments of `frame_var`.
    """
    valid = x.valid & y.valid
    left, right = filled_floats(Masked(x.values, valid)), filled_floats(Masked(y.values, valid))
    own = left - left, right - right  # NaN of what is not finite
    states = valid.astype(np.float64), left, right, *own, own[0] + own[1]
    frames = FrameRows.of(frame_starts)
    counts = _counts(rows, Masked(left, valid), frame_starts)
    _, _, _, *moments = frames.reduce(rows.segments, merge_pair_moments, *states)
    return counts.astype(np.float64), *moments


def _counts(rows: WindowRows, x: Masked, frame_starts: Frames) -> Ints:
    """Return the non-null values of each frame; raise `ValueError` where one leaves its row's segment."""
    frames = FrameRows.of(frame_starts)
    if frames.stop is None:
        rows.segments.rows_before(frames.first)
    return frames.sums(x.valid)

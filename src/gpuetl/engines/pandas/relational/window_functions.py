"""Window functions over rows sorted by (by, order_by): each takes the rows and columns, and returns a column.

What holds for all of them: the result has one value per row; a column argument is a `Masked` of as many rows
and a parameter is a plain value; min, max, lag, lead, first, last, ffill and bfill keep the type and take bools,
integers or floats; sums and differences take int64, where overflow raises `OverflowError` with the first such
row as its second argument, or float64, where they are IEEE; NaN is the greatest value.  The cost is that of
`Segments.scan`, O(rows), or for rolling functions that of `Segments.reduce_frames`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, greatest_of, least_of
from gpuetl.engines.pandas.expressions.means import nearest_floats, nearest_integers
from gpuetl.engines.pandas.relational.frame_order import frame_count_distinct, frame_median, frame_quantile
from gpuetl.engines.pandas.relational.segmented_scans import integer_frame_sums
from gpuetl.engines.pandas.relational.window_decays import (
    decayed_deviation,
    decayed_mean,
    decayed_moment,
    decayed_sum,
    decayed_variance,
)
from gpuetl.engines.pandas.relational.window_frames import (
    add,
    filled,
    filled_floats,
    frame_correlation,
    frame_count,
    frame_covariance,
    frame_duration_mean,
    frame_max,
    frame_mean,
    frame_min,
    frame_std,
    frame_sum,
    frame_var,
    greater,
    integer_means,
    lesser,
    multiply,
    multiply_scaled,
    product_overflows,
    refuse_overflow,
    scaled,
    summable,
    unscaled,
)
from gpuetl.engines.pandas.relational.window_rows import (
    WindowRows,
    continues,
    cumulative_share,
    dense_rank,
    fill_backward,
    fill_forward,
    first_value,
    following_value,
    frame_first,
    frame_last,
    frame_nth,
    interpolated,
    last_value,
    microseconds_since,
    nth_value,
    percent_rank,
    previous_value,
    rank,
    row_number,
    tile,
)

__all__ = ["DURATION_WINDOWS", "WINDOW_FUNCTIONS", "WindowRows"]


def has_result(rows: WindowRows, x: Masked, nulls: str) -> NDArray[np.bool_]:
    """Return where a cumulative function has one: where x is not null, or, if results are carried on, from there on."""
    if nulls != "carry":
        return x.valid
    found: NDArray[np.bool_] = integer_frame_sums(x.valid, rows.segments.first_row) > 0
    return found


def running_product(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the product of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    values = np.where(x.valid, summable(x, "cum_prod"), x.values.dtype.type(1))
    if values.dtype == np.float64:
        mantissas, exponents = rows.segments.scan(multiply_scaled, *scaled(values))
        return Masked(unscaled(mantissas, exponents), has_result(rows, x, nulls))
    products = rows.segments.scan(multiply, values)[0]
    before = np.where(rows.segments.position == 0, 1, np.append(1, products[:-1])[: len(products)])
    # Up to a segment's first overflow every product is exact, so the first flag of all rows is a true one.
    refuse_overflow(product_overflows(before, values, products), "cum_prod")
    return Masked(products, has_result(rows, x, nulls))


def running_count(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the count of non-null `x` so far; NaN counts; null where `x` is."""
    return Masked(integer_frame_sums(x.valid, rows.segments.first_row), x.valid | (nulls == "carry"))


def running_sum(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the sum of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    values = summable(x, "cum_sum")
    if values.dtype == np.float64:
        return Masked(rows.segments.scan(add, values)[0], has_result(rows, x, nulls))
    sums = integer_frame_sums(values, rows.segments.first_row)
    before = sums - values
    # Up to a segment's first overflow every sum is exact, so the first flag of all rows is a true one.
    refuse_overflow((before ^ sums) & (values ^ sums) < 0, "cum_sum")
    return Masked(sums, has_result(rows, x, nulls))


def running_mean(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the float64 mean of `x` so far; nulls are skipped and stay null; NaN poisons what follows."""
    if x.values.dtype == np.int64:
        return Masked(integer_means(nearest_floats, x, rows.segments.first_row).values, has_result(rows, x, nulls))
    sums = rows.segments.scan(add, filled_floats(x))[0]
    counts = integer_frame_sums(x.valid, rows.segments.first_row)
    return Masked(sums / np.maximum(counts, 1), has_result(rows, x, nulls))


def running_duration_mean(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the mean so far of durations in microseconds, rounded half to even; nulls are skipped and stay null."""
    return Masked(integer_means(nearest_integers, x, rows.segments.first_row).values, has_result(rows, x, nulls))


def running_min(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the least `x` so far, NaN only when all are; nulls are skipped and stay null."""
    return Masked(rows.segments.scan(lesser, filled(x, greatest_of(x.values.dtype)))[0], has_result(rows, x, nulls))


def running_max(rows: WindowRows, x: Masked, nulls: str = "keep") -> Masked:
    """Return the greatest `x` so far, NaN from the first NaN on; nulls are skipped and stay null."""
    return Masked(rows.segments.scan(greater, filled(x, least_of(x.values.dtype)))[0], has_result(rows, x, nulls))


@np.errstate(over="ignore", invalid="ignore")
def difference(rows: WindowRows, x: Masked, offset: int = 1) -> Masked:
    """Return `x` less the `x` of `offset` rows before in the segment; null where either is."""
    if x.values.dtype == np.int32:  # dates
        return difference(rows, Masked(x.values.astype(np.int64), x.valid), offset)
    values = summable(x, "diff")
    earlier = previous_value(rows, Masked(values, x.valid), offset)
    valid = x.valid & earlier.valid
    result = values - earlier.values
    if result.dtype == np.int64:
        refuse_overflow(((values ^ earlier.values) & (values ^ result) < 0) & valid, "diff")
    return Masked(result, valid)


def relative_change(rows: WindowRows, x: Masked, offset: int = 1) -> Masked:
    """Return float64 ``x / x_before - 1`` with the `x` of `offset` rows before; IEEE, null where either is null."""
    earlier = previous_value(rows, x, offset)
    with np.errstate(all="ignore"):
        return Masked(x.values / earlier.values - 1, x.valid & earlier.valid)


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
    "rank": rank,
    "dense_rank": dense_rank,
    "percent_rank": percent_rank,
    "cume_dist": cumulative_share,
    "ntile": tile,
    "cum_count": running_count,
    "cum_sum": running_sum,
    "cum_prod": running_product,
    "cum_mean": running_mean,
    "cum_min": running_min,
    "cum_max": running_max,
    "lag": previous_value,
    "lead": following_value,
    "first": first_value,
    "last": last_value,
    "nth_value": nth_value,
    "ffill": fill_forward,
    "bfill": fill_backward,
    "interpolate": interpolated,
    "diff": difference,
    "pct_change": relative_change,
    "ewm_mean": decayed_mean,
    "ewm_var": decayed_variance,
    "ewm_std": decayed_deviation,
    "ewm_moment": decayed_moment,
    "decayed_sum": decayed_sum,
    "session_id": session_number,
    "rolling_count": frame_count,
    "rolling_sum": frame_sum,
    "rolling_mean": frame_mean,
    "rolling_min": frame_min,
    "rolling_max": frame_max,
    "rolling_var": frame_var,
    "rolling_std": frame_std,
    "rolling_covar_samp": frame_covariance(1),
    "rolling_covar_pop": frame_covariance(0),
    "rolling_corr": frame_correlation,
    "rolling_median": frame_median,
    "rolling_quantile": frame_quantile,
    "rolling_count_distinct": frame_count_distinct,
    "rolling_first": frame_first,
    "rolling_last": frame_last,
    "rolling_nth_value": frame_nth,
}

DURATION_WINDOWS: dict[str, Callable[..., Masked]] = {
    "cum_mean": running_duration_mean,
    "rolling_mean": frame_duration_mean,
}
"""What is done to durations in another way than to the integers that count their microseconds."""

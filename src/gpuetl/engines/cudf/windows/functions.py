"""The window functions, as plans over scans, frames and functions of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from gpuetl.engines.cudf.windows.call import WindowCall
from gpuetl.engines.cudf.windows.decay import decayed_sum, ewm_mean, session_id
from gpuetl.engines.cudf.windows.ranks import cume_dist, dense_rank, ntile, percent_rank, rank, row_number
from gpuetl.engines.cudf.windows.reductions import (
    count_of,
    deviation_of,
    greatest_of,
    least_of,
    mean_of,
    product_of,
    rolling,
    running,
    sum_of,
    variance_of,
)
from gpuetl.engines.cudf.windows.shifts import bfill, diff, ffill, first, lag, last, lead, pct_change
from gpuetl.engines.cudf.windows.steps import CallPlan

__all__ = ["WINDOW_FUNCTIONS", "WindowCall"]

WINDOW_FUNCTIONS: Mapping[str, Callable[[WindowCall], CallPlan]] = {
    "row_number": row_number,
    "rank": rank,
    "dense_rank": dense_rank,
    "percent_rank": percent_rank,
    "cume_dist": cume_dist,
    "ntile": ntile,
    "lag": lag,
    "lead": lead,
    "first": first,
    "last": last,
    "ffill": ffill,
    "bfill": bfill,
    "diff": diff,
    "pct_change": pct_change,
    "cum_count": running(count_of),
    "cum_sum": running(sum_of),
    "cum_prod": running(product_of),
    "cum_mean": running(mean_of),
    "cum_min": running(least_of),
    "cum_max": running(greatest_of),
    "rolling_sum": rolling(partial(sum_of, counted=True)),
    "rolling_mean": rolling(mean_of),
    "rolling_min": rolling(partial(least_of, counted=True)),
    "rolling_max": rolling(partial(greatest_of, counted=True)),
    "rolling_count": rolling(count_of),
    "rolling_std": rolling(deviation_of),
    "rolling_var": rolling(variance_of),
    "ewm_mean": ewm_mean,
    "decayed_sum": decayed_sum,
    "session_id": session_id,
}

"""The window functions, as plans over scans, frames and functions of a row."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from gpuetl.engines.cudf.columns.vector import has_bytes
from gpuetl.engines.cudf.relational.window_decays import decayed_sum, ewm_mean, ewm_moment
from gpuetl.engines.cudf.relational.window_steps import (
    FIRST_ROW,
    LAST_ROW,
    RUN_BEGIN,
    RUN_END,
    CallPlan,
    Fold,
    FrameFold,
    FrameOrder,
    PerRow,
    PresentRows,
    Scan,
    ShiftedValues,
    Values,
    WindowCall,
    length_in,
)
from gpuetl.expressions.functions.frames import Frame, frame_of, units_of
from gpuetl.expressions.ir import Column
from gpuetl.types.data_types import FLOAT64, INT64, NULL, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal

# What the rows of a group so far, or of a frame, come to: counts, sums, products, means, extremes, variances.


STATE_BYTES = {"Real": 8, "Whole": 16, "Halves": 32, "WholeProduct": 16, "RealProduct": 16}
"""Of a state in reductions.cuh."""


def count_of(call: WindowCall) -> Fold:
    """Return the fold that counts values."""
    return Fold("Count<Present<{0}>>", (call.x.name,), INT64, state_bytes=4)


def sum_of(call: WindowCall, counted: bool = False) -> Fold:
    """Return the fold that adds."""
    out = {FLOAT64: "double"}.get(call.dtype, "int128_t" if is_decimal(call.dtype) else "int64_t")
    return with_state(sum_state(call.x.dtype), out, call, counted)


def sum_state(dtype: DataType) -> str:
    """Return the state that adds values of a type: integers in 128 bits, long decimals in halves."""
    if is_floating(dtype):
        return "Real"
    return "Halves" if is_decimal(dtype) and dtype.precision > 18 else "Whole"


def product_of(call: WindowCall, counted: bool = False) -> Fold:
    """Return the fold that multiplies; `counted` as in `with_state`."""
    floating = is_floating(call.dtype)
    state, out = ("RealProduct", "double") if floating else ("WholeProduct", "int64_t")
    return with_state(state, out, call, counted)


def with_state(state: str, out: str, call: WindowCall, counted: bool) -> Fold:
    """Return the fold of values in `state`, which comes to the C++ type `out`.

    It is null where there is no value if it is `counted`; otherwise nobody may look at it there.
    """
    text, size = f"Counted<{state}>" if counted else state, STATE_BYTES[state] + (16 if counted else 0)
    return Fold(f"Sum<{{0}}, {text}, {out}>", (call.x.name,), call.dtype, can_fail=True, state_bytes=size)


def mean_of(call: WindowCall) -> Fold:
    """Return the fold that averages."""
    x, state = call.x, sum_state(call.x.dtype)
    out, scale = "double" if call.dtype == FLOAT64 else "int64_t", x.dtype.scale if is_decimal(x.dtype) else 0
    return Fold(f"Mean<{{0}}, {state}, {out}, {scale}>", (x.name,), call.dtype, state_bytes=STATE_BYTES[state] + 16)


def least_of(call: WindowCall, counted: bool = False) -> Fold:
    """Return the fold of the least value, or of the row that has the least text; `counted` as in `with_state`."""
    return extreme_of(call, "false", counted)


def greatest_of(call: WindowCall, counted: bool = False) -> Fold:
    """Return the fold of the greatest value, or of the row that has the greatest text; `counted` as in `with_state`."""
    return extreme_of(call, "true", counted)


def extreme_of(call: WindowCall, greatest: str, counted: bool) -> Fold:
    """Return the fold of least or greatest values."""
    if has_bytes(call.x.dtype):
        return Fold(f"ExtremeOf<{{0}}, Extreme, {greatest}>", (call.x.name,), state_bytes=24)
    state, size = ("Extreme", 32) if counted else ("Bound", 16)
    return Fold(f"ExtremeOf<{{0}}, {state}, {greatest}>", (call.x.name,), call.dtype, state_bytes=size)


def variance_of(call: WindowCall) -> Fold:
    """Return the fold of the sample variance."""
    return Fold("Variance<{0}, false>", (call.x.name,), FLOAT64, state_bytes=24)


def deviation_of(call: WindowCall) -> Fold:
    """Return the fold of the sample standard deviation."""
    return replace(variance_of(call), struct="Variance<{0}, true>")


def covariance_of(call: WindowCall, ddof: int) -> Fold:
    """Return the fold of the covariance of pairs."""
    return pairs_of(call, "PairMoments", f"CovarianceOf<{ddof}>", 32)


def correlation_of(call: WindowCall) -> Fold:
    """Return the fold of the correlation of pairs."""
    return pairs_of(call, "AllPairMoments", "CorrelationOf", 48)


def pairs_of(call: WindowCall, state: str, result: str, state_bytes: int) -> Fold:
    """Return a fold of pairs without a null."""
    names = (call.x.name, call.column("y").name)
    return Fold(f"OfPairs<{{0}}, {{1}}, {state}, {result}>", names, FLOAT64, state_bytes=state_bytes)


def running(
    fold_of: Callable[[WindowCall], Fold], carried: Callable[[WindowCall], Fold] | None = None
) -> Callable[[WindowCall], CallPlan]:
    """Return the function that folds the group's rows so far: null where x is null.

    Where nulls get what was before, the fold `carried` tells whether there has been a value.
    """

    def plan(call: WindowCall) -> CallPlan:
        if call.constant("nulls", "keep") == "carry":
            scan = Scan((carried or fold_of)(call))
            return ShiftedValues(call.x.name, scan) if has_bytes(call.dtype) else Values(scan)
        fold = fold_of(call)
        if has_bytes(call.dtype):
            return ShiftedValues(call.x.name, PerRow("row_if_valid", (call.x.name,), (Scan(fold),)))
        return Values(Scan(fold), null_where=(call.x.name,))

    return plan


def rolling(fold_of: Callable[[WindowCall], Fold]) -> Callable[[WindowCall], CallPlan]:
    """Return the function that folds the rows of each row's frame."""

    def plan(call: WindowCall) -> CallPlan:
        step = framed(fold_of(call), call)
        return ShiftedValues(call.x.name, step) if has_bytes(call.dtype) else Values(step)

    return plan


def quantile_of(call: WindowCall, q: float | None = None) -> CallPlan:
    """Find the quantile at a constant of the values of each row's frame."""
    at = call.constant("q", 0.0) if q is None else q
    return Values(FrameOrder(call.x.name, words_of(float(at))[0], FLOAT64, *frame_bounds(call)))


def distinct_of(call: WindowCall) -> CallPlan:
    """Count the distinct values of each row's frame."""
    if call.x.dtype == NULL:
        return rolling(count_of)(call)
    return Values(FrameOrder(call.x.name, None, INT64, *frame_bounds(call)))


def frame_edge(state: str) -> Callable[[WindowCall], CallPlan]:
    """Return the function that takes a value of the frame's first row that counts, or its last one."""

    def plan(call: WindowCall) -> CallPlan:
        where, columns = rows_that_count(call)
        return ShiftedValues(call.x.name, framed(Fold(f"RowOf<{state}, {where}>", columns, state_bytes=4), call))

    return plan


def frame_nth(call: WindowCall) -> CallPlan:
    """Take a value of the frame's row of a number, of those that count."""
    return nth_within(call, *frame_bounds(call))


def nth_within(call: WindowCall, start: PerRow, longest: int, end: PerRow | None) -> CallPlan:
    """Take a value of a row of a number within bounds, of those that count."""
    counted = Fold(f"Count<{rows_that_count(call)[0]}>", rows_that_count(call)[1], INT64, state_bytes=4)
    nth = min(int(call.constant("n", 1)), call.rows + 1)
    return ShiftedValues(call.x.name, FrameFold(counted, start, longest, end, nth))


def framed(fold: Fold, call: WindowCall) -> FrameFold:
    """Return the fold over a call's frames."""
    start, longest, end = frame_bounds(call)
    return FrameFold(fold, start, longest, end)


Bounds: TypeAlias = tuple[PerRow, int, PerRow | None]
"""What gives the first row of a frame, the most rows that one has, and the row after it; None for the row's own."""


def frame_bounds(call: WindowCall) -> Bounds:
    """Return the bounds of a call's frames."""
    frame = frame_of(call.call)
    if frame.kind == "so_far":
        assert call.time is not None  # the planner has checked the order
        interval = length_in(call.time, -frame.start)
        return PerRow("frame_of_interval", (call.time.name,), (FIRST_ROW,), (), (interval,)), call.rows, None
    if frame.kind == "range":
        return bounds_by_key(frame, call)
    if frame.end == 0 and frame.start is not None:
        length = min(1 - frame.start, call.rows)
        return PerRow("frame_of_rows", reads=(FIRST_ROW,), constants=(length,)), length, None
    start, end = (None if at is None else max(-call.rows, min(at, call.rows)) for at in (frame.start, frame.end))
    longest = call.rows if start is None or end is None else max(min(end - start + 1, call.rows), 1)
    first = FIRST if start is None else PerRow("row_in_group", reads=(FIRST_ROW, LAST_ROW), constants=(start,))
    stop = AFTER_LAST if end is None else PerRow("row_in_group", reads=(FIRST_ROW, LAST_ROW), constants=(end + 1,))
    return first, longest, stop


FIRST = PerRow("first_of_group", reads=(FIRST_ROW,))
AFTER_LAST = PerRow("after_group", reads=(LAST_ROW,))


def bounds_by_key(frame: Frame, call: WindowCall) -> Bounds:
    """Return the bounds of a frame by values."""
    key = call.key
    assert key is not None  # the planner has checked the order
    start, end = units_of(frame, key.dtype)
    function = "float_key" if is_floating(key.dtype) else "whole_key"
    first, stop = (
        None if at is None else PerRow(f"{function}_{name}", (key.name,), (FIRST_ROW, LAST_ROW), (), words_of(at))
        for name, at in (("from", start), ("after", end))
    )
    return first or FIRST, call.rows, stop or AFTER_LAST


def words_of(shift: int | float) -> tuple[int, ...]:
    """Return a shift of a key in words of 64 bits: an integer's high and low one, or a float's bits."""
    if isinstance(shift, float):
        return (struct.unpack("<q", struct.pack("<d", shift))[0],)
    shift = max(-(1 << 126), min(shift, 1 << 126))
    low = shift & (1 << 64) - 1
    return (shift >> 64, low - (1 << 64) if low >> 63 else low)


# Ranks: of a row's place in its group.


def row_number(call: WindowCall) -> CallPlan:
    """Count the rows from the group's first."""
    return Values(PerRow("row_number", reads=(FIRST_ROW,), result_type=INT64))


def rank(call: WindowCall) -> CallPlan:
    """Give rows that tie the number of the first of them, or of the last."""
    if call.constant("method", "min") == "max":
        return Values(PerRow("rank", reads=(FIRST_ROW, RUN_END), result_type=INT64))
    return Values(PerRow("rank", reads=(FIRST_ROW, RUN_BEGIN), result_type=INT64))


def dense_rank(call: WindowCall) -> CallPlan:
    """Count the runs of rows that tie."""
    return Values(Scan(Fold("Count<RunBegins>", result_type=INT64, state_bytes=4)))


def percent_rank(call: WindowCall) -> CallPlan:
    """Compare the rank with the group's rows."""
    return Values(PerRow("percent_rank", reads=(FIRST_ROW, LAST_ROW, RUN_BEGIN), result_type=FLOAT64))


def cume_dist(call: WindowCall) -> CallPlan:
    """Compare the rows up to the last that ties with the group's rows."""
    return Values(PerRow("cume_dist", reads=(FIRST_ROW, LAST_ROW, RUN_END), result_type=FLOAT64))


def ntile(call: WindowCall) -> CallPlan:
    """Deal the group's rows to tiles."""
    return Values(PerRow("ntile", reads=(FIRST_ROW, LAST_ROW), constants=(call.constant("n", 1),), result_type=INT64))


# Values of other rows of the group, and what a row's value is beside them.


def lag(call: WindowCall) -> CallPlan:
    """Go back by rows, or by rows that have a value; no row before is the row itself."""
    if call.constant("ignore_nulls", False) and call.offset:
        step = PerRow("present_before", (), (FIRST_ROW,), (PresentRows(call.x.name),), (call.offset,))
        return shift_plan(call, step)
    return shift_plan(call, PerRow("row_before", reads=(FIRST_ROW,), constants=(call.offset,)))


def lead(call: WindowCall) -> CallPlan:
    """Go on by rows, as in `lag`."""
    if call.constant("ignore_nulls", False) and call.offset:
        step = PerRow("present_after", (call.x.name,), (LAST_ROW,), (PresentRows(call.x.name),), (call.offset,))
        return shift_plan(call, step)
    return shift_plan(call, PerRow("row_after", reads=(LAST_ROW,), constants=(call.offset,)))


def first(call: WindowCall) -> CallPlan:
    """Take the row of the group's first, or the nearest from there on that counts."""
    found = counting_rows("LastMet", call)
    return shift_plan(call, of_group(Scan(found, backward=True)) if found else FIRST_ROW)


def last(call: WindowCall) -> CallPlan:
    """Take the row of the group's last, or the last in the group that counts."""
    found = counting_rows("FirstMet", call)
    return shift_plan(call, of_group(Scan(found, backward=True)) if found else LAST_ROW)


def nth_value(call: WindowCall) -> CallPlan:
    """Take the row of a number in the group, or among those that have a value, or that FILTER leaves."""
    if isinstance(call.argument("only"), Column):
        return nth_within(call, FIRST, call.rows, AFTER_LAST)
    place = min(int(call.constant("n", 1)), call.rows + 1) - 1
    if call.constant("ignore_nulls", False):
        present = (PresentRows(call.x.name),)
        return shift_plan(call, PerRow("present_of_group", (), (FIRST_ROW, LAST_ROW), present, (place,)))
    return shift_plan(call, PerRow("place_in_group", reads=(FIRST_ROW, LAST_ROW), constants=(place,)))


def of_group(scan: Scan) -> PerRow:
    """Return what a backward scan gives for the whole group: at its first row."""
    return PerRow("row_of_group", reads=(FIRST_ROW,), reads_all=(scan,))


def ffill(call: WindowCall) -> CallPlan:
    """Take the last row so far that has a value."""
    return shift_plan(call, Scan(present(call.x, "LastMet")))


def bfill(call: WindowCall) -> CallPlan:
    """Take the next row that has a value."""
    return shift_plan(call, Scan(present(call.x, "LastMet"), backward=True))


def interpolate(call: WindowCall) -> CallPlan:
    """Take the nearest rows before and after that have a value, and what lies between."""
    x, by = call.x, call.argument("by")
    if not isinstance(by, Column):
        nearest = present(x, "LastMet")
        reads = (Scan(nearest), Scan(nearest, backward=True))
        return Values(PerRow("interpolated", (x.name,), reads, result_type=FLOAT64))
    nearest = Fold("RowOf<LastMet, BothPresent<{0}, {1}>>", (x.name, by.name), state_bytes=4)
    reads = (Scan(nearest), Scan(nearest, backward=True))
    return Values(PerRow("interpolated_by", (x.name, by.name), reads, result_type=FLOAT64))


def shift_plan(call: WindowCall, step: PerRow | Scan) -> CallPlan:
    """Return the values of other rows, and of `default` where there is none."""
    default = call.argument("default") if call.call.function.name in ("lag", "lead") else None
    return ShiftedValues(call.x.name, step, default.name if isinstance(default, Column) else None)


def counting_rows(state: str, call: WindowCall) -> Fold | None:
    """Return the fold of the rows that `first` and `last` look at; None where these are all."""
    where, columns = rows_that_count(call)
    return Fold(f"RowOf<{state}, {where}>", columns, state_bytes=4) if columns else None


def rows_that_count(call: WindowCall) -> tuple[str, tuple[str, ...]]:
    """Return the C++ type of the rows that `first`, `last` and `nth_value` look at, and its columns."""
    only, skips = call.argument("only"), call.constant("ignore_nulls", False)
    if not isinstance(only, Column):
        return ("Present<{0}>", (call.x.name,)) if skips else ("Everywhere", ())
    return ("ChosenPresent<{0}, {1}>", (only.name, call.x.name)) if skips else ("Chosen<{0}>", (only.name,))


def present(x: Column, state: str) -> Fold:
    """Return the fold of the rows where `x` is not null."""
    return Fold(f"RowOf<{state}, Present<{{0}}>>", (x.name,), state_bytes=4)


def diff(call: WindowCall) -> CallPlan:
    """Subtract the value of a row before."""
    step = PerRow("difference", (call.x.name,), (FIRST_ROW,), (), (call.offset,), call.dtype, can_fail=True)
    return Values(step)


def pct_change(call: WindowCall) -> CallPlan:
    """Divide by the value of a row before."""
    return Values(PerRow("relative_change", (call.x.name,), (FIRST_ROW,), (), (call.offset,), FLOAT64))


# Sessions: what depends on the time since the row before.


def session_id(call: WindowCall) -> CallPlan:
    """Count the steps that are longer than the gap."""
    assert call.time is not None  # the planner has checked the order
    gap = length_in(call.time, call.constant("gap", None))
    fold = Fold("Count<Breaks<Times<{0}>>>", (call.time.name,), INT64, (gap,), state_bytes=4)
    return Values(Scan(fold), null_where=(call.time.name,))


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
    "nth_value": nth_value,
    "ffill": ffill,
    "bfill": bfill,
    "interpolate": interpolate,
    "diff": diff,
    "pct_change": pct_change,
    "cum_count": running(count_of),
    "cum_sum": running(sum_of, partial(sum_of, counted=True)),
    "cum_prod": running(product_of, partial(product_of, counted=True)),
    "cum_mean": running(mean_of),
    "cum_min": running(least_of, partial(least_of, counted=True)),
    "cum_max": running(greatest_of, partial(greatest_of, counted=True)),
    "rolling_sum": rolling(partial(sum_of, counted=True)),
    "rolling_mean": rolling(mean_of),
    "rolling_min": rolling(partial(least_of, counted=True)),
    "rolling_max": rolling(partial(greatest_of, counted=True)),
    "rolling_count": rolling(count_of),
    "rolling_std": rolling(deviation_of),
    "rolling_var": rolling(variance_of),
    "rolling_covar_samp": rolling(partial(covariance_of, ddof=1)),
    "rolling_covar_pop": rolling(partial(covariance_of, ddof=0)),
    "rolling_corr": rolling(correlation_of),
    "rolling_median": partial(quantile_of, q=0.5),
    "rolling_quantile": quantile_of,
    "rolling_count_distinct": distinct_of,
    "rolling_first": frame_edge("FirstMet"),
    "rolling_last": frame_edge("LastMet"),
    "rolling_nth_value": frame_nth,
    "ewm_mean": ewm_mean,
    "ewm_var": partial(ewm_moment, part="variance"),
    "ewm_std": partial(ewm_moment, part="deviation"),
    "ewm_moment": ewm_moment,
    "decayed_sum": decayed_sum,
    "session_id": session_id,
}

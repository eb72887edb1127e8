"""What the rows of a group so far, or of a frame, come to: counts, sums, products, means, extremes, variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpuetl.engines.cudf.windows.call import FIRST_ROW, WindowCall, length_in
from gpuetl.engines.cudf.windows.steps import CallPlan, Fold, Framed, Moved, PerRow, Scan, Values
from gpuetl.expressions.ir import Literal
from gpuetl.types.data_types import DURATION, FLOAT64, INT64, STRING, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal

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


def product_of(call: WindowCall) -> Fold:
    """Return the fold that multiplies."""
    floating = is_floating(call.dtype)
    state, out = ("RealProduct", "double") if floating else ("WholeProduct", "int64_t")
    return with_state(state, out, call, counted=False)


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
    if call.x.dtype == STRING:
        return Fold(f"ExtremeOf<{{0}}, Extreme, {greatest}>", (call.x.name,), state_bytes=24)
    state, size = ("Extreme", 32) if counted else ("Bound", 16)
    return Fold(f"ExtremeOf<{{0}}, {state}, {greatest}>", (call.x.name,), call.dtype, state_bytes=size)


def variance_of(call: WindowCall) -> Fold:
    """Return the fold of the sample variance."""
    return Fold("Variance<{0}, false>", (call.x.name,), FLOAT64, state_bytes=24)


def deviation_of(call: WindowCall) -> Fold:
    """Return the fold of the sample standard deviation."""
    return replace(variance_of(call), struct="Variance<{0}, true>")


def running(fold_of: Callable[[WindowCall], Fold]) -> Callable[[WindowCall], CallPlan]:
    """Return the function that folds the group's rows so far: null where x is null."""

    def plan(call: WindowCall) -> CallPlan:
        fold = fold_of(call)
        if call.dtype == STRING:
            return Moved(call.x.name, PerRow("row_if_valid", (call.x.name,), (Scan(fold),)))
        return Values(Scan(fold), null_where=(call.x.name,))

    return plan


def rolling(fold_of: Callable[[WindowCall], Fold]) -> Callable[[WindowCall], CallPlan]:
    """Return the function that folds the rows of each row's frame."""

    def plan(call: WindowCall) -> CallPlan:
        step = framed(fold_of(call), call)
        return Moved(call.x.name, step) if call.dtype == STRING else Values(step)

    return plan


def framed(fold: Fold, call: WindowCall) -> Framed:
    """Return the fold over frames of so many rows, or of an interval of the time."""
    frame = call.argument("frame")
    assert isinstance(frame, Literal)
    if frame.dtype != DURATION:
        length = min(frame.value, call.rows)
        return Framed(fold, PerRow("frame_of_rows", reads=(FIRST_ROW,), constants=(length,)), length)
    assert call.time is not None  # the planner has checked the order
    interval = length_in(call.time, frame.value)
    return Framed(fold, PerRow("frame_of_interval", (call.time.name,), (FIRST_ROW,), (), (interval,)), call.rows)

"""The window functions as scans, frames and functions of a row; which C++ has which meaning is in windows.cuh."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa

from gpuetl.backends.cudf.windows.steps import CallPlan, Fold, Framed, Moved, PerRow, PresentRows, Scan, Values
from gpuetl.expressions.decimals import is_decimal
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.expressions.types import DATE, DURATION, FLOAT64, INT64, STRING, DataType, is_floating

DAY, MICROSECOND = 86_400_000_000, timedelta(microseconds=1)
FIRST_ROW = Scan(Fold("RowOf<FirstMet, Everywhere>", state_bytes=4))
LAST_ROW = Scan(FIRST_ROW.fold, backward=True)
RUN_BEGIN = Scan(Fold("RowOf<LastMet, RunBegins>", state_bytes=4))
RUN_END = Scan(Fold("RowOf<LastMet, RunEnds>", state_bytes=4), backward=True)
SUM_BYTES = {"Real": 16, "Whole": 32, "Halves": 48, "WholeProduct": 32, "RealProduct": 24}


@dataclass(frozen=True)
class WindowCall:
    """A call over sorted rows, whose arguments are columns and constants.

    Parameters
    ----------
    call
        The call.
    time
        The first key of the order, where it is an ascending date or timestamp.
    rows
        How many there are.
    """

    call: Call
    time: Column | None
    rows: int

    def argument(self, name: str) -> Column | Literal | None:
        """Return an argument; None where it was left out."""
        slots = [slot.name for slot in self.call.function.arguments]
        given = dict(zip(slots, self.call.args, strict=False)).get(name)
        if isinstance(given, Literal) and given.value is None:
            return None
        assert given is None or isinstance(given, Column | Literal)  # other arguments are columns before
        return given

    @property
    def x(self) -> Column:
        """The column of values."""
        return self.column("x")

    def column(self, name: str) -> Column:
        """Return an argument that is a column."""
        column = self.argument(name)
        assert isinstance(column, Column)
        return column

    def constant(self, name: str, default: Any) -> Any:
        """Return a constant, or what stands for one that was left out."""
        given = self.argument(name)
        return given.value if isinstance(given, Literal) else default

    @property
    def offset(self) -> int:
        """How many rows before or after; beyond all of them where it is as many as there are."""
        return min(int(self.constant("offset", 1)), self.rows)

    @property
    def dtype(self) -> DataType:
        """The result's type."""
        return self.call.dtype


def row_number(call: WindowCall) -> CallPlan:
    """Count the rows from the group's first."""
    return Values(PerRow("row_number", reads=(FIRST_ROW,), gives=INT64))


def rank(call: WindowCall) -> CallPlan:
    """Give rows that tie the number of the first of them."""
    return Values(PerRow("rank", reads=(FIRST_ROW, RUN_BEGIN), gives=INT64))


def dense_rank(call: WindowCall) -> CallPlan:
    """Count the runs of rows that tie."""
    return Values(Scan(Fold("Count<RunBegins>", gives=INT64, state_bytes=8)))


def percent_rank(call: WindowCall) -> CallPlan:
    """Compare the rank with the group's rows."""
    return Values(PerRow("percent_rank", reads=(FIRST_ROW, LAST_ROW, RUN_BEGIN), gives=FLOAT64))


def cume_dist(call: WindowCall) -> CallPlan:
    """Compare the rows up to the last that ties with the group's rows."""
    return Values(PerRow("cume_dist", reads=(FIRST_ROW, LAST_ROW, RUN_END), gives=FLOAT64))


def ntile(call: WindowCall) -> CallPlan:
    """Deal the group's rows to tiles."""
    return Values(PerRow("ntile", reads=(FIRST_ROW, LAST_ROW), constants=(call.constant("n", 1),), gives=INT64))


def lag(call: WindowCall) -> CallPlan:
    """Go back by rows, or by rows that have a value; no row before is the row itself."""
    if call.constant("ignore_nulls", False) and call.offset:
        reads = (FIRST_ROW, PresentRows(call.x.name))
        return moved(call, PerRow("present_before", reads=reads, constants=(call.offset,)))
    return moved(call, PerRow("row_before", reads=(FIRST_ROW,), constants=(call.offset,)))


def lead(call: WindowCall) -> CallPlan:
    """Go on by rows, as in `lag`."""
    if call.constant("ignore_nulls", False) and call.offset:
        reads = (LAST_ROW, PresentRows(call.x.name))
        return moved(call, PerRow("present_after", columns=(call.x.name,), reads=reads, constants=(call.offset,)))
    return moved(call, PerRow("row_after", reads=(LAST_ROW,), constants=(call.offset,)))


def first(call: WindowCall) -> CallPlan:
    """Take the row of the group's first, or the nearest from there on that counts."""
    found = counting_rows("LastMet", call)
    return moved(call, PerRow("row_of_group", reads=(FIRST_ROW, Scan(found, backward=True))) if found else FIRST_ROW)


def last(call: WindowCall) -> CallPlan:
    """Take the row of the group's last, or the last in the group that counts."""
    found = counting_rows("FirstMet", call)
    return moved(call, PerRow("row_of_group", reads=(FIRST_ROW, Scan(found, backward=True))) if found else LAST_ROW)


def ffill(call: WindowCall) -> CallPlan:
    """Take the last row so far that has a value."""
    return moved(call, Scan(present(call.x, "LastMet")))


def bfill(call: WindowCall) -> CallPlan:
    """Take the next row that has a value."""
    return moved(call, Scan(present(call.x, "LastMet"), backward=True))


def moved(call: WindowCall, step: PerRow | Scan) -> CallPlan:
    """Return the values of other rows, and of `default` where there is none."""
    default = call.argument("default") if call.call.function.name in ("lag", "lead") else None
    return Moved(call.x.name, step, default.name if isinstance(default, Column) else None)


def counting_rows(state: str, call: WindowCall) -> Fold | None:
    """Return the fold of the rows that `first` and `last` look at; None where these are all."""
    only, skips = call.argument("only"), call.constant("ignore_nulls", False)
    if not isinstance(only, Column):
        return present(call.x, state) if skips else None
    if not skips:
        return Fold(f"RowOf<{state}, Chosen<{{0}}>>", (only.name,), state_bytes=4)
    return Fold(f"RowOf<{state}, ChosenPresent<{{0}}, {{1}}>>", (only.name, call.x.name), state_bytes=4)


def present(x: Column, state: str) -> Fold:
    """Return the fold of the rows where `x` is not null."""
    return Fold(f"RowOf<{state}, Present<{{0}}>>", (x.name,), state_bytes=4)


def diff(call: WindowCall) -> CallPlan:
    """Subtract the value of a row before."""
    step = PerRow("difference", (call.x.name,), (FIRST_ROW,), (call.offset,), call.dtype, can_fail=True)
    return Values(step)


def pct_change(call: WindowCall) -> CallPlan:
    """Divide by the value of a row before."""
    return Values(PerRow("relative_change", (call.x.name,), (FIRST_ROW,), (call.offset,), FLOAT64))


def count_of(call: WindowCall) -> Fold:
    """Return the fold that counts values."""
    return Fold("Count<Present<{0}>>", (call.x.name,), INT64, state_bytes=8)


def sum_of(call: WindowCall) -> Fold:
    """Return the fold that adds: integers in 128 bits, long decimals in halves."""
    x, out = call.x, {FLOAT64: "double"}.get(call.dtype, "int128_t" if is_decimal(call.dtype) else "int64_t")
    state = "Real" if is_floating(x.dtype) else "Halves" if is_decimal(x.dtype) and x.dtype.precision > 18 else "Whole"
    return with_state("Sum", state, out, call)


def product_of(call: WindowCall) -> Fold:
    """Return the fold that multiplies."""
    floating = is_floating(call.dtype)
    return with_state("Sum", "RealProduct" if floating else "WholeProduct", "double" if floating else "int64_t", call)


def with_state(struct: str, state: str, out: str, call: WindowCall) -> Fold:
    """Return the fold of values in `state`, which comes to the C++ type `out`."""
    text = f"{struct}<{{0}}, {state}, {out}>"
    return Fold(text, (call.x.name,), call.dtype, can_fail=True, state_bytes=SUM_BYTES[state])


def mean_of(call: WindowCall) -> Fold:
    """Return the fold that averages."""
    return Fold("Mean<{0}>", (call.x.name,), FLOAT64)


def least_of(call: WindowCall) -> Fold:
    """Return the fold of the least value, or of the row that has the least text."""
    return extreme_of(call, "false")


def greatest_of(call: WindowCall) -> Fold:
    """Return the fold of the greatest value, or of the row that has the greatest text."""
    return extreme_of(call, "true")


def extreme_of(call: WindowCall, greatest: str) -> Fold:
    """Return the fold of least or greatest values."""
    text = f"ExtremeOf<{{0}}, {greatest}>"
    if call.x.dtype == STRING:
        return Fold(text, (call.x.name,), state_bytes=24)
    return Fold(text, (call.x.name,), call.dtype, state_bytes=32)


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
    function, interval = f"frame_of_interval<{unit(call.time)}LL>", frame.value // MICROSECOND
    return Framed(fold, PerRow(function, (call.time.name,), (FIRST_ROW,), (interval,)), call.rows)


def unit(time: Column) -> int:
    """Return how many microseconds a time counts by."""
    return DAY if time.dtype == DATE else 1


def times(place: int, time: Column) -> str:
    """Return the C++ type of the times in a column."""
    return f"Times<{{{place}}}, {unit(time)}LL>"


def session_id(call: WindowCall) -> CallPlan:
    """Count the steps that are longer than the gap."""
    assert call.time is not None  # the planner has checked the order
    gap = f"{call.constant('gap', None) // MICROSECOND}LL"
    fold = Fold(f"Count<Breaks<{times(0, call.time)}>>", (call.time.name,), INT64, (gap,), state_bytes=8)
    return Values(Scan(fold), null_where=(call.time.name,))


def ewm_mean(call: WindowCall) -> CallPlan:
    """Average with weights that decay by time, by rows, or by a share a row."""
    half_life, span, alpha = (call.constant(name, None) for name in ("half_life", "span", "alpha"))
    if half_life is not None:
        return fading(call, half_life, mean=True)
    weight = alpha if span is None else 2 / (span + 1)
    return decayed(call, None, by_row(1 - weight, weight), mean=True)


def decayed_sum(call: WindowCall) -> CallPlan:
    """Add with weights that decay by time or by rows."""
    return fading(call, call.constant("half_life", None), mean=False)


def fading(call: WindowCall, half_life: Any, mean: bool) -> CallPlan:
    """Return the decay by a half-life: an interval, or a number of seconds where rows have a time, else of rows."""
    length = half_life / timedelta(seconds=1) if isinstance(half_life, timedelta) else float(half_life)
    if call.time is not None:
        return decayed(call, call.time, f"BySeconds<{bits(length)}>", mean)
    return decayed(call, None, by_row(math.exp2(-1 / length), -math.expm1(-1 / length * math.log(2))), mean)


def decayed(call: WindowCall, time: Column | None, decay: str, mean: bool) -> CallPlan:
    """Return the decaying mean or sum of the rows that have a value and, where it decays by time, a time."""
    of = f"Timed<{{0}}, {times(1, time)}>" if time else "Untimed<{0}>"
    columns = (call.x.name, time.name) if time else (call.x.name,)
    struct = f"Decayed<{of}, {decay}, {'true' if mean else 'false'}>"
    return Values(Scan(Fold(struct, columns, FLOAT64, state_bytes=64)), null_where=columns)


def by_row(left: float, weight: float) -> str:
    """Return the C++ type of a decay that is the same at each row."""
    return f"ByRow<{bits(left)}, {bits(weight)}>"


def bits(value: float) -> str:
    """Return the bits of a float as a C++ constant."""
    return f"{struct.unpack('<Q', struct.pack('<d', value))[0]}ULL"


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
    "rolling_sum": rolling(sum_of),
    "rolling_mean": rolling(mean_of),
    "rolling_min": rolling(least_of),
    "rolling_max": rolling(greatest_of),
    "rolling_count": rolling(count_of),
    "rolling_std": rolling(deviation_of),
    "rolling_var": rolling(variance_of),
    "ewm_mean": ewm_mean,
    "decayed_sum": decayed_sum,
    "session_id": session_id,
}

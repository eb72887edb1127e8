"""Means and sums that decay, and sessions: what depends on the time since the row before."""

from __future__ import annotations

import math
import struct
from datetime import timedelta
from typing import Any

from gpuetl.engines.cudf.windows.call import WindowCall, length_in, unit
from gpuetl.engines.cudf.windows.steps import CallPlan, Fold, Scan, Values
from gpuetl.expressions.ir import Column
from gpuetl.types.data_types import FLOAT64, INT64

MOST_HALVINGS = 1e300
"""In a unit of time: infinitely many would be NaN in none."""


def session_id(call: WindowCall) -> CallPlan:
    """Count the steps that are longer than the gap."""
    assert call.time is not None  # the planner has checked the order
    gap = length_in(call.time, call.constant("gap", None))
    fold = Fold("Count<Breaks<Times<{0}>>>", (call.time.name,), INT64, (gap,), state_bytes=4)
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
        return decayed(call, call.time, by_seconds(length, unit(call.time)), mean)
    return decayed(call, None, by_row(math.exp2(-1 / length), -math.expm1(-1 / length * math.log(2))), mean)


def decayed(call: WindowCall, time: Column | None, decay: str, mean: bool) -> CallPlan:
    """Return the decaying mean or sum of the rows that have a value and, where it decays by time, a time."""
    of = "Timed<{0}, Times<{1}>>" if time else "Untimed<{0}>"
    columns = (call.x.name, time.name) if time else (call.x.name,)
    struct = f"Decayed<{of}, {decay}, {'FadingMean' if mean else 'FadingSum'}>"
    return Values(Scan(Fold(struct, columns, FLOAT64, state_bytes=48 if mean else 32)), null_where=columns)


def by_seconds(half_life: float, micros: int) -> str:
    """Return the C++ type of a decay by a time that counts so many microseconds.

    A half-life below any of them leaves nothing after one.
    """
    return f"BySeconds<{bits(max(-micros / 1e6 / half_life, -MOST_HALVINGS))}>"


def by_row(left: float, weight: float) -> str:
    """Return the C++ type of a decay that is the same at each row."""
    return f"ByRow<{bits(left)}, {bits(weight)}>"


def bits(value: float) -> str:
    """Return the bits of a float as a C++ constant."""
    return f"{struct.unpack('<Q', struct.pack('<d', value))[0]}ULL"

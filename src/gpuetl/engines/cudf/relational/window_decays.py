"""Window functions in which earlier rows weigh less, as plans over scans."""

from __future__ import annotations

import math
import struct
from datetime import timedelta

from gpuetl.engines.cudf.relational.window_steps import CallPlan, Fold, Scan, Values, WindowCall, unit
from gpuetl.expressions.ir import Column
from gpuetl.types.data_types import FLOAT64

MOST_HALVINGS = 1e300
"""In a unit of time: infinitely many would be NaN in none."""


def ewm_mean(call: WindowCall) -> CallPlan:
    """Average with weights that decay by time, by rows, or by a share a row."""
    return weighted(call, mean=True)


def decayed_sum(call: WindowCall) -> CallPlan:
    """Add with weights that decay by time, by rows, or by a share a row."""
    return weighted(call, mean=False)


def ewm_moment(call: WindowCall, part: str = "") -> CallPlan:
    """Return the variance with weights that decay as in `ewm_mean`, its root, or what it is calculated from."""
    time, decay = decay_of(call)
    of, columns = rows_of(call, time)
    null_where = columns
    if "weight" in {slot.name for slot in call.call.function.arguments}:
        carried = [call.column(name).name for name in ("weight", "pairs", "squares")]
        of = f"Carrying<{of}, {', '.join(f'{{{len(columns) + place}}}' for place in range(3))}>"
        columns = (*columns, *carried)
    adjusted = bool(call.constant("adjust", False))
    fades = adjusted and time is None and not call.constant("ignore_nulls", True)
    part = (part or call.constant("part", "")).upper() + ("_BIASED" if call.constant("bias", False) else "")
    moments = "AdjustedMoments" if adjusted else "SharedMoments"
    struct = f"DecayedMoment<{of}, {decay}, {moments}, {str(fades).lower()}, {part}>"
    return Values(Scan(Fold(struct, columns, FLOAT64, state_bytes=64 if adjusted else 80)), null_where=null_where)


def weighted(call: WindowCall, mean: bool) -> CallPlan:
    """Return the decaying mean or sum of the rows that have a value and, where it decays by time, a time."""
    time, decay = decay_of(call)
    of, columns = rows_of(call, time)
    struct = f"Decayed<{of}, {decay}, {'DecayedMean' if mean else 'DecayedSum'}>"
    return Values(Scan(Fold(struct, columns, FLOAT64, state_bytes=48 if mean else 32)), null_where=columns)


def rows_of(call: WindowCall, time: Column | None) -> tuple[str, tuple[str, ...]]:
    """Return the C++ type of the rows that have a value and, where it decays by time, a time; and their columns."""
    if time is None:
        return "Untimed<{0}>", (call.x.name,)
    return "Timed<{0}, Times<{1}>>", (call.x.name, time.name)


def decay_of(call: WindowCall) -> tuple[Column | None, str]:
    """Return the time by which a call's rows decay, None for rows alone, and the C++ type of the decay.

    A half-life is an interval, or a number of seconds where rows have a time, else of rows.
    """
    half_life, span, alpha = (call.constant(name, None) for name in ("half_life", "span", "alpha"))
    if half_life is None:
        weight = alpha if span is None else 2 / (span + 1)
        return None, by_row(1 - weight, weight)
    length = half_life / timedelta(seconds=1) if isinstance(half_life, timedelta) else float(half_life)
    if call.time is not None:
        return call.time, by_seconds(length, unit(call.time))
    return None, by_row(math.exp2(-1 / length), -math.expm1(-1 / length * math.log(2)))


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

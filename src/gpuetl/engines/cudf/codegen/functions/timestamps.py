"""Dates and timestamps made, moved and truncated, and durations."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.clocks import clock_text, zone_of, zone_text
from gpuetl.engines.cudf.codegen.cuda_types import c_type
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Literal
from gpuetl.types.calendar_intervals import CALENDAR
from gpuetl.types.data_types import DATE, DataType

HEADER = "timestamps.cuh"
SECOND, DAY = 1_000_000, 86_400_000_000
LENGTHS = {
    "microsecond": 1, "millisecond": 1000, "second": SECOND, "minute": 60 * SECOND, "hour": 3600 * SECOND, "day": DAY,
}  # fmt: skip
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12_000}


def of_units(length: int) -> Device:
    """Return the function that gives the microseconds of a number of units."""
    return Device(lambda _, args: f"micros_of(at, {args[0]}, {length}LL)")


def unit_of(expr: Call) -> str:
    """Return the unit that is a call's first argument."""
    assert isinstance(expr.args[0], Literal)
    return str(expr.args[0].value)


def date_trunc(expr: Call, arguments: Sequence[str]) -> str:
    """Spell the start of a unit."""
    return start(unit_of(expr), expr.args[1].dtype, arguments[1])


def start(unit: str, dtype: DataType, text: str) -> str:
    """Return the text of the unit's start; a date has none smaller than a day."""
    clock = clock_text(dtype, text)
    if (length := LENGTHS.get(unit, DAY)) < DAY:
        return text if dtype == DATE else f"truncated(at, {text}, {clock}, {length}LL)"
    midnight = f"start_of_months({clock}, {MONTHS[unit]})" if unit in MONTHS else f"start_of_{unit}({clock})"
    return on_clock(midnight, dtype)


def on_clock(midnight: str, dtype: DataType) -> str:
    """Return the text of the first moment of a day that a clock shows."""
    if zone := zone_of(dtype):
        return f"instant_of(at, {midnight}, {zone_text(zone)}, EARLIEST, LATEST)"
    return f"naive<{c_type(dtype)}>(at, {midnight})"


def moving(name: str) -> Device:
    """Return the function that moves what a clock shows, and finds when it shows that."""

    def spelling(expr: Call, arguments: Sequence[str]) -> str:
        dtype = expr.args[0].dtype
        moved = f"{name}(at, {clock_text(dtype, arguments[0])}, {arguments[1]})"
        zone = zone_of(dtype)
        return (
            f"instant_of(at, {moved}, {zone_text(zone)}, LATEST, SHIFTED)"
            if zone
            else f"naive<{c_type(dtype)}>(at, {moved})"
        )

    return Device(spelling)


def time_bucket(expr: Call, arguments: Sequence[str]) -> str:
    """Spell the start of a bucket; those of months are counted on the clock."""
    width, x, *origin = expr.args
    if width.dtype != CALENDAR:
        return f"time_bucket({', '.join(['at', *arguments])})"
    assert isinstance(width, Literal)
    start = f"civil({arguments[2]}).months()" if origin else "0"
    return on_clock(
        f"start_of_months_since({clock_text(x.dtype, arguments[1])}, {width.value.months}, {start})", x.dtype
    )


def date_diff(expr: Call, arguments: Sequence[str]) -> str:
    """Spell the count of units of a day or more on the clock, of smaller ones as time between their starts."""
    unit, dtype = unit_of(expr), expr.args[1].dtype
    clocks = ", ".join(clock_text(dtype, text) for text in arguments[1:])
    if unit in MONTHS:
        return f"months_between({clocks}, {MONTHS[unit]})"
    if (length := LENGTHS.get(unit, DAY)) == DAY:
        return f"{unit}s_between({clocks})"
    if dtype == DATE:
        return f"micros_of(at, days_between({clocks}), {DAY // length}LL)"
    a, b = (start(unit, dtype, text) for text in arguments[1:])
    return f"units_between(at, {a}, {b}, {length}LL)"


def date_sub(expr: Call, arguments: Sequence[str]) -> str:
    """Spell the count of whole units, toward zero."""
    unit, dtype = unit_of(expr), expr.args[1].dtype
    clocks = ", ".join(clock_text(dtype, text) for text in arguments[1:])
    if unit in MONTHS:
        return f"months_complete({clocks}) / {MONTHS[unit]}"
    length = 7 * DAY if unit == "week" else LENGTHS[unit]
    if length >= DAY and zone_of(dtype):
        return f"days_complete({clocks}) / {length // DAY}"
    if dtype != DATE:
        return f"units_between(at, {arguments[1]}, {arguments[2]}, {length}LL)"
    days = f"days_between({clocks})"
    return f"{days} / {length // DAY}" if length >= DAY else f"micros_of(at, {days}, {DAY // length}LL)"


FUNCTIONS: dict[str, Device | Library] = {
    "make_date": Device("make_date"),
    "make_timestamp": Device("make_timestamp"),
    "make_time": Device("make_time"),
    "to_timestamp": of_units(SECOND),
    "from_epoch": of_units(SECOND),
    "from_epoch_ms": of_units(1000),
    "from_epoch_us": Device(lambda _, args: args[0]),
    "date_add": moving("later"),
    "add_days": moving("days_later"),
    "add_months": moving("months_later"),
    "date_diff": Device(date_diff),
    "date_sub": Device(date_sub),
    "date_trunc": Device(date_trunc),
    "time_bucket": Device(time_bucket),
    **{f"{unit}s": of_units(length) for unit, length in LENGTHS.items()},
    "weeks": of_units(7 * DAY),
}

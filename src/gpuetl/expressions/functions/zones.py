"""Zones: between what a clock shows (a naive timestamp) and an instant (a zoned one), by the tz database.

The two never mix by themselves.  A clock that is turned back shows some times twice, and one that is turned forward does not
show some at all: both are errors unless `ambiguous` or `nonexistent` says 'earliest' or 'latest'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pyarrow as pa

from gpuetl.expressions.functions.calendar import unknown_zone, with_clock
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, code_of_types, scalar_call
from gpuetl.expressions.functions.timestamps import parts_of_time
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import DATE, NULL, STRING, TIMESTAMP, DataType, type_name
from gpuetl.types.time_zones import zone_named

CHOICES = ("earliest", "latest")
NOON, INSTANT = "TIMESTAMP '2013-07-09 12:00:00'", "TIMESTAMPTZ '2013-07-09 10:00:00+00:00'"


def zoned_type(zone: Expr) -> DataType:
    """Return the type of timestamps of a zone by its name; of UTC where a parameter has no value yet."""
    if zone.dtype != STRING:
        raise TypeMismatch(f"takes the name of a time zone, got {type_name(zone.dtype)}")
    if not isinstance(zone, Literal):
        return pa.timestamp("us", tz="UTC")
    named = zone_named(zone.value)
    if named is None:
        raise unknown_zone(zone.value)
    return pa.timestamp("us", tz=named)


def is_zoned(dtype: DataType) -> bool:
    """Return whether `dtype` is a zoned timestamp."""
    return bool(pa.types.is_timestamp(dtype) and dtype.tz)


def assumed(args: Sequence[Expr]) -> Typing:
    """A naive timestamp, a zone, and what to do with times that it shows twice or never."""
    if args[0].dtype not in (TIMESTAMP, DATE, NULL):
        code = code_of_types(TIMESTAMP, args[0].dtype)
        raise TypeMismatch(coded(code, f"takes a naive timestamp, got {type_name(args[0].dtype)}"))
    for choice in args[2:]:
        if choice.dtype != STRING or (isinstance(choice, Literal) and choice.value not in (*CHOICES, "raise")):
            got = repr(choice.value) if isinstance(choice, Literal) else type_name(choice.dtype)
            raise TypeMismatch(coded("GE1106", f"takes 'earliest', 'latest' or 'raise', got {got}"))
    return [TIMESTAMP, *[STRING] * (len(args) - 1)], zoned_type(args[1])


def zoned_timestamp(args: Sequence[Expr]) -> Typing:
    """A zoned timestamp, whose clock it is."""
    if args[0].dtype != NULL and not is_zoned(args[0].dtype):
        code = code_of_types(pa.timestamp("us", tz="UTC"), args[0].dtype)
        raise TypeMismatch(coded(code, f"takes a zoned timestamp, got {type_name(args[0].dtype)}"))
    return [args[0].dtype], TIMESTAMP


def converted(args: Sequence[Expr]) -> Typing:
    """A zoned timestamp and another zone."""
    return [*zoned_timestamp(args[:1])[0], STRING], zoned_type(args[1])


def changed_over(args: Sequence[Expr]) -> Typing:
    """Naive to zoned, zoned to naive."""
    if is_zoned(args[0].dtype):
        zoned_type(args[1])
        return [args[0].dtype, STRING], TIMESTAMP
    return assumed(args)


def zoned_parts(args: Sequence[Expr]) -> Typing:
    """The parts of a timestamp, and a zone."""
    return [*parts_of_time(args[:6])[0], STRING], zoned_type(args[6])


def at_zone(call: Call) -> Expr:
    """Return the timestamp that a zone's clock shows, at the zone."""
    shown = scalar_call("make_timestamp", call.args[:6], TIMESTAMP)
    return scalar_call("at_time_zone", (shown, call.args[6]), call.dtype)


def with_zone(call: Call) -> Call:
    """Return a call whose zone is named as in the tz database."""
    place = 6 if call.function.name == "make_timestamptz" else 1
    zone = call.args[place]
    if not isinstance(zone, Literal):
        return call
    named = zone_named(zone.value)
    if named is None or named == zone.value:
        return call
    return replace(call, args=(*call.args[:place], replace(zone, value=named), *call.args[place + 1 :]))


FUNCTIONS = (
    Function("at_time_zone", "x zone!", changed_over,
             "`x AT TIME ZONE zone`: the instant at which the zone's clock shows a naive x; what it shows at a zoned x.",
             f"{NOON} AT TIME ZONE 'Europe/Berlin'", datetime(2013, 7, 9, 10, tzinfo=UTC), can_fail=True, rewrite=with_zone),
    Function("assume_zone", "x zone! ambiguous?! nonexistent?!", assumed,
             "The instant at which the zone's clock shows x.  Where the clock is turned forward, 'earliest' is the last microsecond "
             "before, 'latest' the change itself.",
             "assume_zone(TIMESTAMP '2013-10-27 02:30:00', 'Europe/Berlin', 'earliest')",
             datetime(2013, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")), can_fail=True, rewrite=with_zone),
    Function("make_timestamptz", "year month day hour minute second zone!", zoned_parts,
             "The instant at which the zone's clock shows the parts; an error as in `make_timestamp`, and where it shows them twice or never.",
             "make_timestamptz(2013, 7, 9, 12, 0, 0, 'Europe/Berlin')", datetime(2013, 7, 9, 12, tzinfo=ZoneInfo("Europe/Berlin")), can_fail=True,
             rewrite=with_zone, expansion=at_zone),
    Function("local_time", "x", with_clock(zoned_timestamp), "What the clock of x's own zone shows, as a naive timestamp.",
             f"local_time(convert_zone({INSTANT}, 'Europe/Berlin'))", datetime(2013, 7, 9, 12), can_fail=True),
    Function("convert_zone", "x zone!", converted, "The same instant in another zone.", f"convert_zone({INSTANT}, 'Asia/Tokyo')",
             datetime(2013, 7, 9, 10, tzinfo=UTC), rewrite=with_zone),
)  # fmt: skip

"""Between the clocks of zones and instants."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.clocks import clock_text, zone_of, zone_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Literal

HEADER = "zones.cuh"


def assume_zone(expr: Call, arguments: Sequence[str]) -> str:
    """Spell the instant at which the zone's clock shows a naive timestamp."""
    zone, *choices = constants(expr)
    chosen = "".join(f", {choice.upper()}" for choice in choices)
    return f"instant_of(at, clock_of({arguments[0]}), {zone_text(zone)}{chosen})"


def at_time_zone(expr: Call, arguments: Sequence[str]) -> str:
    """Spell naive to zoned, zoned to naive."""
    if zone_of(expr.args[0].dtype):
        return f"timestamp_of(at, clock_of({arguments[0]}, {zone_text(*constants(expr))}))"
    return assume_zone(expr, arguments)


def local_time(expr: Call, arguments: Sequence[str]) -> str:
    """Spell what the clock of x's own zone shows."""
    return f"timestamp_of(at, {clock_text(expr.args[0].dtype, arguments[0])})"


def constants(expr: Call) -> list[str]:
    """Return the arguments in C++ that follow the first argument."""
    return [str(arg.value) for arg in expr.args[1:] if isinstance(arg, Literal)]


FUNCTIONS: dict[str, Device | Library] = {
    "at_time_zone": Device(at_time_zone),
    "assume_zone": Device(assume_zone),
    "local_time": Device(local_time),
    "convert_zone": Device(lambda _, args: args[0]),
}

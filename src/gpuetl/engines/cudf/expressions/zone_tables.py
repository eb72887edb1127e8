"""The tables of zones, in the text of the kernels whose calls and casts read their clocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from gpuetl.engines.cudf.expressions.clocks import zone_identifier, zone_of
from gpuetl.engines.cudf.expressions.functions import HEADERS
from gpuetl.engines.zones import zone_clock
from gpuetl.expressions.ir import Call, Cast, Expr, children, walk
from gpuetl.types.data_types import STRING
from gpuetl.types.time_zones import fixed_offset

CLOCKS = ("calendar.cuh", "moments.cuh", "formats.cuh", "zones.cuh")
NO_CLOCK = ("convert_zone", "epoch", "epoch_ms", "epoch_us", "time_bucket")


def zones_read(exprs: Collection[Expr]) -> set[str]:
    """Return the names of the zones whose clocks the expressions read."""
    return {zone for expr in exprs for node in walk(expr) if reads_clock(node) for zone in zones_beside(node)}


def reads_clock(node: Expr) -> bool:
    """Tell whether a call or cast looks at what a clock shows."""
    if isinstance(node, Cast):
        return bool(node.dtype == STRING)
    if not isinstance(node, Call) or node.function.name in NO_CLOCK:
        return False
    return HEADERS.get(node.function.name) in CLOCKS


def zones_beside(node: Expr) -> Iterator[str]:
    """Yield the zones of a node's operands, and one that is itself an operand."""
    for operand in children(node):
        if zone := zone_of(operand.dtype):
            yield zone
    if isinstance(node, Call) and node.function.name in ("at_time_zone", "assume_zone"):
        yield node.args[1].value  # type: ignore[union-attr]  # a constant


@cache
def zone_table(name: str) -> str:
    """Return the table of a zone and the function that gives it, as C++; nothing of a zone that is an offset."""
    if fixed_offset(name) is not None:
        return ""
    clock, table = zone_clock(name), zone_identifier(name)
    changes = ", ".join(f"{second}LL" for second in clock.transitions) or "0"
    size, repeats = len(clock.transitions), str(clock.repeats).lower()
    return f"""
TABLE int64_t {table}_changes[] = {{{changes}}};
TABLE int32_t {table}_offsets[] = {{{", ".join(map(str, clock.offsets))}}};
DEVICE Zone {table}() {{ return {{{table}_changes, {table}_offsets, {size}, {repeats}}}; }}
"""

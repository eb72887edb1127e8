"""Between the clocks of zones and instants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import NEVER_SHOWN, SHOWN_TWICE
from gpuetl.engines.pandas.expressions.clock import SECOND, Clock, by_row
from gpuetl.engines.zones import Ints, zone_clock
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import TIMESTAMP


def assume_zone(x: Any, zone: Any, ambiguous: Any = None, nonexistent: Any = None) -> Any:
    """The instant at which the zone's clock shows x."""
    name = zone.as_py()
    choices = [choice.as_py() if choice is not None else "raise" for choice in (ambiguous, nonexistent)]
    dtype = pa.timestamp("us", tz=name)
    return by_row(lambda values: instants(Clock.of(values, TIMESTAMP), name, *choices), dtype, x)


def instants(clock: Clock, zone: str, ambiguous: str = "raise", nonexistent: str = "raise") -> Ints:
    """Return the microseconds since 1970 in UTC at which the zone's clock shows this.

    `nonexistent` may be `shifted`: as much later as the clock is turned forward.

    Raises
    ------
    EvaluationError
        For a time that the clock shows twice or never, where no choice is given, and beyond int64.
    """
    local, fraction = clock.days * 86_400 + clock.micros // SECOND, clock.micros % SECOND
    before, after, change = zone_clock(zone).instants_of(local)
    twice, never = before < after, before > after
    if ambiguous == "raise" and twice.any():
        raise EvaluationError(SHOWN_TWICE)
    if nonexistent == "raise" and never.any():
        raise EvaluationError(NEVER_SHOWN)
    never &= nonexistent != "shifted"
    seconds = np.where(never, change, np.where(twice & (ambiguous == "latest"), after, before))
    days, rest = np.divmod(seconds, 86_400)
    micros = np.where(never, 0 if nonexistent == "latest" else -1, fraction)
    return Clock(days, rest * SECOND + micros).microseconds()


def local_time(x: Any) -> Any:
    """What the clock of x's own zone shows."""
    return by_row(lambda values: Clock.of(values, x.type).microseconds(), TIMESTAMP, x)


def convert_zone(x: Any, zone: Any) -> Any:
    """The same instant in another zone."""
    return pc.cast(x, pa.timestamp("us", tz=zone.as_py()))


def at_time_zone(x: Any, zone: Any) -> Any:
    """Naive to zoned, zoned to naive."""
    return local_time(convert_zone(x, zone)) if x.type.tz else assume_zone(x, zone)


HANDLERS: dict[str, Callable[..., Any]] = {
    "at_time_zone": at_time_zone,
    "assume_zone": assume_zone,
    "local_time": local_time,
    "convert_zone": convert_zone,
}

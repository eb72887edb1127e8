"""How close work came to what the links that it used can carry."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.records import dataclass
from gpuetl.telemetry.hardware_limits import HardwareLimits, Link
from gpuetl.units import rate, rounded_percent


@dataclass(frozen=True)
class Limit:
    """The slowest link of some work: the seconds that its bytes need at the measured rate, and their share of all.

    A share above 1 says that the bytes lay in a cache, or that links were used at once by several threads.
    """

    link: Link
    bytes_per_s: float
    seconds: float
    share: float

    def __str__(self) -> str:
        return f"{self.link}, {rounded_percent(self.share)} of {rate(self.bytes_per_s)}"


def limit_of(moved: Mapping[Link, int], seconds: float, limits: HardwareLimits | None) -> Limit | None:
    """Return the limit; None where nothing was moved, or the rate of a link that was used is not known."""
    used = {link: count for link, count in moved.items() if count}
    rates = {link: found.bytes_per_s for link in used if limits and (found := limits.highest(link))}
    if not used or rates.keys() != used.keys() or not seconds:
        return None
    slowest = max(used, key=lambda link: used[link] / rates[link])
    alone = used[slowest] / rates[slowest]
    return Limit(slowest, rates[slowest], alone, alone / seconds)

"""How close work came to what the links that it used can carry."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.records import dataclass
from gpuetl.sizes import size
from gpuetl.telemetry.hardware_limits import Ceilings, Link


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
        share = f"{100 * self.share:.0f}" if self.share >= 0.01 else "under 1"
        return f"{self.link}, {share} % of {size(round(self.bytes_per_s))}/s"


def limit_of(moved: Mapping[Link, int], seconds: float, ceilings: Ceilings | None) -> Limit | None:
    """Return the limit; None where nothing was moved, or the rate of a link that was used is not known."""
    used = {link: count for link, count in moved.items() if count}
    rates = {link: found.bytes_per_s for link in used if ceilings and (found := ceilings.highest(link))}
    if not used or rates.keys() != used.keys() or not seconds:
        return None
    slowest = max(used, key=lambda link: used[link] / rates[link])
    alone = used[slowest] / rates[slowest]
    return Limit(slowest, rates[slowest], alone, alone / seconds)

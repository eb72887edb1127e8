"""Links between files, host and device memory, and how fast bytes cross them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from gpuetl.records import dataclass

Link = Literal[
    "file to host", "file to device", "host to device", "device to host", "host memory", "device memory", "host to file"
]
"""Within a memory, bytes that are read count and those that are written: a copy moves each twice."""
REPEATS = 3


@dataclass(frozen=True)
class LinkLimit:
    """The best of several times in which `bytes` crossed a link in some way, such as `16 threads` or `pinned`."""

    link: Link
    way: str
    bytes: int
    seconds: float

    @property
    def bytes_per_s(self) -> float:
        """The rate."""
        return self.bytes / self.seconds


@dataclass(frozen=True)
class HardwareLimits:
    """What was measured of one machine, which `machine` describes; the host's part only where there is no GPU."""

    machine: str
    measured: tuple[LinkLimit, ...]

    def highest(self, link: Link) -> LinkLimit | None:
        """Return the highest measured rate of a link.

        The seconds of work that several threads share are the sum of theirs, as of files that are written: there it
        is what one thread writes.
        """
        of_link = [found for found in self.measured if found.link == link]
        if link == "host to file":
            return of_link[0] if of_link else None
        return max(of_link, key=lambda found: found.bytes_per_s, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with the rates."""
        rows = [{**vars(found), "bytes_per_s": found.bytes_per_s} for found in self.measured]
        return {"machine": self.machine, "measured": rows}

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> HardwareLimits:
        """Return what `to_dict` gave; raise `KeyError` or `TypeError` for anything else."""
        names = ("link", "way", "bytes", "seconds")
        return cls(data["machine"], tuple(LinkLimit(**{name: row[name] for name in names}) for row in data["measured"]))


def best_seconds(work: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    """Return the least time that a call takes; the first one, which may compile or allocate, does not count."""
    return min([seconds_of(work, prepare) for _ in range(1 + REPEATS)][1:])


def seconds_of(work: Callable[[], object], prepare: Callable[[], object]) -> float:
    """Return the wall time of a call, without that of what is done before."""
    prepare()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

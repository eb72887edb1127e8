"""Measure the memory of a profiled run."""

from __future__ import annotations

import re
import resource
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

PROCESS = Path("/proc/self")
HIGHEST, RESIDENT = re.compile(r"VmHWM:\s+(\d+) kB"), re.compile(r"VmRSS:\s+(\d+) kB")


class MemoryUse(NamedTuple):
    """The bytes of an engine's memory that are in use, and those that may be."""

    in_use: int
    limit: int


class MemoryMeter(Protocol):
    """Measure the most memory in use.  Operations run one after another; they do not nest."""

    def begin(self) -> None:
        """Begin to measure an operation."""

    def end(self) -> int | None:
        """Return the most bytes in use since the operation began, including what others hold; None if unknown."""

    def peaks(self) -> Mapping[str, int]:
        """Return the most bytes in use so far, by kind of memory; `end` reports the first kind."""


class ResidentMemory:
    """The resident set of the process: of an operation where Linux lets its peak be forgotten (proc(5), clear_refs).

    Memory that Arrow's pool and malloc keep for later counts too.
    """

    def __init__(self) -> None:
        self.resets = True
        self.highest = 0

    def begin(self) -> None:
        """Forget the peak of what came before."""
        try:
            (PROCESS / "clear_refs").write_text("5")
        except OSError:
            self.resets = False

    def end(self) -> int | None:
        """Return the peak since `begin`."""
        if not self.resets:
            return None
        peak = status_bytes(HIGHEST)
        self.highest = max(self.highest, peak)
        return peak or None

    def peaks(self) -> Mapping[str, int]:
        """Return the peak of the operations, or the process' where that is all there is; and that of Arrow's pool."""
        process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        return {
            "resident set": self.highest or process,
            "Arrow's pool since the process began": int(pa.default_memory_pool().max_memory() or 0),
        }


class Growth:
    """By how many bytes the resident set has grown since this was made; it may have become smaller."""

    def __init__(self) -> None:
        self.before = self.most = resident_set()
        with suppress(OSError):
            (PROCESS / "clear_refs").write_text("5")
        self.at_first = status_bytes(HIGHEST)

    def __call__(self) -> int:
        """Return the growth."""
        now = resident_set()
        self.most = max(self.most, now)
        return now - self.before

    def highest(self) -> int:
        """Return the greatest growth; where Linux keeps old peaks, the greatest of all calls."""
        self()
        peak = status_bytes(HIGHEST)
        return (self.most if peak == self.at_first else max(self.most, peak)) - self.before


def resident_set() -> int:
    """Return the bytes that the process has in memory."""
    return status_bytes(RESIDENT)


def status_bytes(pattern: re.Pattern[str]) -> int:
    """Read a number of bytes from the status of the process; 0 if the system does not report it."""
    with suppress(OSError):
        if found := pattern.search((PROCESS / "status").read_text()):
            return int(found[1]) << 10
    return 0

"""How much memory there is on the host, and how much a run takes, told while it is profiled."""

from __future__ import annotations

import re
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pyarrow as pa

PROCESS = Path("/proc/self")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
LIMITS = (("memory.max", "memory.current", "inactive_file"),
          ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"))  # fmt: skip
"""Of control groups of version 2 and 1: the limit, what is used, and how much of that is files that nobody needs."""
HOST_SHARE = 0.8
"""What a run may take of the memory that is available: others want some, too."""
AVAILABLE = re.compile(r"MemAvailable:\s+(\d+) kB")
HIGHEST = re.compile(r"VmHWM:\s+(\d+) kB")


def free_host_memory() -> int:
    """Return the bytes that a run may take: a share of what Linux has available, or of what a control group leaves."""
    found = AVAILABLE.search(Path("/proc/meminfo").read_text())
    available = int(found[1]) << 10 if found else 0
    return int(
        HOST_SHARE * min([available, *(left for names in LIMITS if (left := left_of_group(*names)) is not None)])
    )


def left_of_group(limit: str, used: str, cached: str) -> int | None:
    """Return what the control group that the process sees as the outermost one may still take; None without a limit."""
    try:
        most, taken = (int((CONTROL_GROUPS / name).read_text()) for name in (limit, used))
        statistics = ((CONTROL_GROUPS / used).parent / "memory.stat").read_text()
    except (OSError, ValueError):  # no such group, or no limit: the text `max`
        return None
    files = re.search(rf"^{cached} (\d+)", statistics, re.MULTILINE)
    return most - taken + (int(files[1]) if files else 0)


class MemoryMeter(Protocol):
    """Tells of the most memory in use.  Operations run one after another, never one in another."""

    def begin(self) -> None:
        """Take note that an operation begins."""

    def end(self) -> int | None:
        """Return the most bytes in use since it began, also by what others hold; None where nothing tells."""

    def peaks(self) -> Mapping[str, int]:
        """Return the most bytes in use so far, by what was measured; the first is what `end` tells of."""


class HostMemory:
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
        found = HIGHEST.search((PROCESS / "status").read_text())
        peak = int(found[1]) << 10 if found else 0
        self.highest = max(self.highest, peak)
        return peak or None

    def peaks(self) -> Mapping[str, int]:
        """Return the peak of the operations, or the process' where that is all there is; and that of Arrow's pool."""
        process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        return {
            "resident set": self.highest or process,
            "Arrow's pool since the process began": int(pa.default_memory_pool().max_memory() or 0),
        }

"""How much memory the host has for this process: the machine's, or that of its control group where that has less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
NONE_GIVEN = 1 << 60
"""Of the first version's groups: a limit as large as this is none."""


class HostMemory(NamedTuple):
    """Bytes: those that the process may still take, beside what the system can drop, and all that there are."""

    available: int
    total: int


def host_memory(proc: Path = PROC, groups: Path = GROUPS) -> HostMemory:
    """Return what /proc/meminfo tells, or less where a control group of the process, or one around it, has a limit."""
    text = (proc / "meminfo").read_text()
    told = {name: int(kib) << 10 for name, kib in re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE)}
    limits = [HostMemory(told["MemAvailable"], told["MemTotal"])]
    limits += [limit for folder in group_folders(proc, groups) if (limit := group_memory(folder))]
    return HostMemory(max(0, min(limit.available for limit in limits)), min(limit.total for limit in limits))


def group_folders(proc: Path, groups: Path) -> Iterator[Path]:
    """Yield the folders of the process' groups and of those around them, as cgroups(7) says; in a container its own."""
    with suppress(OSError):
        for line in (proc / "self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds in ("", "memory"):
                own = groups / kinds / path.lstrip("/")
                yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(groups / kinds))


def group_memory(folder: Path) -> HostMemory | None:
    """Return what a group of either version leaves; None where it has no limit, or is not to be seen."""
    names = ("memory.max", "memory.current", "inactive_file")
    if not (folder / names[0]).exists():
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    try:
        limit, used = ((folder / name).read_text().strip() for name in names[:2])
        dropped = re.search(rf"^{names[2]} (\d+)", (folder / "memory.stat").read_text(), re.MULTILINE)
    except OSError:
        return None
    if limit == "max" or int(limit) >= NONE_GIVEN:
        return None
    return HostMemory(int(limit) - int(used) + int(dropped[1] if dropped else 0), int(limit))

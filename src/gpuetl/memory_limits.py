"""How much memory the host has for this process, and what to do when it is not enough."""

from __future__ import annotations

import gc
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from gpuetl.errors import OutOfMemory
from gpuetl.units import size

# How much memory the host has for this process: the machine's, or that of its control group where that has less.


PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
NONE_GIVEN = 1 << 60
"""Of the first version's groups: a limit as large as this is none."""


class HostMemory(NamedTuple):
    """Bytes: those that the process may still take, beside what the system can drop, and all that there are."""

    available: int
    total: int


def host_memory(proc: Path = PROC, groups: Path = GROUPS) -> HostMemory:
    """Return the memory in /proc/meminfo, or less if a control group of the process, or a parent group, has a limit."""
    text = (proc / "meminfo").read_text()
    meminfo = {name: int(kib) << 10 for name, kib in re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE)}
    limits = [HostMemory(meminfo["MemAvailable"], meminfo["MemTotal"])]
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
        limit = (folder / names[0]).read_text().strip()
        if limit == "max" or int(limit) >= NONE_GIVEN:
            return None
        used = (folder / names[1]).read_text()
        dropped = re.search(rf"^{names[2]} (\d+)", (folder / "memory.stat").read_text(), re.MULTILINE)
    except OSError:
        return None
    return HostMemory(int(limit) - int(used) + int(dropped[1] if dropped else 0), int(limit))


# Memory that runs out: how errors say so, a step that is done once more, and planning that takes the same steps.


Result = TypeVar("Result")
TELLS = re.compile(r"cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY")
"""In errors of the CUDA runtime and driver that Python gets as another kind than `MemoryError`."""
ASKED = re.compile(r"(?:allocat(?:e|ing)|of size) ([\d.,]*\d) ?([KMGT]?i?B\b)?")
"""As RMM, CuPy, NumPy and Arrow word what they did not get."""


def done_again(step: Callable[[], Result], free: Callable[[], object]) -> Result:
    """Return what a step gives; where memory runs out the first time, free some and do it once more."""
    try:
        return step()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        let_go(error)
    free()
    return step()


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error, or what it was raised from, says that memory ran out."""
    return any(
        isinstance(cause, MemoryError) or (isinstance(cause, RuntimeError) and TELLS.search(str(cause)))
        for cause in causes(error)
    )


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


def let_go(error: BaseException | None) -> None:
    """Clear the local variables of the functions that an error came through, and of those that led to it.

    They would hold frames as long as anybody holds the error.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def allocation_text(error: BaseException) -> str:
    """Return the bytes that were asked for, in words that go before what is in use; nothing where no error tells."""
    found = next((found for cause in causes(error) if (found := ASKED.search(str(cause)))), None)
    return f"{found[1]} {found[2] or 'B'} were asked for, with " if found else ""


def host_memory_text(error: BaseException) -> str:
    """Say what was asked for of the host's memory, where the error tells, and what was in use then."""
    host = host_memory()
    return f"{allocation_text(error)}{size(host.total - host.available)} in use of {size(host.total)}"


def planned_in_memory(step: Callable[[], Result]) -> Result:
    """Return what a step of planning gives; free memory and do it once more where memory runs out the first time.

    Raises
    ------
    OutOfMemory
        Where it did not suffice the second time either.
    """
    try:
        return done_again(step, release_host_memory)
    except Exception as error:
        if isinstance(error, OutOfMemory) or not is_out_of_memory(error):
            raise
        meminfo = host_memory_text(error)
        let_go(error)
    raise OutOfMemory.during("planning", meminfo).advised("Read fewer files, or fewer columns")


def release_host_memory() -> None:
    """Collect garbage, and give back what Arrow's pool keeps."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()

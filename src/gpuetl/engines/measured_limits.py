"""Where measured ceilings are kept: beside the compiled kernels, a file for each kind of machine."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from gpuetl.engines import gpu_driver
from gpuetl.engines.capabilities import Device
from gpuetl.engines.kernel_cache_folder import cache_folder
from gpuetl.telemetry.hardware_limits import HardwareLimits
from gpuetl.threads import thread_count

CPUINFO = Path("/proc/cpuinfo")


def machine_name(device: Device) -> str:
    """Return the processor and the threads of this machine; for the GPU also its first GPU, or nothing without one."""
    host = f"{processor()}, {thread_count()} threads"
    if device == "CPU":
        return host
    gpus = gpu_driver.find_driver().gpus
    return f"{gpus[0]}, {host}" if gpus else ""


@cache
def processor() -> str:
    """Return the processor's name."""
    with suppress(OSError), CPUINFO.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return os.uname().machine


def limits_path(machine: str) -> Path:
    """Return the file of a machine's ceilings."""
    return cache_folder() / f"ceilings-{hashlib.sha256(machine.encode()).hexdigest()[:16]}.json"


def load_limits(device: Device) -> HardwareLimits | None:
    """Return what was measured of this machine with its GPU, or of the host alone; None where nothing was."""
    path = limits_path(machine_name(device))
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = path.stat()
        return _read(path, found.st_mtime_ns, found.st_size)
    return None


@lru_cache(4)
def _read(path: Path, mtime_ns: int, size: int) -> HardwareLimits:
    """Read a file that was changed at this time: every run asks for it."""
    return HardwareLimits.of_dict(json.loads(path.read_text(encoding="utf-8")))


def save_limits(limits: HardwareLimits) -> Path:
    """Keep what was measured; return the file.

    Raises
    ------
    OSError
        Where the folder cannot be written.
    """
    path = limits_path(limits.machine)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(limits.to_dict(), indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)
    return path

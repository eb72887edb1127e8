"""Measures this machine: the host's part, and the GPU's where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpuetl.bench.host import HOST_BYTES, host_ceilings
from gpuetl.engines.measured_limits import machine_name, save_ceilings
from gpuetl.telemetry.hardware_limits import Ceiling, Ceilings


def measure(folder: Path, gpu: bool, size: int = HOST_BYTES) -> Ceilings:
    """Measure this machine's links, with files below `folder`, and keep what was found.

    Raises
    ------
    OSError
        Where the folder or the cache cannot be written.
    """
    host = Ceilings(machine_name("CPU"), tuple(host_ceilings(folder, size)))
    save_ceilings(host)  # what runs on the pandas engine look for
    if not gpu:
        return host
    found = Ceilings(machine_name("GPU"), (*host.measured, *gpu_ceilings(folder)))
    save_ceilings(found)
    return found


def gpu_ceilings(folder: Path) -> Iterator[Ceiling]:
    """Measure what the GPU is part of."""
    from gpuetl.bench.device import memory_ceilings
    from gpuetl.bench.transfers import copy_ceilings, file_ceiling
    from gpuetl.engines.cudf.gpu.machine import machine

    yield from copy_ceilings(machine())
    yield file_ceiling(machine(), folder)
    yield from memory_ceilings(machine())

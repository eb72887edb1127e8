"""Where a run ran: the host, its processor and memory, the GPUs, and the versions of what computed."""

from __future__ import annotations

import platform
import socket
import sys
from collections.abc import Mapping
from functools import cache

from gpuetl.engines import gpu_driver
from gpuetl.engines.measured_limits import processor
from gpuetl.memory_limits import host_memory
from gpuetl.records import dataclass
from gpuetl.threads import thread_count
from gpuetl.version import __version__

MODULES = ("pyarrow", "pandas", "numpy", "distributed", "dask_cuda", "pylibcudf", "rmm", "cupy")
"""What may have computed; a run has imported what it needed."""


@dataclass(frozen=True)
class Environment:
    """Where a run ran.

    `memory` is that of the host in bytes, or the limit of its container.  `gpus` are the names of the GPUs that the
    process may use, and empty for engines on the CPU.  `versions` has packages by name.
    """

    host: str
    processor: str
    threads: int
    memory: int
    gpus: tuple[str, ...]
    versions: Mapping[str, str]


def environment(device: str) -> Environment:
    """Return the environment of a run whose frames are on a device, `GPU` or `CPU`; asks no device that is not used.

    Versions are those of modules that are loaded: to read packages' metadata would take longer than a short run.
    """
    versions = {"gpuetl": __version__, "Python": platform.python_version()}
    for name in MODULES:
        if found := getattr(sys.modules.get(name), "__version__", ""):
            versions[name] = str(found)
    driver = gpu_driver.find_driver() if device == "GPU" else None
    if driver and driver.cuda:
        versions["CUDA of the driver"] = f"{driver.cuda[0]}.{driver.cuda[1]}"
    gpus = driver.gpus if driver else ()
    return Environment(socket.gethostname(), processor(), thread_count(), total_memory(), gpus, versions)


@cache
def total_memory() -> int:
    """Return the bytes of the host's memory; to ask takes a millisecond."""
    return host_memory().total

"""Settings of the machine: threads that read, memory that may be locked, folders that are written."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gpuetl.doctor.finding import Ailment, Finding, Found
from gpuetl.engines.kernel_cache_folder import cache_folder
from gpuetl.sizes import size

THREADS = 16
"""What the engine sets where nothing is set."""
FEW_THREADS = 8
LEAST_FREE = 1 << 30
LEAST_LOCKED = 64 << 20


def setting_findings(has_gpu: bool) -> Iterator[Found]:
    """Yield threads, locked memory and folders."""
    yield from kvikio_threads(os.environ.get("KVIKIO_NTHREADS"))
    yield from locked_memory(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0], has_gpu)
    yield from folder("work folder", Path.cwd(), "cd to a folder that you may write to")
    yield from folder("TMPDIR", temporary(), "export TMPDIR=/a/folder/with/room")
    yield from folder("kernel cache", cache_folder(), "export GPUETL_KERNEL_CACHE=/a/folder/with/room")


def kvikio_threads(value: str | None) -> Iterator[Found]:
    """Yield the threads with which files are read."""
    yield Finding("settings", "KvikIO threads", value if value is not None else f"{THREADS}, which the engine sets")
    if value is not None and not (value.isdecimal() and int(value) >= FEW_THREADS):
        yield Ailment(f"KVIKIO_NTHREADS is '{value}': files are read slowly", f"export KVIKIO_NTHREADS={THREADS}")


def locked_memory(limit: int, has_gpu: bool) -> Iterator[Found]:
    """Yield how much memory a process may lock, which links between GPUs and network cards need."""
    text = "no limit" if limit == resource.RLIM_INFINITY else f"up to {size(limit)}"
    yield Finding("settings", "locked memory", text)
    if has_gpu and limit != resource.RLIM_INFINITY and limit < LEAST_LOCKED:
        yield Ailment(f"a process may lock {size(limit)} of memory only", "ulimit -l unlimited")


def folder(name: str, path: Path, fix: str) -> Iterator[Found]:
    """Yield a folder's free space, and whether it can be written; of one that is not there yet, its parent's."""
    there = next((p for p in (path, *path.parents) if p.exists()), Path("/"))
    free, writable = shutil.disk_usage(there).free, there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    yield Finding("disk", name, f"{path}, {size(free)} free{'' if writable else ', not writable'}")
    if not writable:
        yield Ailment(f"the {name} {path} cannot be written", fix)
    elif free < LEAST_FREE:
        yield Ailment(f"the {name} {path} has {size(free)} free", fix)


def temporary() -> Path:
    """Return the folder for temporary files, also where it cannot be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return Path(os.environ.get("TMPDIR", "/tmp"))

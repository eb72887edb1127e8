"""Kernels' machine code, kept on disk by value: the text, the compiler and its options, and the architecture."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from cupy.cuda import compiler, device, function, nvrtc

from gpuetl.backends.cudf.gpu.ahead import Ahead
from gpuetl.kernels.cache import cache_folder
from gpuetl.report.recorder import compiling
from gpuetl.report.trace import span

OPTIONS = ("--std=c++17", "--device-int128", "-fmad=false")
"""No contraction into fused multiply-adds, and no flushing of small float32: results must be what they are on a CPU.

CuPy's own cache is not used since `RawModule` always flushes them.
"""


def loaded(source: str) -> Any:
    """Return the module of a text, compiled unless it was before, in this or another process."""
    module = function.Module()
    module.load(machine_code(source))
    return module


def machine_code(source: str) -> bytes:
    """Return a text's machine code for the current device; a cache that cannot be written is left alone."""
    path = path_of(source)
    with suppress(OSError):
        return path.read_bytes()
    with compiling(), span("compile", "compilation"):
        code: bytes = ahead().result(path, partial(compiled, source, path))
    return code


def expect(source: str) -> Future[bytes] | None:
    """Begin to compile a text that will be asked for, on another thread, unless it is in the cache."""
    path = path_of(source)
    return None if path.exists() else ahead().expect(path, partial(compiled, source, path))


def compiled(source: str, path: Path) -> bytes:
    """Compile a text, and keep it."""
    code, _ = compiler.compile_using_nvrtc(source, OPTIONS)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        made.write_bytes(code)
        made.replace(path)
    return bytes(code)


def path_of(source: str, suffix: str = "cubin") -> Path:
    """Return where what is made of a text is kept."""
    made_for = f"{nvrtc.getVersion()} {device.Device().compute_capability} {OPTIONS}"
    return cache_folder() / f"{hashlib.sha256(f'{made_for} {source}'.encode()).hexdigest()[:32]}.{suffix}"


def ahead() -> Ahead:
    """Return the threads that compile for the current device."""
    return _ahead(device.get_device_id())


@cache
def _ahead(number: int) -> Ahead:
    return Ahead(lambda: device.Device(number).use())

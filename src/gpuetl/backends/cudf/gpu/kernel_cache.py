"""Kernels' machine code, kept on disk by value: the text, the compiler and its options, and the architecture."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from typing import Any

from cupy.cuda import compiler, device, function, nvrtc

from gpuetl.kernels.cache import cache_folder
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
    made_for = f"{nvrtc.getVersion()} {device.Device().compute_capability} {OPTIONS}"
    path = cache_folder() / f"{hashlib.sha256(f'{made_for} {source}'.encode()).hexdigest()[:32]}.cubin"
    with suppress(OSError):
        return path.read_bytes()
    with span("compile", "compilation"):
        code, _ = compiler.compile_using_nvrtc(source, OPTIONS)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        made.write_bytes(code)
        made.replace(path)
    return bytes(code)

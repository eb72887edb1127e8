"""Kernels' machine code, kept on disk by value: the text, the compiler and its options, and the architecture."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from threading import get_ident
from typing import Any

from cupy.cuda import compiler, device, function, nvrtc

from gpuetl.backends.cudf.gpu.ahead import Ahead
from gpuetl.backends.cudf.gpu.nvrtc_processes import NvrtcProcesses, loaded_library
from gpuetl.kernels.cache import cache_folder, forget_oldest
from gpuetl.report.recorder import compiling
from gpuetl.report.trace import span

OPTIONS = ("--std=c++17", "--device-int128", "-fmad=false")
"""No contraction into fused multiply-adds, and no flushing of small float32: results must be what they are on a CPU.

CuPy's own cache is not used since `RawModule` always flushes them.
"""
_ASKED: set[Path] = set()
"""What this process has loaded."""
PROCESSES = NvrtcProcesses(lambda: loaded_library(nvrtc.getVersion()))
"""What compiles ahead."""


def loaded(source: str) -> Any:
    """Return the module of a text, compiled unless it was before, in this or another process; to be asked once."""
    path = path_of(source)
    _ASKED.add(path)
    module = ahead().result((path, "module"), partial(kept_module, path))
    if module is None:
        with compiling(), span("compile", "compilation"):
            code = ahead().result(path, partial(compiled, source, path))
        module = module_of(code)
    return module


def load_ahead(names: Iterable[str]) -> None:
    """Begin to load what texts that will be asked for were made into, by its names in the cache, on other threads."""
    for path in (cache_folder() / name for name in names):
        if path not in _ASKED:
            ahead().expect((path, "module"), partial(kept_module, path))


def kept_module(path: Path) -> Any:
    """Return a module that is in the cache, None where it is not; it is used, and so not among the oldest."""
    try:
        code = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):
        os.utime(path)
    return module_of(code)


def module_of(code: bytes) -> Any:
    """Load machine code."""
    module = function.Module()
    module.load(code)
    return module


def expect(source: str, path: Path) -> Future[bytes] | None:
    """Begin to compile a text that will be asked for, on another thread, unless it is in the cache."""
    return None if path.exists() else ahead().expect(path, partial(compiled, source, path, compiled_apart))


def compiled_here(source: str) -> bytes:
    """Compile a text for the current device; raise CuPy's error."""
    return bytes(compiler.compile_using_nvrtc(source, OPTIONS)[0])


def compiled_apart(source: str) -> bytes:
    """Compile a text in a process of NVRTC's own as CuPy would, or here where that gives nothing."""
    options = (*OPTIONS, f"-arch=sm_{device.Device().compute_capability}", "--device-as-default-execution-space")
    by_ptx = os.environ.get("CUPY_COMPILE_WITH_PTX")  # for drivers older than NVRTC
    return (None if by_ptx else PROCESSES.compiled(source, options)) or compiled_here(source)


def compiled(source: str, path: Path, compile_text: Callable[[str], bytes] = compiled_here) -> bytes:
    """Compile a text for the current device, and keep it, unless another process has done so meanwhile.

    A cache that cannot be written is left alone.
    """
    with suppress(OSError):
        return path.read_bytes()
    code = compile_text(source)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}.{get_ident()}")  # threads may be at the same text
        made.write_bytes(code)
        made.replace(path)
    forget_once()
    return code


@cache
def forget_once() -> None:
    """Keep the cache small, in a process that adds to it."""
    forget_oldest(cache_folder())


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

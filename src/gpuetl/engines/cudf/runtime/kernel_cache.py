"""Kernels' machine code, looked for in the wheel, then in the cache on disk, and else compiled: see machine_code.py.

CuPy's own cache is not used since `RawModule` always flushes small float32.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, as_completed, wait
from contextlib import suppress
from contextvars import copy_context
from functools import cache, partial
from pathlib import Path
from threading import Thread
from typing import Any

from cupy.cuda import compiler, device, driver, function, nvrtc

from gpuetl.engines.cudf.codegen.compile_ahead import CompilePool, most_threads
from gpuetl.engines.cudf.codegen.device_headers import closed_programs, closed_source, common_programs
from gpuetl.engines.cudf.codegen.machine_code import (
    OPTIONS,
    Compiler,
    Target,
    by_ptx,
    read_entry,
    write_entry,
    write_mark,
)
from gpuetl.engines.cudf.codegen.nvrtc import user_options
from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcesses, loaded_library
from gpuetl.engines.cudf.machine import KernelSource
from gpuetl.engines.kernel_cache_folder import cache_folder, forget_oldest
from gpuetl.places.paths import FilePath
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import compiling, note, show_progress
from gpuetl.telemetry.trace import span

CompileUserKernel = Callable[[str, FilePath, str], Any]
_REQUESTED_PATHS: set[Path] = set()
"""What this process has loaded."""
PROCESSES = NvrtcProcesses(lambda: loaded_library(nvrtc.getVersion()))
"""What compiles ahead."""
atexit.register(PROCESSES.end)
AT_START = 4
"""How many processes a run that has not listed its programs starts at most; more are started when they are needed."""
EMPTY = 'extern "C" __global__ void nothing() {}'
"""The first program of a process takes longer than others."""


def loaded(source: str) -> Any:
    """Return the module of a text, compiled unless it was before, in this or another process; to be asked once."""
    path = path_of(source)
    _REQUESTED_PATHS.add(path)
    module = ahead().result((path, "module"), partial(kept_module, path))
    if module is None:
        with compiling(), span("compile", "compilation"):
            own = own_path(source)  # the wheel's, which the driver has refused, is another one
            code = ahead().result(own, partial(compiled, source, own))
        module = module_of(code)
    return module


def make_ahead(kernel_sources: Iterable[KernelSource], compile_user_kernel: CompileUserKernel, mark: Path) -> None:
    """Begin to load or to compile sources that will be asked for, on other threads; return when all are compiled.

    The mark then tells later processes which entries to load.  It does not name users' kernels, which CuPy keeps.
    """
    futures, paths = list[Future[Any]](), [path_of(closed_source(program)) for program in common_programs()]
    for text in kernel_sources:
        if text.path is not None:
            make = partial(compile_user_kernel, text.source, text.path, text.kernel)
            futures.append(ahead().expect((text.source, text.path, text.kernel), make))
            continue
        if text.covered and not path_of(text.source).exists():
            continue
        paths.append(path_of(text.source))
        if future := make_text_ahead(text.source):
            futures.append(future)
    wait(futures)
    PROCESSES.end_idle()
    if not ahead().stopped:
        write_mark(mark, paths)


def start_processes() -> None:
    """Begin to start the first processes that compile, while the plan's programs are listed."""
    compiled_for = target()
    if not compiled_for.ptx:
        for number in range(min(AT_START, most_threads())):
            ahead().expect(("process", number), partial(PROCESSES.compiled, EMPTY, compiled_for.apart_options()))


def load_ahead(paths: Iterable[Path]) -> None:
    """Begin to load entries that will be asked for, on other threads."""
    for path in paths:
        if path not in _REQUESTED_PATHS:
            ahead().expect((path, "module"), partial(kept_module, path))


def make_text_ahead(source: str) -> Future[bytes] | None:
    """Begin to load a text's entry, or return the future of a text that has none; leave what has been asked for."""
    if (path := path_of(source)) in _REQUESTED_PATHS:
        return None
    if (future := expect(source, path)) is None:
        load_ahead([path])
    return future


def is_missing(source: str, expected: bool) -> bool:
    """Return whether no entry has a text's machine code yet; begin to compile one that is expected again."""
    path = path_of(source)
    if path.exists():
        return False
    if expected:
        ahead().expect(path, partial(compiled, source, path, compiled_apart), len(source))
    return True


def user_kernel(compile_user_kernel: CompileUserKernel, source: str, path: FilePath, entry: str) -> Any:
    """Return a user's kernel, compiled ahead or now; raise what compiling it raises."""
    return ahead().result((source, path, entry), partial(compile_user_kernel, source, path, entry))


def kept_module(path: Path) -> Any:
    """Return the module of an entry; None where it is not there, is damaged, or the driver refuses it.

    It is used, and so not among the oldest.
    """
    code = read_entry(path)
    if code is None:
        return None
    if path.parent == cache_folder():
        with suppress(OSError):
            os.utime(path)
    with suppress(driver.CUDADriverError):
        return module_of(code)
    return None


def module_of(code: bytes) -> Any:
    """Load machine code."""
    module = function.Module()
    module.load(code)
    return module


def expect(source: str, path: Path) -> Future[bytes] | None:
    """Begin to compile a text that will be asked for, on another thread, unless it is in the cache."""
    return None if path.exists() else ahead().expect(path, partial(compiled, source, path, compiled_apart), len(source))


def compiled_here(source: str) -> bytes:
    """Compile a text for the current device; raise CuPy's error."""
    return bytes(compiler.compile_using_nvrtc(source, OPTIONS)[0])


def compiled_apart(source: str) -> bytes:
    """Compile a text in a process of NVRTC's own to what CuPy would make of it, or here where that gives nothing."""
    compiled_for = target()
    code = None if compiled_for.ptx else PROCESSES.compiled(source, compiled_for.apart_options())
    return code or compiled_here(source)


def compiled(source: str, path: Path, compile_text: Callable[[str], bytes] = compiled_here) -> bytes:
    """Compile a text for the current device, and keep it, unless another process has done so meanwhile.

    A cache that cannot be written is left alone.
    """
    if (code := read_entry(path)) is not None:
        return code
    code = compile_text(source)
    with suppress(OSError):
        write_entry(path, code)
    forget_once()
    return code


@cache
def forget_once() -> None:
    """Keep the cache small, in a process that adds to it."""
    forget_oldest(cache_folder())


def path_of(source: str) -> Path:
    """Return where what is made of a text is kept: in the wheel, or in the cache."""
    shipped = target().shipped(source)
    return shipped if shipped.exists() else own_path(source)


def own_path(source: str) -> Path:
    """Return where the cache keeps what is made of a text."""
    return cache_folder() / target().name(source)


def target() -> Target:
    """Return what sources are compiled for: the current device."""
    return Target(f"sm_{device.Device().compute_capability}", nvrtc_here(), by_ptx())


@cache
def nvrtc_here() -> Compiler:
    """Return the compiler that CuPy has loaded."""
    version = nvrtc.getVersion()
    return Compiler.of(version, loaded_library(version))


class KeptKernel:
    """A user's kernel that is in the cache, to be called as CuPy's `RawKernel`."""

    def __init__(self, code: bytes, entry: str) -> None:
        self.function = module_of(code).get_function(entry)
        self.max_threads_per_block = driver.funcGetAttribute(MAX_THREADS_PER_BLOCK, self.function.ptr)

    @property
    def shared_size_bytes(self) -> int:
        """The shared memory that the kernel's text declares itself."""
        return int(driver.funcGetAttribute(SHARED_SIZE_BYTES, self.function.ptr))

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """The shared memory that a launch may give."""
        return int(driver.funcGetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, self.function.ptr))

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        driver.funcSetAttribute(self.function.ptr, MAX_DYNAMIC_SHARED_SIZE_BYTES, size)

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...], *, shared_mem: int = 0
    ) -> None:
        """Launch it."""
        self.function(grid, block, arguments, shared_mem)


MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES, MAX_DYNAMIC_SHARED_SIZE_BYTES = 0, 1, 8
"""CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK and so on."""


def kept_user_kernel(text: str, entry: str) -> KeptKernel | None:
    """Return a kernel of a CUDA file that `gpuetl kernel build` has compiled; None for any other."""
    code = read_entry(cache_folder() / target().name(text, user_options(text)))
    return None if code is None else KeptKernel(code, entry)


def mark_of(plan: str) -> Path:
    """Return the file that lists what the kernels of a plan are made into, where they have been."""
    return cache_folder() / target().mark(plan)


@cache
def expect_closed_set() -> Thread | None:
    """Begin to load all programs of the closed set from the wheel or the cache, and to compile those that are missing.

    The largest come first.  A note of the run says that programs are compiled, and a thread shows the progress.
    """
    sources = sorted(map(closed_source, closed_programs()), key=len, reverse=True)
    compilations = [future for source in sources if (future := make_text_ahead(source))]
    if not compilations:
        return None
    what = f"{len(compilations)} programs that all pipelines share were compiled for this GPU, once on this machine"
    note(f"{what}; `gpuetl kernel build` does so before a run")
    show = Thread(
        target=partial(copy_context().run, show_closed_set, compilations), name="gpuetl-closed-set", daemon=True
    )
    show.start()
    return show


def show_closed_set(compilations: list[Future[bytes]]) -> None:
    """Show how many of the closed set are done, then let the processes that compiled them rest."""
    for done, _ in enumerate(as_completed(compilations), 1):
        show_progress(Origin("kernels", "of all pipelines"), done, len(compilations))
    PROCESSES.end_idle()


def ahead() -> CompilePool:
    """Return the threads that compile for the current device."""
    return _ahead(device.get_device_id())


@cache
def _ahead(number: int) -> CompilePool:
    return CompilePool(lambda: device.Device(number).use())

"""Kernels that a run will ask for, compiled ahead."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import Any

from cupy.cuda import device

from gpuetl.backends.cudf.gpu.kernel_cache import PROCESSES, ahead, expect, path_of
from gpuetl.kernels.machine_code import write_mark

CompileUserKernel = Callable[[str, Path, str], Any]


class ExpectedKernels:
    """Those of one plan; `mark` is a file that tells later runs that they are in the cache, and under which names.

    A cache that cannot be written keeps no mark, and the plan is rehearsed again: it keeps no kernels either.
    """

    def __init__(self, compile_user_kernel: CompileUserKernel, mark: Path) -> None:
        self.compile_user_kernel, self.mark = compile_user_kernel, mark
        self.device = device.Device()
        self.futures: list[Future[Any]] = []
        self.paths: dict[Path, None] = {}

    def source(self, source: str) -> None:
        """Begin to compile a text that is not in the cache."""
        self.device.use()  # a thread begins with the first one
        path = path_of(source)
        if path not in self.paths and (future := expect(source, path)):
            self.futures.append(future)
        self.paths[path] = None

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        """Begin to compile a user's kernel, which CuPy keeps."""
        self.device.use()
        make = partial(self.compile_user_kernel, source, path, str(entry))
        self.futures.append(ahead().expect((source, path, entry), make))

    def end(self) -> None:
        """Wait for all, end what compiled them, and leave the mark, unless the process ends before."""
        wait(self.futures)
        PROCESSES.end()
        if not ahead().stopped:
            write_mark(self.mark, self.paths)


def user_kernel(compile_user_kernel: CompileUserKernel, source: str, path: Path, entry: str) -> Any:
    """Return a user's kernel, compiled ahead or now; raise what compiling it raises."""
    return ahead().result((source, path, entry), partial(compile_user_kernel, source, path, entry))

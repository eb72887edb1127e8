"""Kernels that a run will ask for, compiled ahead on threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from gpuetl.backends.cudf.gpu.kernel_cache import ahead, expect

CompileUserKernel = Callable[[str, Path, str], Any]


class ExpectedKernels:
    """Those of one plan; `mark` is a file that tells later runs that they are in the cache.

    A cache that cannot be written keeps no mark, and the plan is rehearsed again: it keeps no kernels either.
    """

    def __init__(self, compile_user_kernel: CompileUserKernel, mark: Path) -> None:
        self.compile_user_kernel, self.mark = compile_user_kernel, mark
        self.futures: list[Future[Any]] = []

    def source(self, source: str) -> None:
        """Begin to compile a text that is not in the cache."""
        if future := expect(source):
            self.futures.append(future)

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        """Begin to compile a user's kernel, which CuPy keeps."""
        make = partial(self.compile_user_kernel, source, path, str(entry))
        self.futures.append(ahead().expect((source, path, entry), make))

    def end(self) -> None:
        """Wait for all, and leave the mark, unless the process ends before."""
        wait(self.futures)
        if ahead().stopped:
            return
        with suppress(OSError):
            self.mark.parent.mkdir(parents=True, exist_ok=True)
            self.mark.touch()


def user_kernel(compile_user_kernel: CompileUserKernel, source: str, path: Path, entry: str) -> Any:
    """Return a user's kernel, compiled ahead or now; raise what compiling it raises."""
    return ahead().result((source, path, entry), partial(compile_user_kernel, source, path, entry))

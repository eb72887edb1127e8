"""Kernels that a run will ask for, compiled ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import cupy
from cupy.cuda import device

from gpuetl.backends.cudf.gpu.kernel_cache import PROCESSES, ahead, expect, path_of
from gpuetl.backends.cudf.rehearsal.arrays import ArrayOf
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
        self.calls: set[tuple[Any, ...]] = set()
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

    def array_call(self, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Make a call of CuPy's with two items an array, for which it compiles its kernel, and keeps it."""
        call = (name, arguments, tuple(keywords.items()))
        with suppress(TypeError):  # what cannot be a key is left alone
            if call not in self.calls:
                self.calls.add(call)
                self.futures.append(ahead().expect(("cupy", *call), partial(called, *call)))

    def end(self) -> None:
        """Wait for all, end what compiled them, and leave the mark, unless the process ends before."""
        wait(self.futures)
        PROCESSES.end()
        if not ahead().stopped:
            write_mark(self.mark, self.paths)


def user_kernel(compile_user_kernel: CompileUserKernel, source: str, path: Path, entry: str) -> Any:
    """Return a user's kernel, compiled ahead or now; raise what compiling it raises."""
    return ahead().result((source, path, entry), partial(compile_user_kernel, source, path, entry))


def called(name: str, arguments: tuple[Any, ...], keywords: tuple[tuple[str, Any], ...]) -> None:
    """Make a call of CuPy's on arrays of zeros; one that has no such result is nobody's concern.

    Nothing of it is kept: neither a result nor an error, whose frames would hold the arrays.  Nothing waits for it.
    """
    with suppress(Exception), cupy.cuda.Stream(non_blocking=True):
        array, *others = made = [argument_of(each) for each in arguments] or [None]
        if name == "getitem":
            array[others[0]]
        elif name == "setitem":
            array[others[0]] = others[1]
        elif name == "astype":
            array.astype(others[0])
        else:
            getattr(cupy, name)(*made[: len(arguments)], **{key: argument_of(each) for key, each in keywords})


def argument_of(described: Any) -> Any:
    """Return an argument: arrays of zeros in the place of descriptions."""
    if isinstance(described, ArrayOf):
        return cupy.zeros((2,) * described.dimensions, described.dtype)
    return [argument_of(each) for each in described] if isinstance(described, tuple) else described

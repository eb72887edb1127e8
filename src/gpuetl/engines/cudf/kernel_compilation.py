"""Whether kernels compile: NVRTC, or nvcc for CUDA files, says so without a GPU."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NO_COMPILER = "no NVRTC and no nvcc was found; pip install nvidia-cuda-nvrtc-cu12"
NVCC_S = 120


class UserKernel(NamedTuple):
    """A text to compile: a user's CUDA file, or what is generated around the texts of a step, which has no path."""

    source: str
    path: Path | None


class NotChecked(Exception):
    """A text that could not be compiled here for another reason than itself; worded for the user."""


def compile_log(kernel: UserKernel) -> str:
    """Return what a compiler says of a text; nothing where it compiles.

    Raises
    ------
    NotChecked
        Where there is no compiler, or it does not find a header.
    """
    if (nvrtc := library()) is not None:
        log = by_nvrtc(nvrtc, kernel)
    elif (nvcc := shutil.which("nvcc")) and kernel.path is not None:
        log = by_nvcc(nvcc, kernel.source, kernel.path)
    else:
        raise NotChecked(NO_COMPILER)
    if "cannot open source file" in log or "could not open source file" in log:
        raise NotChecked(f"a header was not found here: {log.strip().splitlines()[0]}")
    return log


@cache
def library() -> ctypes.CDLL | None:
    """Return NVRTC, of its wheel or of a CUDA toolkit, if there is one that can be loaded."""
    for path in library_paths():
        try:
            return ctypes.CDLL(str(path))
        except OSError:
            continue
    return None


def library_paths() -> Iterator[Path | str]:
    """Yield where NVRTC may be."""
    found = find_spec("nvidia")
    for folder in (found.submodule_search_locations or []) if found else []:
        yield from sorted(Path(folder).glob("*/lib/libnvrtc.so*"))
    toolkits = [
        Path(sys.prefix),
        *(Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ),
    ]
    for toolkit in [*toolkits, Path("/usr/local/cuda")]:
        for name in ("lib", "lib64"):
            yield from sorted((toolkit / name).glob("libnvrtc.so*"))
    yield "libnvrtc.so"


def by_nvrtc(nvrtc: ctypes.CDLL, kernel: UserKernel) -> str:
    """Compile for the newest GPU that NVRTC knows, with the options of the engine."""
    from gpuetl.engines.cudf.gpu.compiler import named

    text = kernel.source if kernel.path is None else named(kernel.source, kernel.path)
    own = ("--device-int128",) if kernel.path is None else ()
    architecture = f"--gpu-architecture=compute_{newest(nvrtc)}"
    options = [o.encode() for o in ("--std=c++17", "--device-as-default-execution-space", *own, architecture)]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
        raise NotChecked("NVRTC does not take the text")
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0:
            return ""
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        return log.value.decode(errors="replace") or "it does not compile"
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def newest(nvrtc: ctypes.CDLL) -> int:
    """Return the newest architecture: texts may use all that it has."""
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(numbers)
    return int(max(numbers))


def by_nvcc(nvcc: str, source: str, path: Path) -> str:
    """Compile the text of a CUDA file to PTX that is thrown away."""
    from gpuetl.engines.cudf.gpu.compiler import named

    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "kernel.cu"
        text.write_text(named(source, path), encoding="utf-8")
        command = [nvcc, "-std=c++17", "--ptx", "-o", f"{folder}/kernel.ptx", str(text)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=NVCC_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotChecked(f"nvcc failed: {error}") from None
    return "" if done.returncode == 0 else done.stdout + done.stderr

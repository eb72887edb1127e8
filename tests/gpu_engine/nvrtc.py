"""Compiles CUDA for a GPU that need not be there, by NVIDIA's runtime compiler."""

import ctypes
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

OPTIONS = ("--std=c++17", "--device-as-default-execution-space", "--device-int128", "-fmad=false")
"""Those of `runtime/kernel_cache.py`, and the one that CuPy adds."""
ARCHITECTURES = ("sm_75", "sm_100")
"""The oldest and the newest that RAPIDS runs on: no text asks which one it is compiled for."""
QUICKLY = "--Ofast-compile=max"
"""Leaves out optimizations.  With it a text compiles in a third of the time; the oldest architecture has them all."""

CHECKED = [
    pytest.param(ARCHITECTURES[0], marks=pytest.mark.full(reason="kernels by NVRTC with all optimizations")),
    ARCHITECTURES[-1],
]
"""Architectures as parameters of tests: a text compiles for both or for none, but for what only optimizing finds."""


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiler, if its wheel is installed."""
    found = find_spec("nvidia")
    folders = [Path(place) for place in (found.submodule_search_locations or [])] if found else []
    paths = sorted(path for folder in folders for path in folder.glob("*nvrtc/lib/libnvrtc.so*"))
    return ctypes.CDLL(str(paths[0])) if paths else None


def problems(source: str, architecture: str) -> str:
    """Return what the compiler says of a text: nothing where it compiles."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None) == 0
    quickly = [QUICKLY] if architecture == ARCHITECTURES[-1] else []
    options = [option.encode() for option in (*OPTIONS, *quickly, f"--gpu-architecture={architecture}")]
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0:
            return ""
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        return log.value.decode()
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))

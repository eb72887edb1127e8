"""Whether users' kernels compile, with which options, and what the compiler says of them, without a GPU."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from gpuetl.engines.cudf.codegen.machine_code import STANDARD
from gpuetl.engines.gpu_driver import version_of
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.user_kernels.cuda_headers import COMMENTS, line_at, line_mark

# How users' CUDA files are compiled: as CuPy's `RawModule` does, with CUDA's usual contractions.


_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
HEADERS = "-DGPUETL_HEADERS="
"""A macro that nobody uses; it puts the versions of headers among the options, and so into the names of entries."""
PACKAGES = ("cupy-cuda12x", "cupy-cuda13x", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime", "nvidia-cuda-cccl-cu12")
"""Those that have headers."""


def user_options(text: str) -> tuple[str, ...]:
    """Return the options for a CUDA file, of which own headers are a part; others' folders are those of CuPy."""
    options = with_folders() if _INCLUDE.search(COMMENTS.sub(" ", text)) else (STANDARD,)
    debug = ("--device-debug", "--generate-line-info") if os.environ.get("CUPY_CUDA_COMPILE_WITH_DEBUG") == "1" else ()
    return (*options, "-ftz=true", *debug)


@cache
def with_folders() -> tuple[str, ...]:
    """Return options with the folders of headers that CuPy takes; without any where it is not installed."""
    try:
        from cupy._core import core  # it needs no GPU

        options = core.assemble_cupy_compiler_options((STANDARD,))
    except Exception:
        options = (STANDARD,)
    versions = (f"{name}_{version}" for name in PACKAGES if (version := version_of(name)))
    return (*options, HEADERS + re.sub(r"\W", "_", "_".join(versions)))


# What a compiler of CUDA says of a user's text, and what a kernel takes.


_COMPILER_MESSAGE = re.compile(
    r"^(?P<file>.+?)(?:\((?P<line>\d+)\)|:(?P<other_line>\d+):\d+): "
    r"(?P<what>(?:(?:catastrophic|fatal) )?(?:error|warning).*)$"
)
"""As NVRTC and C++ compilers word where an error is."""
_MARGIN = re.compile(r"^ *\d* \|(?= )")
_ERROR = re.compile(r": (?:catastrophic |fatal )?error: ")


def named(source: str, path: FilePath) -> str:
    """Return a user's text under the name of its file, which the compiler then tells places by."""
    return line_mark(1, path) + source


def is_c_function(source: str, entry: str) -> bool:
    """Tell whether a kernel is declared `extern "C"`, by itself or in a block; a header may have such a block, too."""
    text = COMMENTS.sub(" ", source)
    declared = re.search(rf"\b{re.escape(entry)}\s*\(", text)
    before = text[: declared.start()] if declared else text
    if re.search(r'extern\s*"C"[^;{}]*$', before):
        return True
    blocks = [found.end() for found in re.finditer(r'extern\s*"C"\s*\{', before)]
    return any(_is_open(before[start:]) for start in blocks)


def _is_open(text: str) -> bool:
    """Return whether a block goes on at the end of a text that begins inside of it."""
    depth = 1
    for sign in re.findall(r"[{}]", text):
        depth += 1 if sign == "{" else -1
        if not depth:
            return False
    return True


def users_lines(log: str) -> str:
    """Return the errors of a compiler's log, each with its place, line and caret; the log where it has none."""
    lines, kept = log.splitlines(), []
    for place, line in enumerate(lines):
        if (found_error := _COMPILER_MESSAGE.match(line)) and "warning" not in found_error["what"]:
            shown = [_MARGIN.sub("   ", line) for line in lines[place + 1 : place + 3]]
            caret = len(shown) == 2 and shown[1].strip().rstrip("~") == "^"
            line_number = found_error["line"] or found_error["other_line"]
            kept += [
                f"{Path(found_error['file']).name}:{line_number}: {found_error['what']}",
                *(shown if caret else []),
            ]
    return "\n".join(kept) or log


def does_not_compile(entry: str, log: str, source: str) -> EvaluationError:
    """Return the error of a user's kernel: its first line says what is wrong in which line of the user's text."""
    first, *others = users_lines(log).splitlines()
    place, *reason = _ERROR.split(first, 1)
    what = f"kernel '{entry}' does not compile" + (f": {place}: {reason[0]}" if reason else "")
    failed = EvaluationError(coded("GE1305", what))
    if reason and not (others and others[0].startswith(" ")):
        others = [*filter(None, [line_of(source, place)]), *others]
    failed.shown = "\n".join(others if reason else [first, *others])
    failed.args = (coded("GE1305", f"{what}\n{failed.shown}".rstrip()),)
    return failed


def line_of(source: str, place: str) -> str:
    """Return the line of a place such as `body:2`, where a text has said by `#line` what follows; else nothing."""
    name, _, number = place.rpartition(":")
    line = line_at(source, name, int(number))
    return f"    {line}" if line else ""


def refuse_block(entry: str, threads: int, most: int) -> None:
    """Raise `EvaluationError` for a block of more threads than a kernel's registers, or its declaration, allow."""
    if threads > most:
        found = f"kernel '{entry}' takes at most {most} threads a block on this GPU, and block is {threads}"
        raise EvaluationError(coded("GE1306", f"{found}.  Set block: {most // 32 * 32 or most}"))


def refuse_shared(entry: str, shared_bytes: int, most: int) -> None:
    """Raise `EvaluationError` for more shared memory than a block of this GPU may have, beside what is static."""
    if shared_bytes > most:
        found = f"kernel '{entry}' takes at most {most:,} shared bytes a block on this GPU, and shared_bytes is"
        raise EvaluationError(coded("GE1902", f"{found} {shared_bytes:,}.  Set a smaller block, or work in tiles"))


# Whether kernels compile: NVRTC, or nvcc for CUDA files, says so without a GPU.


NO_COMPILER = "no NVRTC and no nvcc was found; pip install nvidia-cuda-nvrtc-cu12"
NVCC_S = 120


class UserKernel(NamedTuple):
    """A text to compile: a user's CUDA file, or what is generated around the sources of a step, which has no path."""

    source: str
    path: FilePath | None


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
    text = kernel.source if kernel.path is None else named(kernel.source, kernel.path)
    own = ("--device-int128",) if kernel.path is None else ()
    architecture = f"--gpu-architecture=compute_{newest(nvrtc)}"
    options = [o.encode() for o in ("--std=c++17", "--device-as-default-execution-space", *own, architecture)]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
        raise NotChecked("NVRTC rejects the source")
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
    """Return the newest architecture: sources may use all that it has."""
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(numbers)
    return int(max(numbers))


def by_nvcc(nvcc: str, source: str, path: FilePath) -> str:
    """Compile the text of a CUDA file to PTX that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "kernel.cu"
        text.write_text(named(source, path), encoding="utf-8")
        command = [nvcc, "-std=c++17", "--ptx", "-o", f"{folder}/kernel.ptx", str(text)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=NVCC_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotChecked(f"nvcc failed: {error}") from None
    return "" if done.returncode == 0 else done.stdout + done.stderr

"""How users' CUDA files are compiled: as CuPy's `RawModule` does, with CUDA's usual contractions."""

from __future__ import annotations

import os
import re
from functools import cache

from gpuetl.engines.cudf.machine_code import STANDARD
from gpuetl.engines.gpu_packages import version_of
from gpuetl.user_kernels.cuda_headers import COMMENTS

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

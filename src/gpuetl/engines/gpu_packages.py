"""The packages of the GPU engine, as they are installed: versions from their metadata, nothing is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec

NEEDED = ("pylibcudf", "cupy", "rmm")
"""The modules without which the engine does not start."""
RAPIDS = ("cudf", "pylibcudf", "libcudf", "rmm", "librmm", "kvikio", "libkvikio", "dask-cuda")
"""Packages that are released together."""
LOADED = ("pylibcudf",)
"""The package of them that tells, with CuPy's, for which CUDA the engine is: each look takes a millisecond."""
WHEELS: Mapping[int, tuple[str, str]] = {12: ("-cu12", "cupy-cuda12x"), 13: ("-cu13", "cupy-cuda13x")}
"""How wheels for a CUDA are called: RAPIDS' ending, and CuPy's package."""


def missing_modules() -> tuple[str, ...]:
    """Return the modules of the engine that are not installed."""
    return tuple(name for name in NEEDED if find_spec(name) is None)


def installed(packages: Sequence[str] = RAPIDS) -> dict[str, str]:
    """Return those of these packages and of CuPy that are installed, with versions, under the names of their wheels."""
    endings = ("", *(ending for ending, _ in WHEELS.values()))
    names = [name + ending for name in packages for ending in endings]
    names += ["cupy", *(cupy for _, cupy in WHEELS.values())]
    return {name: found for name in names if (found := version_of(name))}


@cache
def version_of(name: str) -> str:
    """Return the version of a package, nothing where it is not installed.

    Kept while the process lasts, for every run asks: looking for what is not there takes some milliseconds.
    """
    from importlib.metadata import PackageNotFoundError, version  # the readers of mail and archives, for a GPU alone

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def cuda_majors(packages: Mapping[str, str]) -> tuple[int, ...]:
    """Return the CUDA versions for which wheels are installed."""
    return tuple(
        major for major, (ending, cupy) in WHEELS.items() if any(n.endswith(ending) or n == cupy for n in packages)
    )


def extra_for(cuda: tuple[int, int] | None) -> str:
    """Return gpuetl's extra for a driver: the newest that it can run."""
    return f"gpuetl[cu{13 if cuda and cuda[0] >= 13 else 12}]"

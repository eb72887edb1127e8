"""The NVIDIA driver, asked through its own library, and the packages of the GPU engine as they are installed."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from threading import Thread

from gpuetl.records import dataclass

# The NVIDIA driver, asked through its own library: no package is needed for it, and none is imported.


OLDEST_CUDA = (12, 0)


@dataclass(frozen=True)
class Driver:
    """What the driver says: the newest CUDA that it runs, and the names of the GPUs that this process may use.

    `problem` is empty where there is at least one.
    """

    cuda: tuple[int, int] | None = None
    gpus: tuple[str, ...] = ()
    problem: str = ""


@cache
def find_driver() -> Driver:
    """Return what the driver says; loads it, which takes up to some tenths of a second where there are many GPUs.

    Asked once in a process: every run wants to know.
    """
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Driver(problem="no NVIDIA driver was found")
    version, count = ctypes.c_int(), ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    cuda = (version.value // 1000, version.value % 1000 // 10)
    error = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if error:
        return Driver(cuda, problem=f"the NVIDIA driver shows no GPU ({error_name(library, error)})")
    if not count.value:
        return Driver(cuda, problem="the NVIDIA driver shows no GPU")
    return Driver(cuda, tuple(gpu_name(library, index) for index in range(count.value)))


def architectures() -> tuple[str, ...]:
    """Return the architectures of the GPUs that this process may use, each once, such as sm_90."""
    library = ctypes.CDLL("libcuda.so.1") if find_driver().gpus else None
    found = (gpu_architecture(library, index) for index in range(len(find_driver().gpus)) if library)
    return tuple(dict.fromkeys(found))


@cache
def open_context() -> None:
    """Open the first GPU's primary context, which everything shares, on a thread: it takes a quarter of a second.

    The driver does not hold Python up, which has imports to do meanwhile.
    """
    Thread(target=_retain_context, daemon=True).start()


def _retain_context() -> None:
    device, context = ctypes.c_int(), ctypes.c_void_p()
    with suppress(OSError, AttributeError):  # the caller that needs the context reports the error
        library = ctypes.CDLL("libcuda.so.1")
        if library.cuInit(0) == 0 and library.cuDeviceGet(ctypes.byref(device), 0) == 0:
            library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)


def too_old(cuda: tuple[int, int]) -> str:
    """Say that a driver is."""
    return f"the NVIDIA driver runs CUDA {cuda[0]}.{cuda[1]}, and CUDA 12 or 13 is needed"


def error_name(library: ctypes.CDLL, error: int) -> str:
    """Return the name of an error of the driver."""
    name = ctypes.c_char_p()
    library.cuGetErrorName(error, ctypes.byref(name))
    return name.value.decode() if name.value else f"CUDA error {error}"


def gpu_name(library: ctypes.CDLL, index: int) -> str:
    """Return the name of a GPU."""
    device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    library.cuDeviceGet(ctypes.byref(device), index)
    library.cuDeviceGetName(name, len(name), device)
    return name.value.decode()


COMPUTE_CAPABILITY = (75, 76)
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR."""


def gpu_architecture(library: ctypes.CDLL, index: int) -> str:
    """Return the architecture of a GPU."""
    device, numbers = ctypes.c_int(), (ctypes.c_int(), ctypes.c_int())
    library.cuDeviceGet(ctypes.byref(device), index)
    for number, attribute in zip(numbers, COMPUTE_CAPABILITY, strict=True):
        library.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
    major, minor = (number.value for number in numbers)
    return f"sm_{major}{minor}"


# The packages of the GPU engine, as they are installed: versions from their metadata, nothing is imported.


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

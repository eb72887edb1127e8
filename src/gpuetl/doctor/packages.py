"""Packages: their versions, and whether they fit together and to the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from gpuetl.doctor.finding import Ailment, Finding, Found
from gpuetl.engines.driver import OLDEST_CUDA, Driver, too_old
from gpuetl.engines.gpu_packages import WHEELS, cuda_majors, extra_for

BASE = ("pandas", "pyarrow", "numpy", "nvidia-ml-py")
PANDAS = "3.0."
"""The releases that the GPU packages pin."""
BROKEN_CUPY = "14.1.0"
"""RAPIDS excludes it."""


def package_findings(packages: Mapping[str, str], missing: tuple[str, ...], driver: Driver) -> Iterator[Found]:
    """Yield versions, and what does not fit."""
    for name in BASE:
        yield Finding("packages", name, version_of(name) or "not installed")
    for name, installed in packages.items():
        yield Finding("packages", name, installed)
    if not packages:
        yield Finding("packages", "RAPIDS, CuPy", "not installed")
    if driver.cuda and driver.cuda < OLDEST_CUDA:
        yield Ailment(too_old(driver.cuda), "sudo apt install cuda-drivers   # then reboot", stops="cudf")
    elif driver.gpus and missing:
        problem = f"the cudf engine needs {', '.join(missing)}"
        yield Ailment(problem, f'pip install "{extra_for(driver.cuda)}"', stops="cudf")
    yield from misfits(packages, driver)
    pandas = version_of("pandas")
    if not pandas.startswith(PANDAS):
        yield Ailment(
            f"pandas {pandas} is not {PANDAS}x, which the GPU packages need", 'pip install "pandas>=3.0,<3.1"'
        )


def misfits(packages: Mapping[str, str], driver: Driver) -> Iterator[Ailment]:
    """Yield what does not fit together: releases, CUDA versions, a broken CuPy."""
    releases = {".".join(installed.split(".")[:2]) for name, installed in packages.items() if "cupy" not in name}
    extra = extra_for(driver.cuda)
    if len(releases) > 1:
        mixed = ", ".join(f"{name} {installed}" for name, installed in packages.items() if "cupy" not in name)
        yield Ailment(f"RAPIDS packages of several releases: {mixed}", f'pip install --upgrade "{extra}"', stops="cudf")
    majors = cuda_majors(packages)
    if len(majors) > 1:
        ending, cupy = WHEELS[min(majors) if extra.endswith("13]") else max(majors)]
        names = " ".join(name for name in packages if name.endswith(ending) or name == cupy)
        yield Ailment("packages for CUDA 12 and 13 are installed side by side", f"pip uninstall {names}", stops="cudf")
    elif majors and driver.cuda and majors[0] > driver.cuda[0] >= OLDEST_CUDA[0]:
        runs = ".".join(map(str, driver.cuda))
        problem = f"the packages are for CUDA {majors[0]}, and the driver runs CUDA {runs}"
        yield Ailment(problem, f'pip install "{extra}"', stops="cudf")
    for name, installed in packages.items():
        if "cupy" in name and installed == BROKEN_CUPY:
            yield Ailment(
                f"CuPy {BROKEN_CUPY} does not work with RAPIDS", f'pip install "{name}!={BROKEN_CUPY}"', stops="cudf"
            )


def version_of(name: str) -> str:
    """Return a package's version, or nothing where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""

"""Engines: a backend and an executor under the name by which users choose them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gpuetl.engines import gpu_driver, starting
from gpuetl.engines.starting import Phase, Starting, Step
from gpuetl.errors import EngineUnavailable, PackageMissing, suggestion
from gpuetl.messages import coded
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.engines.interface import Backend

BACKENDS = {
    "pandas": "gpuetl.engines.pandas.pandas_engine:PandasBackend",
    "cudf": "gpuetl.engines.cudf.cudf_engine:CudfBackend",
}
"""Where each engine's backend is; it is imported when it is wanted."""
CLUSTERED = {"dask": "pandas", "dask-cuda": "cudf"}
"""The backend of the workers, of engines that run on a cluster.  The driver has the pandas engine's frames."""
ENGINES = (*BACKENDS, *CLUSTERED)
CLUSTER_PACKAGES = {"dask": ("distributed", "gpuetl[dask]"), "dask-cuda": ("dask_cuda", "gpuetl[cu12]")}
"""The module that an engine's cluster needs, and what to install where it is not there."""


@dataclass(frozen=True)
class Choice:
    """The engine of a run, and why it is this one."""

    name: str
    reason: str


@dataclass(frozen=True)
class GpuSearch:
    """The GPU that the cudf engine would run on; or the problem, and what mends it."""

    gpu: str = ""
    problem: str = ""
    fix: str = ""


def look_for_gpu() -> GpuSearch:
    """Look for a GPU and the packages to use it, importing none of them."""
    missing, found = gpu_driver.missing_modules(), gpu_driver.find_driver()
    if found.cuda is None or found.problem:
        return GpuSearch(problem=found.problem, fix="Install a driver for CUDA 12 or 13, or let the process see a GPU")
    if found.cuda < gpu_driver.OLDEST_CUDA:
        return GpuSearch(problem=gpu_driver.too_old(found.cuda), fix="Update the driver")
    install = f'pip install "{gpu_driver.extra_for(found.cuda)}"'
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        return GpuSearch(
            problem=f"{found.gpus[0]} was found, but {', '.join(missing)} {verb} not installed", fix=install
        )
    majors = gpu_driver.cuda_majors(gpu_driver.installed(gpu_driver.LOADED))
    if majors and min(majors) > found.cuda[0]:
        runs = ".".join(map(str, found.cuda))
        return GpuSearch(
            problem=f"the packages are for CUDA {min(majors)}, and the driver runs CUDA {runs}", fix=install
        )
    return GpuSearch(f"{found.gpus[0]} was found")


def begin(wanted: str) -> Starting[GpuSearch] | None:
    """Begin to look for a GPU and to start its engine, on a thread, where `auto` or a name may choose it.

    Errors come up later, where the engine is needed.
    """
    return Starting(look_for_gpu, starting_steps) if wanted in ("auto", "cudf") else None


def warms_up_for(formats: Iterable[str]) -> bool:
    """Tell whether a GPU engine's last phase of starting, which reads a file, helps to read some of these formats."""
    from gpuetl.formats.parquet import ParquetFormat  # with Arrow, which is not wanted before the search has begun

    return ParquetFormat.name in formats


def starting_steps(found: GpuSearch) -> Mapping[Phase, Iterable[Step]]:
    """Return what starts the GPU engine, if a GPU was found; the context is opened meanwhile."""
    if not found.gpu:
        return {}
    gpu_driver.open_context()
    from gpuetl.engines.cudf.runtime.start import STEPS

    return STEPS


def choose_engine(wanted: str, begun: Starting[GpuSearch] | None = None) -> Choice:
    """Return the engine to use for `auto` or a name; a search that was `begun` is waited for.

    Raises
    ------
    EngineUnavailable
        For a name that is not an engine, or one that this machine cannot run.
    PackageMissing
        Without the package of an engine's cluster.
    """
    if wanted == "auto":
        found = begun.found() if begun else look_for_gpu()
        if not found.gpu:
            return Choice("pandas", found.problem)
        gpu_driver.open_context()
        return Choice("cudf", found.gpu)
    if wanted == "cudf" and (found := begun.found() if begun else look_for_gpu()).problem:
        raise EngineUnavailable(
            coded(
                "GE3001",
                f"engine 'cudf' cannot run here: {found.problem}.\n{found.fix}, or run with --engine pandas.  "
                "`gpuetl doctor` says more.",
            )
        )
    if wanted == "cudf":
        gpu_driver.open_context()
    if wanted in BACKENDS:
        return Choice(wanted, "asked for")
    if wanted in CLUSTERED:
        check_cluster_package(wanted)
        return Choice(wanted, "asked for")
    near = suggestion(wanted, (*ENGINES, "auto"))
    raise EngineUnavailable(
        coded("GE3003", f"unknown engine '{wanted}'. Engines: auto, {', '.join(ENGINES)}. {near}".rstrip())
    )


def check_cluster_package(engine: str) -> None:
    """Raise `PackageMissing` where the package of an engine's cluster is not installed."""
    module, install = CLUSTER_PACKAGES[engine]
    if find_spec(module) is None:
        package = module.replace("_", "-")
        raise PackageMissing(
            coded("GE3002", f"engine '{engine}' needs the package {package}.  Install it: pip install \"{install}\"")
        )


def load_backend(name: str) -> Backend:
    """Import and return the backend of an engine; nothing of the others is imported."""
    if name == "cudf":
        starting.wait()  # threads that import the same packages from two ends may meet half of one
    module, _, factory = BACKENDS[name].partition(":")
    backend: Backend = getattr(import_module(module), factory)()
    return backend

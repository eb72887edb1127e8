"""Engines: a backend and an executor under the name by which users choose them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from gpuetl.engines import gpu_driver, starting
from gpuetl.engines.capabilities import Capabilities, Device
from gpuetl.engines.cudf.choices import CHOICES
from gpuetl.engines.starting import Phase, Starting, Step
from gpuetl.errors import EngineUnavailable, PackageMissing, suggestion
from gpuetl.messages import coded
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.engines.interface import Backend, ClusterSupport

ORACLE = "pandas"
"""The engine whose rows are the right answer.  The driver of a cluster has its frames."""
GPU_ENGINE = "cudf"
"""The engine that `auto` chooses if this machine can run it."""


@dataclass(frozen=True)
class Engine:
    """An engine of one process.

    Parameters
    ----------
    backend
        Where what makes its backend is, as `module:name`; it is imported when it is wanted.
    capabilities
        What it can do, known without importing it.
    cluster_support
        Where its `ClusterSupport` is, as `module:name`; nothing if dask itself can move and spill its frames.
    worker_pool
        Where what makes the memory pool of a worker's device is, as `module:name`: it is imported before all else.
    """

    backend: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    cluster_support: str = ""
    worker_pool: str = ""


@dataclass(frozen=True)
class ClusterEngine:
    """An engine on workers of a cluster.

    Parameters
    ----------
    worker_engine
        The name of the engine that each worker runs.
    module, install
        The module that the cluster needs, and what to install if it is not there.
    worker_on
        A run starts one worker for each GPU, connected by UCX, or one for each processor.
    """

    worker_engine: str
    module: str
    install: str
    worker_on: Device = "CPU"


WHOLE_FILE_SHARE = 1 / 32
"""The text, its fields, and its columns in two types take about 12 times the bytes of the text."""
ENGINES: dict[str, Engine | ClusterEngine] = {
    "pandas": Engine("gpuetl.engines.pandas.pandas_engine:PandasBackend"),
    "cudf": Engine(
        "gpuetl.engines.cudf.cudf_engine:CudfBackend",
        Capabilities(
            "GPU", partition_rows=1 << 28, choices=CHOICES, whole_file_share=WHOLE_FILE_SHARE, spills_to="host memory"
        ),
        "gpuetl.engines.cudf.runtime.cluster_support:CudfClusterSupport",
        "gpuetl.engines.cudf.runtime.worker_pool:make_pool",
    ),
    "dask": ClusterEngine("pandas", "distributed", "gpuetl[dask]"),
    "dask-cuda": ClusterEngine("cudf", "dask_cuda", "gpuetl[cu12]", worker_on="GPU"),
}
"""The engines by the names by which users choose them: see `register`."""


def register(name: str, engine: Engine | ClusterEngine) -> None:
    """Add an engine, from then on known to every part of this process; raise `ValueError` if the name is taken."""
    if name in ENGINES or name == "auto":
        raise ValueError(f"there is an engine '{name}' already")
    ENGINES[name] = engine


def engine_names() -> tuple[str, ...]:
    """Return the names of all engines: first those of one process, then those on a cluster."""
    return (*(name for name in ENGINES if not is_clustered(name)), *cluster_engines())


def cluster_engines() -> dict[str, ClusterEngine]:
    """Return the engines on a cluster by their names."""
    return {name: engine for name, engine in ENGINES.items() if isinstance(engine, ClusterEngine)}


def is_clustered(name: str) -> bool:
    """Tell whether an engine runs on workers of a cluster."""
    return isinstance(ENGINES.get(name), ClusterEngine)


def computing_engine(name: str) -> str:
    """Return the engine that holds the frames of a run: itself, or the one of its workers."""
    engine = ENGINES[name]
    return engine.worker_engine if isinstance(engine, ClusterEngine) else name


def capabilities_of(name: str) -> Capabilities:
    """Return what an engine can do, or what its workers can."""
    return _of_process(computing_engine(name)).capabilities


def engine_choices() -> dict[str, str]:
    """Return the choices of all engines, with a sentence for each."""
    engines = [engine for engine in ENGINES.values() if isinstance(engine, Engine)]
    return {name: text for engine in engines for name, text in engine.capabilities.choices.items()}


def _of_process(name: str) -> Engine:
    engine = ENGINES[name]
    if isinstance(engine, ClusterEngine):
        raise ValueError(f"the engine '{name}' runs on a cluster, not in one process")
    return engine


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
    return Starting(look_for_gpu, starting_steps) if wanted in ("auto", GPU_ENGINE) else None


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
            return Choice(ORACLE, found.problem)
        gpu_driver.open_context()
        return Choice(GPU_ENGINE, found.gpu)
    if wanted == GPU_ENGINE and (found := begun.found() if begun else look_for_gpu()).problem:
        raise EngineUnavailable(
            coded(
                "GE3001",
                f"engine 'cudf' cannot run here: {found.problem}.\n{found.fix}, or run with --engine pandas.  "
                "`gpuetl doctor` says more.",
            )
        )
    if wanted == GPU_ENGINE:
        gpu_driver.open_context()
    if is_clustered(wanted):
        check_cluster_package(wanted)
    if wanted in ENGINES:
        return Choice(wanted, "asked for")
    near = suggestion(wanted, (*engine_names(), "auto"))
    raise EngineUnavailable(
        coded("GE3003", f"unknown engine '{wanted}'. Engines: auto, {', '.join(engine_names())}. {near}".rstrip())
    )


def check_cluster_package(engine: str) -> None:
    """Raise `PackageMissing` where the package of an engine's cluster is not installed."""
    if needed := missing_cluster_package(engine):
        package, install = needed
        raise PackageMissing(
            coded("GE3002", f"engine '{engine}' needs the package {package}.  Install it: pip install \"{install}\"")
        )


def missing_cluster_package(engine: str) -> tuple[str, str] | None:
    """Return the package that an engine's cluster lacks, and what to install; None if it is there."""
    cluster = cluster_engines()[engine]
    return None if find_spec(cluster.module) else (cluster.module.replace("_", "-"), cluster.install)


def load_backend(name: str) -> Backend:
    """Import and return the backend of an engine of one process; nothing of the others is imported."""
    if name == GPU_ENGINE:
        starting.wait()  # threads that import the same packages from two ends may meet half of one
    return cast("Backend", _made(_of_process(name).backend))


def load_driver_backend(name: str) -> Backend:
    """Return the backend of an engine in this process: of one on a cluster, that of the driver."""
    return load_backend(ORACLE if is_clustered(name) else name)


def load_cluster_support(name: str) -> ClusterSupport | None:
    """Return what an engine of one process does on a worker for dask; None if dask needs nothing of it.

    No device is used to import it.
    """
    support = _of_process(name).cluster_support
    return cast("ClusterSupport", _made(support)) if support else None


def make_worker_pool(name: str) -> None:
    """Make an engine's memory pool on a worker's device; raise `MemoryError` if that has no room for it."""
    if pool := _of_process(name).worker_pool:
        _made(pool)


def _made(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)()

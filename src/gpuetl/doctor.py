"""What this machine has, what is wrong with it, and what mends that: `gpuetl doctor`."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gpuetl.engines import gpu_driver
from gpuetl.engines.gpu_driver import OLDEST_CUDA, WHEELS, Driver, cuda_majors, extra_for, too_old
from gpuetl.engines.kernel_cache_folder import cache_folder
from gpuetl.engines.registry import (
    GPU_ENGINE,
    cluster_engines,
    computing_engine,
    engine_names,
    is_clustered,
    look_for_gpu,
    missing_cluster_package,
)
from gpuetl.plugin_discovery import GROUPS, PluginTable, plugins_of, shadowed
from gpuetl.records import dataclass
from gpuetl.units import size
from gpuetl.version import __version__

# What was found, and what is wrong.


@dataclass(frozen=True)
class Observation:
    """One thing that was looked at."""

    section: str
    name: str
    value: str


@dataclass(frozen=True)
class MachineProblem:
    """One thing that is wrong, and the line that mends it; `stops` names the engine that cannot run before that."""

    problem: str
    fix: str
    stops: str = ""


Found = Observation | MachineProblem


# GPUs with their memory and links: by NVML where its package is installed, else by nvidia-smi, else by the driver.


LEAST_FREE_SHARE = 0.1
NVLINKS = 18
"""The most links that a GPU has."""
QUERY = "name,memory.total,memory.used,pcie.link.gen.current,pcie.link.width.current"
MIB = 1 << 20


@dataclass(frozen=True)
class Gpu:
    """One GPU; `links` says how it is connected."""

    name: str
    memory_bytes: int
    used_bytes: int
    links: str


def gpu_observations(driver: Driver) -> Iterator[Found]:
    """Yield the driver, the GPUs, and those that are full."""
    runs = ".".join(map(str, driver.cuda)) if driver.cuda else ""
    yield Observation("GPU", "driver", f"runs CUDA {runs}" if runs else driver.problem)
    if runs and driver.problem:
        yield MachineProblem(
            driver.problem, "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES   # is it there, and may it be seen?"
        )
    found = by_nvml()
    source, gpus = ("NVML", found) if found is not None else ("nvidia-smi", by_nvidia_smi())
    if gpus is None:
        source, gpus = "the driver", [Gpu(name, 0, 0, "") for name in driver.gpus]
    for number, gpu in enumerate(gpus):
        memory = f", {size(gpu.memory_bytes)}, {size(gpu.used_bytes)} in use" if gpu.memory_bytes else ""
        yield Observation("GPU", f"GPU {number}", f"{gpu.name}{memory}{gpu.links and f', {gpu.links}'} (by {source})")
        free = gpu.memory_bytes - gpu.used_bytes
        if gpu.memory_bytes and free < LEAST_FREE_SHARE * gpu.memory_bytes:
            problem = f"GPU {number} has {size(free)} of {size(gpu.memory_bytes)} free"
            yield MachineProblem(problem, "nvidia-smi   # end the processes that hold its memory")


def by_nvml() -> list[Gpu] | None:
    """Return what NVML says, or None where its package or the driver is not there."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
        return [_nvml_gpu(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index)) for index in range(count)]
    except pynvml.NVMLError:
        return None


def _nvml_gpu(nvml: Any, device: Any) -> Gpu:
    memory, name = nvml.nvmlDeviceGetMemoryInfo(device), nvml.nvmlDeviceGetName(device)
    nvlinks = sum(_is_up(nvml, device, link) for link in range(NVLINKS))
    try:
        pcie = (nvml.nvmlDeviceGetCurrPcieLinkGeneration(device), nvml.nvmlDeviceGetCurrPcieLinkWidth(device))
    except nvml.NVMLError:
        pcie = ("", "")
    return Gpu(name if isinstance(name, str) else name.decode(), memory.total, memory.used, links(*pcie, nvlinks))


def _is_up(nvml: Any, device: Any, link: int) -> bool:
    try:
        return bool(nvml.nvmlDeviceGetNvLinkState(device, link))
    except nvml.NVMLError:
        return False


def by_nvidia_smi() -> list[Gpu] | None:
    """Return what nvidia-smi says, or None where it is not there or fails."""
    listed = nvidia_smi(f"--query-gpu={QUERY}", "--format=csv,noheader,nounits")
    if listed is None:
        return None
    blocks = re.split(r"^GPU \d+:.*$", nvidia_smi("nvlink", "--status") or "", flags=re.MULTILINE)[1:]
    nvlinks = [block.count("GB/s") for block in blocks]
    gpus = []
    for number, line in enumerate(listed.strip().splitlines()):
        name, total, used, generation, width = (field.strip() for field in line.split(","))
        memory, in_use = (int(field) * MIB if field.isdecimal() else 0 for field in (total, used))
        count = nvlinks[number] if number < len(nvlinks) else 0
        gpus.append(Gpu(name, memory, in_use, links(generation, width, count)))
    return gpus


def nvidia_smi(*arguments: str) -> str | None:
    """Return what nvidia-smi prints, or None."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    try:
        done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def links(generation: object, width: object, nvlinks: int) -> str:
    """Return a GPU's links in words."""
    pcie: Sequence[str] = [f"PCIe {generation} x{width}"] if str(generation).isdecimal() else []
    return ", ".join([*pcie, *([f"{nvlinks} NVLinks"] if nvlinks else [])])


# Packages: their versions, and whether they fit together and to the driver.


BASE = ("pandas", "pyarrow", "numpy", "nvidia-ml-py")
PANDAS = "3.0."
"""The releases that the GPU packages pin."""
BROKEN_CUPY = "14.1.0"
"""RAPIDS excludes it."""


def package_results(packages: Mapping[str, str], missing: tuple[str, ...], driver: Driver) -> Iterator[Found]:
    """Yield versions, and what does not fit."""
    for name in BASE:
        yield Observation("packages", name, version_of(name) or "not installed")
    for name, installed in packages.items():
        yield Observation("packages", name, installed)
    if not packages:
        yield Observation("packages", "RAPIDS, CuPy", "not installed")
    if driver.cuda and driver.cuda < OLDEST_CUDA:
        yield MachineProblem(too_old(driver.cuda), "sudo apt install cuda-drivers   # then reboot", stops="cudf")
    elif driver.gpus and missing:
        problem = f"the cudf engine needs {', '.join(missing)}"
        yield MachineProblem(problem, f'pip install "{extra_for(driver.cuda)}"', stops="cudf")
    yield from misfits(packages, driver)
    pandas = version_of("pandas")
    if not pandas.startswith(PANDAS):
        yield MachineProblem(
            f"pandas {pandas} is not {PANDAS}x, which the GPU packages need", 'pip install "pandas>=3.0,<3.1"'
        )


def misfits(packages: Mapping[str, str], driver: Driver) -> Iterator[MachineProblem]:
    """Yield what does not fit together: releases, CUDA versions, a broken CuPy."""
    releases = {".".join(installed.split(".")[:2]) for name, installed in packages.items() if "cupy" not in name}
    extra = extra_for(driver.cuda)
    if len(releases) > 1:
        mixed = ", ".join(f"{name} {installed}" for name, installed in packages.items() if "cupy" not in name)
        yield MachineProblem(
            f"RAPIDS packages of several releases: {mixed}", f'pip install --upgrade "{extra}"', stops="cudf"
        )
    majors = cuda_majors(packages)
    if len(majors) > 1:
        ending, cupy = WHEELS[min(majors) if extra.endswith("13]") else max(majors)]
        names = " ".join(name for name in packages if name.endswith(ending) or name == cupy)
        yield MachineProblem(
            "packages for CUDA 12 and 13 are installed side by side", f"pip uninstall {names}", stops="cudf"
        )
    elif majors and driver.cuda and majors[0] > driver.cuda[0] >= OLDEST_CUDA[0]:
        runs = ".".join(map(str, driver.cuda))
        problem = f"the packages are for CUDA {majors[0]}, and the driver runs CUDA {runs}"
        yield MachineProblem(problem, f'pip install "{extra}"', stops="cudf")
    for name, installed in packages.items():
        if "cupy" in name and installed == BROKEN_CUPY:
            yield MachineProblem(
                f"CuPy {BROKEN_CUPY} does not work with RAPIDS", f'pip install "{name}!={BROKEN_CUPY}"', stops="cudf"
            )


def version_of(name: str) -> str:
    """Return a package's version, or nothing where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


# Settings of the machine: threads that read, memory that may be locked, folders that are written.


THREADS = 16
"""What the engine sets where nothing is set."""
FEW_THREADS = 8
LEAST_FREE_BYTES = 1 << 30
LEAST_LOCKED = 64 << 20


def setting_results(has_gpu: bool) -> Iterator[Found]:
    """Yield threads, locked memory and folders."""
    yield from kvikio_threads(os.environ.get("KVIKIO_NTHREADS"))
    yield from locked_memory(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0], has_gpu)
    yield from folder("work folder", Path.cwd(), "cd to a folder that you may write to")
    yield from folder("TMPDIR", temporary(), "export TMPDIR=/a/folder/with/room")
    yield from folder("kernel cache", cache_folder(), "export GPUETL_KERNEL_CACHE=/a/folder/with/room")


def kvikio_threads(value: str | None) -> Iterator[Found]:
    """Yield the threads with which files are read."""
    yield Observation("settings", "KvikIO threads", value if value is not None else f"{THREADS}, which the engine sets")
    if value is not None and not (value.isdecimal() and int(value) >= FEW_THREADS):
        yield MachineProblem(
            f"KVIKIO_NTHREADS is '{value}': files are read slowly", f"export KVIKIO_NTHREADS={THREADS}"
        )


def locked_memory(limit: int, has_gpu: bool) -> Iterator[Found]:
    """Yield how much memory a process may lock, which links between GPUs and network cards need."""
    text = "no limit" if limit == resource.RLIM_INFINITY else f"up to {size(limit)}"
    yield Observation("settings", "locked memory", text)
    if has_gpu and limit != resource.RLIM_INFINITY and limit < LEAST_LOCKED:
        yield MachineProblem(f"a process may lock {size(limit)} of memory only", "ulimit -l unlimited")


def folder(name: str, path: Path, fix: str) -> Iterator[Found]:
    """Yield a folder's free space, and whether it can be written; of one that is not there yet, its parent's."""
    there = next((p for p in (path, *path.parents) if p.exists()), Path("/"))
    free, writable = shutil.disk_usage(there).free, there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    yield Observation("disk", name, f"{path}, {size(free)} free{'' if writable else ', not writable'}")
    if not writable:
        yield MachineProblem(f"the {name} {path} cannot be written", fix)
    elif free < LEAST_FREE_BYTES:
        yield MachineProblem(f"the {name} {path} has {size(free)} free", fix)


def temporary() -> Path:
    """Return the folder for temporary files, also where it cannot be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return Path(os.environ.get("TMPDIR", "/tmp"))


# All observations and problems of this machine, and which engines it can run.


@dataclass(frozen=True)
class Diagnosis:
    """What was found; `engines` has, for each engine, why it cannot run here, or nothing where it can."""

    engines: Mapping[str, str]
    observations: tuple[Observation, ...]
    problems: tuple[MachineProblem, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return asdict(self)


def diagnose() -> Diagnosis:
    """Look at this machine; imports none of the packages that it tells the versions of."""
    found = list(examine())
    problems = tuple(item for item in found if isinstance(item, MachineProblem))
    stopped = "; ".join(ailment.problem for ailment in problems if ailment.stops == GPU_ENGINE)
    engines = dict.fromkeys((name for name in engine_names() if not is_clustered(name)), "")
    engines[GPU_ENGINE] = look_for_gpu().problem or stopped
    engines |= {name: missing_package(name) or engines[computing_engine(name)] for name in cluster_engines()}
    return Diagnosis(
        engines=engines,
        observations=tuple(item for item in found if isinstance(item, Observation)),
        problems=problems,
    )


def missing_package(engine: str) -> str:
    """Say that the package of an engine's cluster is not installed; nothing where it is."""
    if (needed := missing_cluster_package(engine)) is None:
        return ""
    package, install = needed
    return f'{package} is not installed: pip install "{install}"'


def examine() -> Iterator[Found]:
    """Yield all that was found, section by section."""
    asked = gpu_driver.find_driver()
    yield Observation("gpuetl", "version", f"{__version__}, Python {platform.python_version()} at {sys.executable}")
    yield Observation("gpuetl", "system", f"{platform.system()} {platform.release()} {platform.machine()}, "
                                      f"{os.cpu_count()} processors")  # fmt: skip
    yield from gpu_observations(asked)
    yield from package_results(gpu_driver.installed(), gpu_driver.missing_modules(), asked)
    yield from setting_results(has_gpu=bool(asked.gpus))
    yield from plugin_results()


# Plugins.


def plugin_results() -> Iterator[Found]:
    """Yield the plugins that are installed, and what is wrong with them; all are imported, if there are any."""
    found = [plugin for kind in GROUPS for plugin in plugins_of(kind)]
    for plugin in found:
        yield Observation("plugins", f"{plugin.kind} {plugin.name}", f"{plugin.package} {plugin.version}")
    if not found:
        return
    try:
        tables = plugin_tables()
    except ImportError as error:  # a package of gpuetl's own is broken, which is reported elsewhere
        yield MachineProblem(f"plugins were not looked at: {error}", "pip check")
        return
    own = {kind: list(table) for kind, table in tables.items()} | {"function": own_functions()}
    for kind, table in tables.items():
        for plugin in shadowed(kind, own[kind]):
            unused = f"{plugin.label} is never used: gpuetl has a {kind} of this name"
            yield MachineProblem(unused, f"pip uninstall {plugin.package}")
        for problem in table.load_all():
            yield MachineProblem(problem.message, problem.hint)


def plugin_tables() -> Mapping[str, PluginTable[Any]]:
    """Return the tables of the language by the kind of their plugins; this imports most of gpuetl, and Arrow."""
    from gpuetl.expressions.macros import MACROS
    from gpuetl.formats.registry import FORMATS
    from gpuetl.spec.expect.rules import RULES
    from gpuetl.spec.steps import STEPS

    return {"step": STEPS, "function": MACROS, "format": FORMATS, "check": RULES}


def own_functions() -> list[str]:
    """Return the names of gpuetl's own functions."""
    from gpuetl.expressions.functions import FUNCTIONS

    return [name for _, name in FUNCTIONS]

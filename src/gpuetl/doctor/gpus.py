"""GPUs with their memory and links: by NVML where its package is installed, else by nvidia-smi, else by the driver."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from gpuetl.doctor.finding import Ailment, Finding, Found
from gpuetl.engines.driver import Driver
from gpuetl.records import dataclass
from gpuetl.sizes import size

LEAST_FREE = 0.1
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


def gpu_findings(driver: Driver) -> Iterator[Found]:
    """Yield the driver, the GPUs, and those that are full."""
    runs = ".".join(map(str, driver.cuda)) if driver.cuda else ""
    yield Finding("GPU", "driver", f"runs CUDA {runs}" if runs else driver.problem)
    if runs and driver.problem:
        yield Ailment(driver.problem, "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES   # is it there, and may it be seen?")
    found = by_nvml()
    source, gpus = ("NVML", found) if found is not None else ("nvidia-smi", by_nvidia_smi())
    if gpus is None:
        source, gpus = "the driver", [Gpu(name, 0, 0, "") for name in driver.gpus]
    for number, gpu in enumerate(gpus):
        memory = f", {size(gpu.memory_bytes)}, {size(gpu.used_bytes)} in use" if gpu.memory_bytes else ""
        yield Finding("GPU", f"GPU {number}", f"{gpu.name}{memory}{gpu.links and f', {gpu.links}'} (by {source})")
        free = gpu.memory_bytes - gpu.used_bytes
        if gpu.memory_bytes and free < LEAST_FREE * gpu.memory_bytes:
            problem = f"GPU {number} has {size(free)} of {size(gpu.memory_bytes)} free"
            yield Ailment(problem, "nvidia-smi   # end the processes that hold its memory")


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
        memory, taken = (int(field) * MIB if field.isdecimal() else 0 for field in (total, used))
        count = nvlinks[number] if number < len(nvlinks) else 0
        gpus.append(Gpu(name, memory, taken, links(generation, width, count)))
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

"""The device of a measurement: its name, and the arithmetic that it does at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuetl.engines.cudf.machine import Machine
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

LANES: Mapping[str, tuple[int, int]] = {
    "70": (32, 64), "75": (2, 64), "80": (32, 64), "86": (2, 128), "89": (2, 128), "90": (64, 128), "100": (64, 128),
    "120": (2, 128),
}  # fmt: skip
"""Fused multiply-adds of float64 and of float32 that a multiprocessor begins in a cycle, by compute capability.

Source: CUDA C++ programming guide, "Throughput of native arithmetic instructions".
"""
OPERATIONS = 2
"""A fused multiply-add is two operations."""


@dataclass(frozen=True)
class DeviceLimits:
    """What a kernel can reach: the measured rate of memory, and the nominal rates of arithmetic; None where unknown."""

    name: str
    memory_bytes_per_s: float | None = None
    float64_per_s: float | None = None
    float32_per_s: float | None = None

    def arithmetic_per_s(self, types: Iterable[DataType]) -> tuple[str, float | None]:
        """Return the widest type of floats among columns, and how many of its operations the device does a second."""
        widest = max((t.bit_width for t in types if str(t) in ("double", "float")), default=0)
        return {64: ("float64", self.float64_per_s), 32: ("float32", self.float32_per_s)}.get(widest, ("", None))


def device_limits(machine: Machine, memory_bytes_per_s: float | None) -> DeviceLimits:
    """Ask the device for its name and clock; of one that is not known, arithmetic is left out."""
    arrays: Any = machine.arrays  # all of CuPy
    cuda = arrays.cuda
    device = cuda.Device()
    name = cuda.runtime.getDeviceProperties(device.id)["name"].decode()
    lanes = LANES.get(device.compute_capability)
    if lanes is None:
        return DeviceLimits(name, memory_bytes_per_s)
    cycles_per_s = device.attributes["ClockRate"] * 1000
    each = OPERATIONS * device.attributes["MultiProcessorCount"] * cycles_per_s
    return DeviceLimits(name, memory_bytes_per_s, float(lanes[0] * each), float(lanes[1] * each))

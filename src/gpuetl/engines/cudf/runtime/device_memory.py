"""Device memory by RMM: what is in use, what a run may take, and what it took while it is profiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import cupy
import rmm

from gpuetl.telemetry.memory_meter import MemoryUse


class DeviceMemory:
    """What was allocated since the resource was set: by CuPy, libcudf and the engine, whose pool it stands before."""

    def __init__(self, counted: Any) -> None:
        self.counted = counted
        self.bytes_at_begin = 0

    def begin(self) -> None:
        """Count anew, beside what is held."""
        self.bytes_at_begin = int(self.counted.push_counters().current_bytes)

    def end(self) -> int:
        """Return the peak since `begin`; the counts go into those of the run."""
        return self.bytes_at_begin + int(self.counted.pop_counters().peak_bytes)

    def peaks(self) -> Mapping[str, int]:
        """Return the run's peak."""
        return {"device memory": int(self.counted.allocation_counts.peak_bytes)}


@contextmanager
def limited(memory: int) -> Iterator[None]:
    """Limit what the current resource gives, which is set again at the end.

    What was allocated meanwhile keeps the limited resource, and through it the one below, until it is freed.
    """
    with current_resource(rmm.mr.LimitingResourceAdaptor(rmm.mr.get_current_device_resource(), memory)):
        yield


@contextmanager
def current_resource(resource: Any) -> Iterator[None]:
    """Make a resource the current one while the block lasts, unless somebody sets another one, which stays."""
    before = rmm.mr.get_current_device_resource()
    rmm.mr.set_current_device_resource(resource)
    try:
        yield
    finally:
        if rmm.mr.get_current_device_resource() is resource:
            rmm.mr.set_current_device_resource(before)


@contextmanager
def device_memory() -> Iterator[DeviceMemory]:
    """Count the allocations of the current resource, which is set again at the end.

    What was allocated meanwhile keeps the resource that counts, and through it the one below, until it is freed.
    """
    counted = rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource())
    with current_resource(counted):
        yield DeviceMemory(counted)


def count_pool(share: float) -> None:
    """Count what the current resource gives away, where it is a pool: of one, RMM tells how large it is, and no more.

    The pool is limited to what it has and a share of what the device has beside.
    """
    pool = rmm.mr.get_current_device_resource()
    if isinstance(pool, rmm.mr.PoolMemoryResource):
        free, _ = cupy.cuda.runtime.memGetInfo()
        rmm.mr.set_current_device_resource(rmm.mr.LimitingResourceAdaptor(pool, pool.pool_size() + int(free * share)))


def memory_use() -> MemoryUse:
    """Return what the resource that limits allocations has given away; where there is none, what the device has."""
    resource = rmm.mr.get_current_device_resource()
    while not isinstance(resource, rmm.mr.LimitingResourceAdaptor):
        if not isinstance(resource, rmm.mr.UpstreamResourceAdaptor):
            free, total = cupy.cuda.runtime.memGetInfo()
            return MemoryUse(total - free, total)
        resource = resource.get_upstream()
    return MemoryUse(resource.get_allocated_bytes(), resource.get_allocation_limit())

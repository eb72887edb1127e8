"""Device memory counted by RMM, while a run is profiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import rmm


class DeviceMemory:
    """What was allocated since the resource was set: by CuPy, libcudf and the engine, whose pool it stands before."""

    def __init__(self, counted: Any) -> None:
        self.counted = counted
        self.held = 0

    def begin(self) -> None:
        """Count anew, beside what is held."""
        self.held = int(self.counted.push_counters().current_bytes)

    def end(self) -> int:
        """Return the peak since `begin`; the counts go into those of the run."""
        return self.held + int(self.counted.pop_counters().peak_bytes)

    def peaks(self) -> Mapping[str, int]:
        """Return the run's peak."""
        return {"device memory": int(self.counted.allocation_counts.peak_bytes)}


@contextmanager
def device_memory() -> Iterator[DeviceMemory]:
    """Count the allocations of the current resource, which is set again at the end.

    What was allocated meanwhile keeps the resource that counts, and through it the one below, until it is freed.
    """
    before = rmm.mr.get_current_device_resource()
    counted = rmm.mr.StatisticsResourceAdaptor(before)
    rmm.mr.set_current_device_resource(counted)
    try:
        yield DeviceMemory(counted)
    finally:
        if rmm.mr.get_current_device_resource() is counted:  # else somebody set another one, which stays
            rmm.mr.set_current_device_resource(before)

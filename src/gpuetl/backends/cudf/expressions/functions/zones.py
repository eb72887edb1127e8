"""zones."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device, Library

HEADER = "zones.cuh"
FUNCTIONS: dict[str, Device | Library] = {}

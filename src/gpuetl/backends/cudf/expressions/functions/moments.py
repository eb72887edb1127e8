"""moments."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device, Library

HEADER = "moments.cuh"
FUNCTIONS: dict[str, Device | Library] = {}

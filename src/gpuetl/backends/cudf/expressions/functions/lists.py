"""lists."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device, Library

HEADER = "lists.cuh"
FUNCTIONS: dict[str, Device | Library] = {}

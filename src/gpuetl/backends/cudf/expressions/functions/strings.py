"""Strings."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device, Library

HEADER = "strings.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "length": Device("length"),
    "concat": Device("concat", gives="text"),
}

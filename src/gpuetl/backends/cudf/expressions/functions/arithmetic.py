"""Arithmetic."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device, Library

HEADER = "arithmetic.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "add": Device("add"),
    "divide": Device("divide"),
}

"""Durations: their operators are those of integers, in arithmetic.py."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device, Library

HEADER = "durations.cuh"
FUNCTIONS: dict[str, Device | Library] = {}

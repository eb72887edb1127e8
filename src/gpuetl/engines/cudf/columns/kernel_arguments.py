"""How kernels take columns: the names of integer types in kernels' names, and the buffers of strings."""

from __future__ import annotations

from typing import Any

from gpuetl.engines.cudf.columns.vector import Vector


def integer_name(array: Any) -> str:
    """Return the signed integer type of an array's width, as names of kernels have it."""
    return f"int{8 * array.dtype.itemsize}"


def string_arguments(strings: Vector) -> list[Any]:
    """Return what kernels take of strings that lie in memory: bytes, offsets and validity words, 0 for none."""
    return [strings.data, strings.offsets, 0 if strings.valid is None else strings.valid]

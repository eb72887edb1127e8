"""Floats with one zero and one NaN, as keys and picked values leave."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import is_floating


def canonical(vector: Vector, machine: Machine) -> Vector:
    """Return a column of floats with 0.0 for -0.0 and the one NaN; other columns as they are."""
    if not is_floating(vector.dtype):
        return vector
    arrays, data = machine.arrays, vector.data
    nan = data.dtype.type("nan")
    data = arrays.where(data == 0, data.dtype.type(0), arrays.where(arrays.isnan(data), nan, data))
    return replace(vector, data=data)

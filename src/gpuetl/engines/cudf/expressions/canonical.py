"""Floats with one zero and one NaN, as keys and picked values leave."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import is_floating


def canonical(vector: Vector, machine: Machine) -> Vector:
    """Return a column of floats with 0.0 for -0.0 and the one NaN; other columns as they are."""
    if not is_floating(vector.dtype):
        return vector
    data = machine.arrays.empty_like(vector.data)
    entry = f"make_canonical_{data.dtype}"
    machine.launch(machine.closed("numbers"), entry, vector.rows, [vector.rows, vector.data, data])
    return replace(vector, data=data)

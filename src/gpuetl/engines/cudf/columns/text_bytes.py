"""The bytes of texts that are gathered."""

from __future__ import annotations

from typing import Any

from gpuetl.engines.cudf.columns.written import offsets_of_sizes
from gpuetl.engines.cudf.device.closed_set import integer_name
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector


def with_bytes(vector: Vector, made: Vector, rows: Any, total: int, machine: Machine) -> Vector:
    """Copy the texts of these rows side by side, `total` bytes; `made` has their sizes, after a first 0."""
    offsets = offsets_of_sizes(made.data, total, machine)
    data = machine.arrays.empty(total, "uint8")
    if total:
        kinds = "_".join(map(integer_name, (vector.offsets, offsets, rows)))
        arguments = [len(rows), rows, vector.data, vector.offsets, data, offsets]
        machine.launch(machine.closed("copy_texts"), f"copy_texts_{kinds}", len(rows), arguments)
    return Vector(made.dtype, made.rows, data, made.valid, 0, offsets)

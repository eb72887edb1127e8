"""Floats with one zero and one NaN, as keys and picked values leave."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import is_floating


def canonical(vector: Vector, machine: Machine) -> Vector:
    """Return a column of floats with 0.0 for -0.0 and the one NaN; other columns as they are."""
    if not is_floating(vector.dtype):
        return vector
    data = machine.arrays.empty_like(vector.data)
    module = machine.compiled(canonical_source(stored_c_type(vector.dtype)))
    machine.launch(module, "make_canonical", vector.rows, [vector.rows, vector.data, data])
    return replace(vector, data=data)


def canonical_source(stored: str) -> str:
    """Return the kernel `make_canonical` for values of a C++ type."""
    return f"""{headers_text(["rows.cuh", "floats.cuh"])}
KERNEL make_canonical(int64_t rows, const {stored}* values, {stored}* made) {{
    const {stored} nan = {stored}(double_of_bits(0x7ff8000000000000ULL));
    FOR_EACH_ROW(row, rows) {{
        if (row < rows) made[row] = is_nan(values[row]) ? nan : values[row] == 0 ? {stored}(0) : values[row];
    }}
}}
"""

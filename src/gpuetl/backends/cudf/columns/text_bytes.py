"""The bytes of texts that are gathered."""

from __future__ import annotations

from functools import cache
from typing import Any

from gpuetl.backends.cudf.columns.written import offsets_of_sizes
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector


def with_bytes(vector: Vector, made: Vector, rows: Any, total: int, machine: Machine) -> Vector:
    """Copy the texts of these rows side by side, `total` bytes; `made` has their sizes, after a first 0."""
    offsets = offsets_of_sizes(made.data, total)
    data = machine.arrays.empty(total, "uint8")
    if total:
        source, target, index = (8 * array.dtype.itemsize for array in (vector.offsets, offsets, rows))
        module = machine.compiled(copy_source(source, target, index))
        arguments = [len(rows), rows, vector.data, vector.offsets, data, offsets]
        machine.launch(module, "copy_texts", len(rows), arguments)
    return Vector(made.dtype, made.rows, data, made.valid, 0, offsets)


@cache
def copy_source(source_bits: int, target_bits: int, index_bits: int) -> str:
    """Return the kernel `copy_texts`: a thread copies a short text, a warp a long one."""
    return f"""{headers_text(["staging.cuh"])}
KERNEL copy_texts(int64_t rows, const int{index_bits}_t* from, const char* data, const int{source_bits}_t* starts,
                  char* bytes, const int{target_bits}_t* offsets) {{
    const auto source = [&](int64_t row) {{ return data + starts[from[row]]; }};
    const auto copy = [&](int64_t row, char* at) {{ copy_words(at, source(row), offsets[row + 1] - offsets[row]); }};
    write_texts(rows, offsets, bytes, copy, [&](int64_t first, int64_t end) {{
        copy_by_warps(first, end, offsets, bytes, source);
    }});
}}
"""

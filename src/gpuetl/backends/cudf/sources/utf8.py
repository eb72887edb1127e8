"""Texts of files are checked: readers take any bytes, and everything that follows trusts them to be UTF-8."""

from __future__ import annotations

from gpuetl.backends.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.expressions.faults import row_and_reason
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING


def refuse_other_bytes(vector: Vector, name: str, machine: Machine) -> None:
    """Raise `ValueError` where a text is not UTF-8, also in lists."""
    if vector.elements is not None:
        refuse_other_bytes(vector.elements, name, machine)
    if vector.dtype == STRING and (row := first_other_bytes(vector, machine)) is not None:
        raise ValueError(f"column '{name}' is not UTF-8 in row {row}")


def first_other_bytes(texts: Vector, machine: Machine) -> int | None:
    """Return the first row whose text is not UTF-8, if there is one."""
    if not texts.rows:
        return None
    columns, state = {"": texts}, machine.arrays.zeros(1, "uint64")
    module = machine.compiled(source_of(columns))
    machine.launch(module, "find_other_bytes", texts.rows, [texts.rows, state, *buffers_of(columns)])
    found = int(state[0])
    return row_and_reason(found)[0] if found else None


def source_of(columns: dict[str, Vector]) -> str:
    """Return the kernel that tells the first text that is not UTF-8."""
    parameters = ", ".join(["int64_t rows", "uint64_t* faults", *column_parameters(columns)])
    return f"""{headers_text(["rows.cuh", "utf8.cuh"])}
KERNEL find_other_bytes({parameters}) {{
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row < rows && c0.valid(row) && !is_utf8(c0[row].value)) Fault{{faults, row}}(NOT_A_VALUE);
    }}
}}
"""

"""Texts of files are checked: readers take any bytes, and everything that follows trusts them to be UTF-8."""

from __future__ import annotations

from gpuetl.backends.cudf.device.closed_set import integer_name, text_arguments
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
    """Return the first row whose text, without a dictionary, is not UTF-8, if there is one."""
    if not texts.rows:
        return None
    state = machine.arrays.zeros(1, "uint64")
    entry = f"find_other_bytes_{integer_name(texts.offsets)}"
    machine.launch(machine.closed("texts"), entry, texts.rows, [texts.rows, state, *text_arguments(texts)])
    found = int(state[0])
    return row_and_reason(found)[0] if found else None

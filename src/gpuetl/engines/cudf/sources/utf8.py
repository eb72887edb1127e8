"""Texts of files are checked: readers take any bytes, and everything that follows trusts them to be UTF-8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpuetl.engines.cudf.device.closed_set import integer_name, text_arguments
from gpuetl.engines.cudf.expressions.faults import row_and_reason
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import STRING


def refuse_other_bytes(columns: Mapping[str, Vector], machine: Machine) -> None:
    """Raise `ValueError` for the first column with a text that is not UTF-8, also in lists; the host waits once."""
    parts = [(name, texts) for name, vector in columns.items() for texts in texts_of(vector)]
    found = first_other_bytes([texts for _, texts in parts], machine)
    for (name, _), row in zip(parts, found, strict=True):
        if row is not None:
            raise ValueError(f"column '{name}' is not UTF-8 in row {row}")


def texts_of(vector: Vector) -> Iterator[Vector]:
    """Yield the texts of a column, those of its elements first."""
    if vector.elements is not None:
        yield from texts_of(vector.elements)
    if vector.dtype == STRING:
        yield vector


def first_other_bytes(columns: Sequence[Vector], machine: Machine) -> list[int | None]:
    """Return of each column of texts without a dictionary the first row that is not UTF-8, if there is one.

    The host waits once.
    """
    if not any(texts.rows for texts in columns):
        return [None] * len(columns)
    states = machine.arrays.zeros(len(columns), "uint64")
    for place, texts in enumerate(columns):
        if texts.rows:
            entry = f"find_other_bytes_{integer_name(texts.offsets)}"
            machine.launch(
                machine.closed("texts"), entry, texts.rows, [texts.rows, states[place:], *text_arguments(texts)]
            )
    return [row_and_reason(found)[0] if found else None for found in states.tolist()]

"""Texts as numbers: a table by hash finds the distinct ones, and only these are sorted."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING

SMALL_SLOTS = 1 << 20
"""Tried first, since texts that are keys tend to repeat: this table stays in a GPU's cache."""
MOST_TRIES = 32
MOST_ROWS = 1 << 29
"""Slots are twice the rows, and have 31 bits."""


def numbered_texts(vector: Vector, machine: Machine) -> Vector:
    """Return a column of texts as their numbers (int32) in the order of their bytes, any other as it is."""
    if vector.dtype != STRING:
        return vector
    numbers = None
    if chosen("number_texts_by_hash") and 0 < vector.rows < MOST_ROWS:
        numbers = numbered_by_hash(vector, machine)
    if numbers is None:
        numbers, _ = machine.sorted_texts(vector)
    return Vector(pa.int32(), vector.rows, numbers, vector.valid, vector.nulls)


def numbered_by_hash(vector: Vector, machine: Machine) -> Array:
    """Return the texts' numbers (int32), a null's any."""
    arrays = machine.arrays
    full_size = 1 << max(6, (2 * vector.rows - 1).bit_length())
    slots, owners, overflow = entered(vector, min(SMALL_SLOTS, full_size), MOST_TRIES, machine)
    if overflow:
        slots, owners, _ = entered(vector, full_size, full_size, machine)
    used = numbers_where((owners >= 0).view("uint8"), machine)
    ranks = arrays.zeros(len(owners), "int32")
    if len(used):
        distinct = take({"": vector}, owners[used], machine)[""]
        ranks[used], _ = machine.sorted_texts(distinct)
    return ranks[slots]


def entered(vector: Vector, size: int, tries: int, machine: Machine) -> tuple[Array, Array, bool]:
    """Return each text's slot (int32) and a row (int32) that has each slot's text, -1 for none.

    The slots do not hold all texts, as the third value tells, where one is not in any of as many as are tried.
    """
    arrays, columns = machine.arrays, {"": vector}
    slots, owners = arrays.empty(vector.rows, "int32"), arrays.full(size, -1, "int32")
    overflow = arrays.zeros(1, "uint64")
    arguments = [vector.rows, size, tries, owners, slots, overflow, *buffers_of(columns)]
    machine.launch(machine.compiled(enter_source(vector)), "enter", vector.rows, arguments)
    return slots, owners, bool(overflow[0])


def enter_source(vector: Vector) -> str:
    """Return the kernel `enter`."""
    parameters = ["int64_t rows, int64_t size, int64_t tries, int32_t* owners, int32_t* slots, uint64_t* overflow"]
    return f"""{headers_text(["rows.cuh", "text_table.cuh"])}
KERNEL enter({", ".join([*parameters, *column_parameters({"": vector})])}) {{
{accessors({"": vector})}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto text = c0[row];
        slots[row] = text.valid ? enter_text(c0, text.value, int32_t(row), owners, size - 1, tries, overflow) : 0;
    }}
}}
"""

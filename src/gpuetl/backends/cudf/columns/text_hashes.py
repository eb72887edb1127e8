"""Texts numbered by their hashes alone, and then compared each with the one text that it was taken for.

A table of hashes, and the distinct texts side by side, stay in a GPU's cache where a text that is compared with the row
that was first to have it is somewhere in the column: of 100 million rows with a million texts that is most of the time.
"""

from __future__ import annotations

from gpuetl.backends.cudf.columns.compact import NOT_NEGATIVE, numbers_where
from gpuetl.backends.cudf.columns.dictionaries import numbered_slots
from gpuetl.backends.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector


def numbered_by_hashes(vector: Vector, size: int, tries: int, machine: Machine) -> Array | None:
    """Return texts' numbers (int32) in the order of their bytes, a null's any.

    None where a table of `size` slots, a power of two, has too many hashes, or two texts have the same one.
    """
    arrays, rows = machine.arrays, vector.rows
    slots, owners = arrays.empty(rows, "int32"), arrays.full(size, -1, "int32")
    hashes, failed = arrays.zeros(size, "uint64"), arrays.zeros(1, "uint64")
    given = [rows, size, tries, hashes, owners, slots, failed, *buffers_of({"": vector})]
    machine.launch(machine.compiled(enter_hashes_source(vector)), "enter_hashes", rows, given)
    if failed[0]:
        return None
    texts, by_slot = numbered_slots(vector, owners, numbers_where(owners, machine, NOT_NEGATIVE), machine)
    numbers = arrays.empty(rows, "int32")
    given = [rows, slots, by_slot, numbers, failed, *buffers_of({"": vector, "taken for": texts})]
    machine.launch(machine.compiled(number_texts_source(vector, texts)), "number_texts", rows, given)
    return None if failed[0] else numbers


def enter_hashes_source(vector: Vector) -> str:
    """Return the kernel `enter_hashes`: the first row that has a hash owns its slot."""
    parameters = ["int64_t rows, int64_t size, int64_t tries, uint64_t* hashes, int32_t* owners, int32_t* slots"]
    parameters += ["uint64_t* overflow", *column_parameters({"": vector})]
    return f"""{headers_text(["rows.cuh", "text_table.cuh"])}
KERNEL enter_hashes({", ".join(parameters)}) {{
{accessors({"": vector})}
    const HashTable table{{hashes, owners, uint64_t(size - 1), tries, overflow}};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto text = c0[row];
        slots[row] = text.valid ? table.enter(table_hash(text.value), int32_t(row)) : 0;
    }}
}}
"""


def number_texts_source(vector: Vector, texts: Vector) -> str:
    """Return the kernel `number_texts`: each row's number, and whether a text is another than its number stands for."""
    columns = {"": vector, "taken for": texts}
    parameters = ["int64_t rows, const int32_t* slots, const int32_t* by_slot, int32_t* numbers, uint64_t* differs"]
    return f"""{headers_text(["rows.cuh", "text_table.cuh"])}
KERNEL number_texts({", ".join([*parameters, *column_parameters(columns)])}) {{
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const int32_t number = by_slot[slots[row]];
        const auto text = c0[row];
        if (text.valid && !same_text(text.value, c1[number].value)) *differs = 1;
        numbers[row] = number;
    }}
}}
"""

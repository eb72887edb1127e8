"""Texts numbered by their hashes alone, and then compared each with the one text that it was taken for.

A table of hashes, and the distinct texts side by side, stay in a GPU's cache where a text that is compared with the row
that was first to have it is somewhere in the column: of 100 million rows with a million texts that is most of the time.
"""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import filled
from gpuetl.engines.cudf.columns.compact import NOT_NEGATIVE, numbers_where
from gpuetl.engines.cudf.columns.dictionaries import numbered_slots
from gpuetl.engines.cudf.device.closed_set import integer_name, text_arguments
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector


def numbered_by_hashes(vector: Vector, size: int, tries: int, machine: Machine) -> Array | None:
    """Return texts' numbers (int32) in the order of their bytes, a null's any.

    None where a table of `size` slots, a power of two, has too many hashes, or two texts have the same one.
    """
    arrays, rows = machine.arrays, vector.rows
    slots, owners = arrays.empty(rows, "int32"), filled(size, -1, "int32", machine)
    hashes, failed = arrays.zeros(size, "uint64"), arrays.zeros(1, "uint64")
    module, offsets = machine.closed("texts"), integer_name(vector.offsets)
    given = [rows, size, tries, hashes, owners, slots, failed, *text_arguments(vector)]
    machine.launch(module, f"enter_hashes_{offsets}", rows, given)
    if failed[0]:
        return None
    texts, by_slot = numbered_slots(vector, owners, numbers_where(owners, machine, NOT_NEGATIVE), machine)
    numbers, taken = arrays.empty(rows, "int32"), integer_name(texts.offsets)
    given = [rows, slots, by_slot, numbers, failed, *text_arguments(vector), texts.data, texts.offsets]
    machine.launch(module, f"number_texts_{offsets}_{taken}", rows, given)
    return None if failed[0] else numbers

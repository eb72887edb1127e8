"""Texts as numbers: a table finds the distinct ones, and only these are sorted."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import filled, pick, scatter
from gpuetl.engines.cudf.columns.compact import NOT_NEGATIVE, numbers_where
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.text_hashes import numbered_by_hashes
from gpuetl.engines.cudf.columns.text_suffixes import TooManyTexts, numbered_by_suffixes
from gpuetl.engines.cudf.device.closed_set import integer_name, text_arguments
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import STRING

SMALL_SLOTS: tuple[int, ...] = (1 << 20, 1 << 22)
"""Tried first, since texts that are keys tend to repeat: these tables stay in a GPU's cache."""
MOST_TRIES = 32
MOST_ROWS = 1 << 29
"""Slots are twice the rows, and have 31 bits."""


def numbered_texts(vector: Vector, machine: Machine) -> Vector:
    """Return a column of texts as their numbers (int32) in the order of their bytes, any other as it is."""
    if vector.dtype != STRING or vector.dictionary:
        return vector.numbers
    numbers = None
    if chosen("number_texts_by_hash") and 0 < vector.rows < MOST_ROWS:
        numbers = numbered_by_hash(vector, machine)
    if numbers is None:
        numbers = machine.sorted_texts(vector)
    return Vector(pa.int32(), vector.rows, numbers, vector.valid, vector.nulls)


def numbered_by_hash(vector: Vector, machine: Machine) -> Array:
    """Return the texts' numbers (int32), a null's any.

    A table that is too small is given up before many rows are read, unless its texts stand at the end.
    """
    arrays, small_sizes = machine.arrays, SMALL_SLOTS
    full_size = 1 << max(6, (2 * vector.rows - 1).bit_length())
    try:
        if chosen("number_texts_by_suffix") and (numbers := numbered_by_suffixes(vector, machine)) is not None:
            return numbers
    except TooManyTexts:
        small_sizes = ()
    for size in dict.fromkeys(min(size, full_size) for size in small_sizes):
        numbers = numbered_by_hashes(vector, size, MOST_TRIES, machine)
        if numbers is not None:
            return numbers
    slots, owners = arrays.empty(vector.rows, "int32"), filled(full_size, -1, "int32", machine)
    enter(vector, vector.rows, slots, owners, full_size, machine)
    used = numbers_where(owners, machine, NOT_NEGATIVE)
    ranks = arrays.zeros(len(owners), "int32")
    if len(used):
        distinct = take({"": vector}, pick(owners, used, machine), machine, missing=False)[""]
        scatter(ranks, used, machine, machine.sorted_texts(distinct))
    return pick(ranks, slots, machine)


def enter(vector: Vector, rows: int, slots: Array, owners: Array, tries: int, machine: Machine) -> bool:
    """Enter the first rows into a table: write each text's slot (int32), and the row (int32) that first took a slot.

    `owners` begin as -1.  Return whether they hold all texts: none is in more places than are tried.
    """
    overflow = machine.arrays.zeros(1, "uint64")
    arguments = [rows, len(owners), tries, owners, slots, overflow, *text_arguments(vector)]
    machine.launch(machine.closed("texts"), f"enter_{integer_name(vector.offsets)}", rows, arguments)
    return not overflow[0]

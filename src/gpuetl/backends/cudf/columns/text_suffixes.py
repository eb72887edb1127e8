"""Texts numbered by at most 8 bytes that tell them apart, such as those of `id0000000017` after `id00`.

These bytes are a number that is equal for equal texts only, and sorts as they do.  So a table of numbers stands for the
texts: no text is compared with another, and the distinct ones are sorted as numbers.
"""

from __future__ import annotations

from gpuetl.backends.cudf.columns.arrays import pick, scatter
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.device.closed_set import integer_name, text_arguments
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector

CODE_BYTES, MOST_PREFIX = 8, 16
"""As in device/text_suffixes.cuh."""
SAMPLE = 1 << 16
"""The first rows, which tell how long the prefix is."""
SLOTS = (1 << 20, 1 << 21, 1 << 22)
"""Sizes of the tables that are tried: they stay in a GPU's cache."""
MOST_TRIES = 128
TOO_MANY, OTHER_TEXT = 1, 2
"""Why a table fails."""


class TooManyTexts(Exception):
    """No table has room for the distinct texts."""


def numbered_by_suffixes(vector: Vector, machine: Machine) -> Array | None:
    """Return texts' numbers (int32) in the order of their bytes, a null's any.

    None where 8 bytes do not tell them apart.

    Raises
    ------
    TooManyTexts
        Where they would, but are more than the largest table takes.
    """
    found = prefix_of(vector, machine)
    if found is None:
        return None
    arrays, rows = machine.arrays, vector.rows
    full_size = 1 << max(6, (2 * rows - 1).bit_length())
    slots = arrays.empty(rows, "int32")
    for size in dict.fromkeys(min(size, full_size) for size in SLOTS):
        codes = arrays.zeros(size, "uint64")
        reason = enter_suffixes(vector, rows, found, codes, None, slots, machine)
        if reason == OTHER_TEXT:
            return None
        if not reason:
            return pick(numbers_by_slot(codes, machine), slots, machine)
    raise TooManyTexts


def enter_suffixes(
    vector: Vector,
    rows: int,
    prefix: tuple[int, int],
    codes: Array,
    owners: Array | None,
    slots: Array,
    machine: Machine,
) -> int:
    """Enter the first rows into a table: write each text's slot (int32), and the row (int32) that first took a slot.

    `codes` (uint64) begin as 0.  Return why the table fails, 0 where it does not.
    """
    failed = machine.arrays.zeros(1, "uint64")
    taken = 0 if owners is None else owners
    given = [rows, len(codes), MOST_TRIES, *prefix, codes, taken, slots, failed, *text_arguments(vector)]
    machine.launch(machine.closed("texts"), f"enter_suffixes_{integer_name(vector.offsets)}", rows, given)
    return int(failed[0])


def prefix_of(vector: Vector, machine: Machine) -> tuple[int, int] | None:
    """Return the bytes of the prefix, and a row that has it, as a sample shows; None where texts are too different."""
    sample, found = min(vector.rows, SAMPLE), machine.arrays.zeros(3, "uint64")
    entry = f"find_sizes_{integer_name(vector.offsets)}"
    machine.launch(machine.closed("texts"), entry, sample, [sample, found, *text_arguments(vector)])
    least, greatest, first = found.tolist()
    if not first:  # all are null
        return 0, 0
    prefix, inverted = max(0, greatest - CODE_BYTES), (1 << 64) - 1
    return (prefix, inverted - first) if prefix <= min(inverted - least, MOST_PREFIX) else None


def numbers_by_slot(codes: Array, machine: Machine) -> Array:
    """Return the number (int32) of each slot's code among those in the table, in order."""
    made, taken = machine.arrays.zeros(len(codes), "int32"), taken_in_order(codes, machine)
    scatter(made, taken, machine)
    return made


def taken_in_order(codes: Array, machine: Machine) -> Array:
    """Return the slots (int32) that have a code, in the order of the codes."""
    taken = numbers_where(codes.view("int64"), machine)
    if not len(taken):
        return taken
    return pick(taken, machine.sorted_order([pick(codes, taken, machine)]), machine)

"""Texts numbered by at most 8 bytes that tell them apart, such as those of `id0000000017` after `id00`.

These bytes are a number that is equal for equal texts only, and sorts as they do.  So a table of numbers stands for the
texts: no text is compared with another, and the distinct ones are sorted as numbers.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuetl.engines.cudf.columns.arrays import pick, scatter
from gpuetl.engines.cudf.columns.compact import numbers_where
from gpuetl.engines.cudf.device.closed_set import integer_name, text_arguments
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector

CODE_BYTES, MOST_PREFIX = 8, 16
"""As in device/text_suffixes.cuh."""
SAMPLE = 1 << 16
"""The first rows, which tell how long the prefix is."""
SLOTS = (1 << 20, 1 << 21, 1 << 22)
"""Sizes of the tables that are tried: they stay in a GPU's cache."""
MOST_TRIES = 128
COUNT_BIT = 40
"""From here on a sum counts texts, and below that their bytes, as in device/text_suffixes.cuh."""
TOO_MANY, OTHER_TEXT = 1, 2
"""Why a table fails."""


class TooManyTexts(Exception):
    """No table has room for the distinct texts."""


class Distinct(NamedTuple):
    """The distinct texts of a table in no order: codes (uint64), slots (int32), and rows (int32) that have them."""

    codes: Array
    slots: Array
    rows: Array


class SuffixTable(NamedTuple):
    """A table of codes (uint64), 0 where a slot is free.

    `found` (uint64) has why it fails, and from bit 40 on how many distinct texts are listed, below that their bytes.
    """

    codes: Array
    found: Array
    distinct: Distinct | None = None

    @classmethod
    def of_size(cls, size: int, machine: Machine, lists: bool = False) -> SuffixTable:
        """Return an empty table; one that lists its distinct texts, if that is wanted."""
        arrays = machine.arrays
        codes, found = arrays.zeros(size, "uint64"), arrays.zeros(2, "uint64")
        if not lists:
            return cls(codes, found)
        return cls(codes, found, Distinct(*(arrays.empty(size, dtype) for dtype in ("uint64", "int32", "int32"))))


class Entered(NamedTuple):
    """Why a table has failed, 0 where it has not; how many distinct texts are listed, and their bytes."""

    reason: int
    distinct: int
    text_bytes: int


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
        table = SuffixTable.of_size(size, machine)
        reason = enter_suffixes(vector, rows, found, table, slots, machine).reason
        if reason == OTHER_TEXT:
            return None
        if not reason:
            return pick(numbers_by_slot(table.codes, machine), slots, machine)
    raise TooManyTexts


def enter_suffixes(
    vector: Vector, rows: int, prefix: tuple[int, int], table: SuffixTable, slots: Array, machine: Machine
) -> Entered:
    """Enter the first rows into a table, and write each text's slot (int32); the host waits for what was found."""
    distinct = table.distinct or (0, 0, 0)
    given = [rows, len(table.codes), MOST_TRIES, *prefix, table.codes, *distinct, table.found, slots]
    entry = f"enter_suffixes_{integer_name(vector.offsets)}"
    machine.launch(machine.closed("texts"), entry, rows, [*given, *text_arguments(vector)])
    reason, listed = table.found.tolist()
    return Entered(reason, *divmod(listed, 1 << COUNT_BIT))


def numbered_distinct(distinct: Distinct, count: int, by_slot: Array, machine: Machine) -> Array:
    """Write by slots the numbers (int32) of texts in the order of their bytes; return their rows in this order."""
    rows = machine.arrays.empty(count, "int32")
    if count:
        order = machine.sorted_order([distinct.codes[:count]])
        arguments = [count, order, distinct.slots, distinct.rows, by_slot, rows]
        machine.launch(machine.closed("texts"), "number_distinct", count, arguments)
    return rows


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

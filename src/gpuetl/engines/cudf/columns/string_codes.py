"""Strings as integers: by hash tables, by hashes, by suffixes of at most 8 bytes; distinct ones are sorted."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import NOT_NEGATIVE, filled, numbers_where, pick, scatter
from gpuetl.engines.cudf.columns.gather import take, take_strings
from gpuetl.engines.cudf.columns.kernel_arguments import integer_name, string_arguments
from gpuetl.engines.cudf.columns.string_dictionaries import MAX_DICTIONARY_STRINGS, codes_of_slots
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.types.data_types import STRING

# Strings numbered by at most 8 bytes that tell them apart, such as those of `id0000000017` after `id00`.
#
# These bytes are a number that is equal for equal strings only, and sorts as they do.  So a table of numbers stands for
# the
# strings: no text is compared with another, and the distinct ones are sorted as numbers.


CODE_BYTES, MOST_PREFIX = 8, 16
"""As in device/string_suffixes.cuh."""
SAMPLE = 1 << 16
"""The first rows, which tell how long the prefix is."""
SLOTS = (1 << 20, 1 << 21, 1 << 22)
"""Sizes of the tables that are tried: they stay in a GPU's cache."""
MOST_SUFFIX_TRIES = 128
COUNT_BIT = 40
"""From here on a sum counts strings, and below that their bytes, as in device/string_suffixes.cuh."""
TOO_MANY, OTHER_TEXT = 1, 2
"""Why a table fails."""


class TooManyStrings(Exception):
    """No table has room for the distinct strings."""


class Distinct(NamedTuple):
    """The distinct strings of a table in no order: codes (uint64), slots (int32), and rows (int32) that have them."""

    codes: Array
    slots: Array
    rows: Array


class SuffixTable(NamedTuple):
    """A table of codes (uint64), 0 where a slot is free.

    `status` (uint64) has why it fails, and from bit 40 on how many distinct strings are listed, below that their bytes.
    """

    codes: Array
    status: Array
    distinct: Distinct | None = None

    @classmethod
    def of_size(cls, size: int, machine: Machine, lists: bool = False) -> SuffixTable:
        """Return an empty table; one that lists its distinct strings, if that is wanted."""
        arrays = machine.arrays
        codes, status = arrays.zeros(size, "uint64"), arrays.zeros(2, "uint64")
        if not lists:
            return cls(codes, status)
        return cls(codes, status, Distinct(*(arrays.empty(size, dtype) for dtype in ("uint64", "int32", "int32"))))


class TableStatus(NamedTuple):
    """Why a table has failed, 0 where it has not; how many distinct strings are listed, and their bytes."""

    reason: int
    distinct: int
    text_bytes: int


def codes_by_suffixes(vector: Vector, machine: Machine) -> Array | None:
    """Return the dictionary codes (int32) of strings, in the order of their bytes. The code of a null is undefined.

    None where 8 bytes cannot distinguish the strings.

    Raises
    ------
    TooManyStrings
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
    raise TooManyStrings


def enter_suffixes(
    vector: Vector, rows: int, prefix: tuple[int, int], table: SuffixTable, slots: Array, machine: Machine
) -> TableStatus:
    """Enter the first rows into a table, and write each text's slot (int32); the host waits for what was found."""
    distinct = table.distinct or (0, 0, 0)
    given = [rows, len(table.codes), MOST_SUFFIX_TRIES, *prefix, table.codes, *distinct, table.status, slots]
    entry = f"enter_suffixes_{integer_name(vector.offsets)}"
    machine.launch(machine.closed("strings"), entry, rows, [*given, *string_arguments(vector)])
    reason, listed = table.status.tolist()
    return TableStatus(reason, *divmod(listed, 1 << COUNT_BIT))


def codes_of_distinct(distinct: Distinct, count: int, by_slot: Array, machine: Machine) -> Array:
    """Write by slots the numbers (int32) of strings in the order of their bytes; return their rows in this order."""
    rows = machine.arrays.empty(count, "int32")
    if count:
        order = machine.sorted_order([distinct.codes[:count]])
        arguments = [count, order, distinct.slots, distinct.rows, by_slot, rows]
        machine.launch(machine.closed("strings"), "number_distinct", count, arguments)
    return rows


def prefix_of(vector: Vector, machine: Machine) -> tuple[int, int] | None:
    """Return the size of the prefix in a sample, and a row that has it; None where the strings are too different."""
    sample, found = min(vector.rows, SAMPLE), machine.arrays.zeros(3, "uint64")
    entry = f"find_sizes_{integer_name(vector.offsets)}"
    machine.launch(machine.closed("strings"), entry, sample, [sample, found, *string_arguments(vector)])
    least, greatest, first = found.tolist()
    if not first:  # all are null
        return 0, 0
    prefix, inverted = max(0, greatest - CODE_BYTES), (1 << 64) - 1
    return (prefix, inverted - first) if prefix <= min(inverted - least, MOST_PREFIX) else None


def numbers_by_slot(codes: Array, machine: Machine) -> Array:
    """Return the number (int32) of each slot's code among those in the table, in order."""
    ranks, used_slots = machine.arrays.zeros(len(codes), "int32"), taken_in_order(codes, machine)
    scatter(ranks, used_slots, machine)
    return ranks


def taken_in_order(codes: Array, machine: Machine) -> Array:
    """Return the slots (int32) that have a code, in the order of the codes."""
    used_slots = numbers_where(codes.view("int64"), machine)
    if not len(used_slots):
        return used_slots
    return pick(used_slots, machine.sorted_order([pick(codes, used_slots, machine)]), machine)


# Strings numbered by their hashes alone, and then compared each with the one text that it was taken for.
#
# A table of hashes, and the distinct strings side by side, stay in a GPU's cache where a text that is compared with the
# row
# that was first to have it is somewhere in the column: of 100 million rows with a million strings that is most of the
# time.


def codes_by_hashes(vector: Vector, size: int, tries: int, machine: Machine) -> Array | None:
    """Return strings' numbers (int32) in the order of their bytes, a null's any.

    None where a table of `size` slots, a power of two, has too many hashes, or two strings have the same one.
    """
    arrays, rows = machine.arrays, vector.rows
    slots, owners = arrays.empty(rows, "int32"), filled(size, -1, "int32", machine)
    hashes, failed = arrays.zeros(size, "uint64"), arrays.zeros(1, "uint64")
    module, offsets = machine.closed("strings"), integer_name(vector.offsets)
    given = [rows, size, tries, hashes, owners, slots, failed, *string_arguments(vector)]
    machine.launch(module, f"enter_hashes_{offsets}", rows, given)
    if failed[0]:
        return None
    strings, by_slot = codes_of_slots(vector, owners, numbers_where(owners, machine, NOT_NEGATIVE), machine)
    numbers, used_slots = arrays.empty(rows, "int32"), integer_name(strings.offsets)
    given = [rows, slots, by_slot, numbers, failed, *string_arguments(vector), strings.data, strings.offsets]
    machine.launch(module, f"number_strings_{offsets}_{used_slots}", rows, given)
    return None if failed[0] else numbers


# Strings as numbers: a table finds the distinct ones, and only these are sorted.


SMALL_SLOTS: tuple[int, ...] = (1 << 20, 1 << 22)
"""Tried first, since strings that are keys tend to repeat: these tables stay in a GPU's cache."""
MOST_TRIES = 32
MOST_ROWS = 1 << 29
"""Slots are twice the rows, and have 31 bits."""


def dictionary_codes(vector: Vector, machine: Machine) -> Vector:
    """Return strings, or binary values, as their numbers (int32) in the order of their bytes, any other as it is."""
    vector = replace(vector, dtype=STRING) if vector.holds_bytes else vector
    if vector.dtype != STRING or vector.dictionary:
        return vector.codes
    numbers = None
    if chosen("number_strings_by_hash") and 0 < vector.rows < MOST_ROWS:
        numbers = codes_by_hash(vector, machine)
    if numbers is None:
        numbers = machine.string_ranks(vector)
    return Vector(pa.int32(), vector.rows, numbers, vector.valid, vector.nulls)


def codes_by_hash(vector: Vector, machine: Machine) -> Array:
    """Return the strings' numbers (int32), a null's any.

    A table that is too small is given up before many rows are read, unless its strings stand at the end.
    """
    arrays, small_sizes = machine.arrays, SMALL_SLOTS
    full_size = 1 << max(6, (2 * vector.rows - 1).bit_length())
    try:
        if chosen("number_strings_by_suffix") and (numbers := codes_by_suffixes(vector, machine)) is not None:
            return numbers
    except TooManyStrings:
        small_sizes = ()
    for size in dict.fromkeys(min(size, full_size) for size in small_sizes):
        numbers = codes_by_hashes(vector, size, MOST_TRIES, machine)
        if numbers is not None:
            return numbers
    slots, owners = arrays.empty(vector.rows, "int32"), filled(full_size, -1, "int32", machine)
    enter(vector, vector.rows, slots, owners, full_size, machine)
    used = numbers_where(owners, machine, NOT_NEGATIVE)
    ranks = arrays.zeros(len(owners), "int32")
    if len(used):
        distinct = take({"": vector}, pick(owners, used, machine), machine, missing=False)[""]
        scatter(ranks, used, machine, machine.string_ranks(distinct))
    return pick(ranks, slots, machine)


def enter(vector: Vector, rows: int, slots: Array, owners: Array, tries: int, machine: Machine) -> bool:
    """Enter the first rows into a table: write each text's slot (int32), and the row (int32) that first took a slot.

    `owners` begin as -1.  Return whether they hold all strings: none is in more places than are tried.
    """
    overflow = machine.arrays.zeros(1, "uint64")
    arguments = [rows, len(owners), tries, owners, slots, overflow, *string_arguments(vector)]
    machine.launch(machine.closed("strings"), f"enter_{integer_name(vector.offsets)}", rows, arguments)
    return not overflow[0]


# Columns of few distinct strings get a dictionary, as they are read or written: a table by hash finds these.


"""Rows of the sample that decides on a dictionary: no more than half of its strings may be distinct."""
MOST_DICTIONARY_TRIES = 512
"""Places that are tried for a text: in a table that is half full, far fewer are taken in a row."""
FEW = 1 << 10
"""So many distinct strings are worth one whatever their share: small tables show what large ones do."""


def with_dictionary(vector: Vector, machine: Machine) -> Vector:
    """Return a column of strings with few distinct ones by their numbers; any other as it is.

    Of n rows with b bytes this reads 8n + b bytes and writes 8n; of others only the sample is read, unless that has
    fewer distinct strings than what follows.
    """
    if vector.dtype != STRING or vector.dictionary or not vector.rows:
        return vector
    if chosen("number_strings_by_suffix") and (prefix := prefix_of(vector, machine)):
        vector_coded = by_suffixes(vector, prefix, machine)
        if vector_coded is not None:
            return vector_coded
    arrays = machine.arrays
    slots, owners = arrays.empty(vector.rows, "int32"), filled(slots_for(vector.rows), -1, "int32", machine)
    for rows, most in sample_and_all(vector.rows):
        if not enter(vector, rows, slots, owners, MOST_DICTIONARY_TRIES, machine):
            return vector
        used_slots = numbers_where(owners, machine, NOT_NEGATIVE)
        if len(used_slots) > most:
            return vector
    return by_slots(vector, slots, owners, used_slots, machine)


def slots_for(rows: int) -> int:
    """Return how many slots a table has for as many strings as a dictionary may have, or as there are rows."""
    return 2 * min(MAX_DICTIONARY_STRINGS, 1 << max(5, (rows - 1).bit_length()))


def sample_and_all(rows: int) -> list[tuple[int, int]]:
    """Return how many rows are looked at first, and then all; each with how many distinct strings they may have."""
    sample = min(rows, SAMPLE)
    looks = [(sample, max(FEW, sample // 2)), (rows, MAX_DICTIONARY_STRINGS)]
    return looks[:1] if sample == rows else looks


def by_suffixes(vector: Vector, prefix: tuple[int, int], machine: Machine) -> Vector | None:
    """Return strings by numbers, or as they are if too many are distinct; None where 8 bytes do not tell them apart."""
    arrays, size = machine.arrays, slots_for(vector.rows)
    slots, table, count, text_bytes = arrays.empty(vector.rows, "int32"), SuffixTable.of_size(size, machine, True), 0, 0
    for rows, most in sample_and_all(vector.rows):
        reason, count, text_bytes = enter_suffixes(vector, rows, prefix, table, slots, machine)
        if reason:
            return None if reason == OTHER_TEXT else vector
        if count > most:
            return vector
    assert table.distinct
    by_slot = arrays.zeros(size, "int32")
    owners = codes_of_distinct(table.distinct, count, by_slot, machine)
    strings = take_strings(vector, owners, text_bytes, machine)
    return Vector(STRING, vector.rows, pick(by_slot, slots, machine), vector.valid, vector.nulls, dictionary=strings)


def by_slots(vector: Vector, slots: Array, owners: Array, used_slots: Array, machine: Machine) -> Vector:
    """Return strings by codes; `used_slots` are slots that some row owns, and any of equal rows may own one."""
    dictionary, by_slot = codes_of_slots(vector, owners, used_slots, machine)
    return Vector(STRING, vector.rows, pick(by_slot, slots, machine), vector.valid, vector.nulls, dictionary=dictionary)

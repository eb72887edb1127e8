"""Columns of few distinct texts get a dictionary, as they are read or written: a table by hash finds these."""

from __future__ import annotations

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import filled, pick
from gpuetl.engines.cudf.columns.compact import NOT_NEGATIVE, numbers_where
from gpuetl.engines.cudf.columns.dictionaries import MOST_TEXTS, numbered_slots
from gpuetl.engines.cudf.columns.gather import take_texts
from gpuetl.engines.cudf.columns.text_suffixes import (
    OTHER_TEXT,
    SuffixTable,
    enter_suffixes,
    numbered_distinct,
    prefix_of,
)
from gpuetl.engines.cudf.columns.texts import enter
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import STRING

SAMPLE = 1 << 16
"""So many first rows tell whether a column is worth a dictionary: no more than half of their texts may be distinct."""
MOST_TRIES = 512
"""Places that are tried for a text: in a table that is half full, far fewer are taken in a row."""
FEW = 1 << 10
"""So many distinct texts are worth one whatever their share: small tables show what large ones do."""


def with_dictionary(vector: Vector, machine: Machine) -> Vector:
    """Return a column of texts with few distinct ones by their numbers; any other as it is.

    Of n rows with b bytes this reads 8n + b bytes and writes 8n; of others only the sample is read, unless that has
    fewer distinct texts than what follows.
    """
    if vector.dtype != STRING or vector.dictionary or not vector.rows:
        return vector
    if chosen("number_texts_by_suffix") and (prefix := prefix_of(vector, machine)):
        made = by_suffixes(vector, prefix, machine)
        if made is not None:
            return made
    arrays = machine.arrays
    slots, owners = arrays.empty(vector.rows, "int32"), filled(slots_for(vector.rows), -1, "int32", machine)
    for rows, most in sample_and_all(vector.rows):
        if not enter(vector, rows, slots, owners, MOST_TRIES, machine):
            return vector
        taken = numbers_where(owners, machine, NOT_NEGATIVE)
        if len(taken) > most:
            return vector
    return by_slots(vector, slots, owners, taken, machine)


def slots_for(rows: int) -> int:
    """Return how many slots a table has for as many texts as a dictionary may have, or as there are rows."""
    return 2 * min(MOST_TEXTS, 1 << max(5, (rows - 1).bit_length()))


def sample_and_all(rows: int) -> list[tuple[int, int]]:
    """Return how many rows are looked at first, and then all; each with how many distinct texts they may have."""
    sample = min(rows, SAMPLE)
    looks = [(sample, max(FEW, sample // 2)), (rows, MOST_TEXTS)]
    return looks[:1] if sample == rows else looks


def by_suffixes(vector: Vector, prefix: tuple[int, int], machine: Machine) -> Vector | None:
    """Return texts by numbers, or as they are if too many are distinct; None where 8 bytes do not tell them apart."""
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
    owners = numbered_distinct(table.distinct, count, by_slot, machine)
    texts = take_texts(vector, owners, text_bytes, machine)
    return Vector(STRING, vector.rows, pick(by_slot, slots, machine), vector.valid, vector.nulls, dictionary=texts)


def by_slots(vector: Vector, slots: Array, owners: Array, taken: Array, machine: Machine) -> Vector:
    """Return texts by numbers, of whose slots some are `taken`; which of equal rows owns one makes no difference."""
    dictionary, by_slot = numbered_slots(vector, owners, taken, machine)
    return Vector(STRING, vector.rows, pick(by_slot, slots, machine), vector.valid, vector.nulls, dictionary=dictionary)

"""Columns of few distinct texts get a dictionary, as they are read or written: a table by hash finds these."""

from __future__ import annotations

from gpuetl.backends.cudf.columns.arrays import filled, pick
from gpuetl.backends.cudf.columns.compact import NOT_NEGATIVE, numbers_where
from gpuetl.backends.cudf.columns.dictionaries import MOST_TEXTS, numbered_slots
from gpuetl.backends.cudf.columns.texts import enter
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING

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
    arrays, sample = machine.arrays, min(vector.rows, SAMPLE)
    size = 2 * min(MOST_TEXTS, 1 << max(5, (vector.rows - 1).bit_length()))
    slots, owners = arrays.empty(vector.rows, "int32"), filled(size, -1, "int32", machine)
    for rows, most in ((sample, max(FEW, sample // 2)), (vector.rows, MOST_TEXTS)):
        if not enter(vector, rows, slots, owners, MOST_TRIES, machine):
            return vector
        taken = numbers_where(owners, machine, NOT_NEGATIVE)
        if len(taken) > most:
            return vector
        if rows == vector.rows:
            break
    return by_slots(vector, slots, owners, taken, machine)


def by_slots(vector: Vector, slots: Array, owners: Array, taken: Array, machine: Machine) -> Vector:
    """Return texts by numbers, of whose slots some are `taken`; which of equal rows owns one makes no difference."""
    dictionary, by_slot = numbered_slots(vector, owners, taken, machine)
    return Vector(STRING, vector.rows, pick(by_slot, slots, machine), vector.valid, vector.nulls, dictionary=dictionary)

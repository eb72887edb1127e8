"""Dictionaries of texts: columns of few distinct texts are numbers in the order of these, and move as numbers do."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import choose, count_numbers, pick, scatter
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.device.closed_set import integer_name
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector

MOST_TEXTS = 1 << 16
"""A dictionary has no more: it stays near the caches, and tables by number are small."""


def decoded(vector: Vector, machine: Machine) -> Vector:
    """Return a column whose texts lie in memory; any other as it is."""
    if vector.dictionary is None:
        return vector
    numbers = vector.data
    if vector.nulls:
        numbers = choose(vector.valid, numbers, -1, machine)
    return take({"": vector.dictionary}, numbers, machine, missing=vector.nulls > 0)[""]


def most_decoded_bytes(vector: Vector) -> int:
    """Return a bound of the bytes that a column has where its texts lie in memory, for which nobody waits."""
    return vector.nbytes + (vector.rows * int(vector.dictionary.data.nbytes) if vector.dictionary else 0)


def decoded_bytes(vector: Vector, machine: Machine) -> int:
    """Return the bytes that a column has where its texts lie in memory, with those of its numbers; the host waits."""
    if not vector.dictionary or not vector.dictionary.rows:
        return vector.nbytes
    found, offsets = machine.arrays.zeros(1, "uint64"), vector.dictionary.offsets
    words = vector.valid if vector.nulls else 0
    arguments = [vector.rows, vector.data, words, offsets, found]
    machine.launch(machine.closed("arrays"), f"add_sizes_{integer_name(offsets)}", vector.rows, arguments)
    return vector.nbytes + int(found[0])


def sorted_dictionary(texts: Vector, machine: Machine) -> tuple[Vector, Array]:
    """Return the distinct ones of texts without nulls, in the order of their bytes, and the number (int32) of each."""
    if not texts.rows:
        return texts, machine.arrays.zeros(0, "int32")
    numbers = machine.sorted_texts(texts)
    return text_of_each(numbers, texts, machine), numbers


def text_of_each(numbers: Array, texts: Vector, machine: Machine) -> Vector:
    """Return the text of each number; equal texts have the same one, and there is a text of each up to the greatest."""
    rows = machine.arrays.empty(count_numbers(numbers, machine), "int32")
    scatter(rows, numbers, machine)  # of equal texts any
    return take({"": texts}, rows, machine, missing=False)[""]


def numbered_slots(texts: Vector, owners: Array, taken: Array, machine: Machine) -> tuple[Vector, Array]:
    """Return the texts of the rows that own `taken` slots of a table, in order, and each slot's number (int32)."""
    dictionary, numbers = sorted_dictionary(
        take({"": texts}, pick(owners, taken, machine), machine, missing=False)[""], machine
    )
    by_slot = machine.arrays.zeros(len(owners), "int32")
    scatter(by_slot, taken, machine, numbers)
    return dictionary, by_slot


def renumbered(numbers: Array, table: Array, machine: Machine) -> Array:
    """Return the entries of a table at these numbers; those of an empty one are all of nulls."""
    return pick(table, numbers, machine) if len(table) else numbers

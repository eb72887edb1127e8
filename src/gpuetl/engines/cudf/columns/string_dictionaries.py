"""Columns of few distinct strings as codes of a sorted dictionary, and dictionaries that partitions share."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.arrays import choose, count_numbers, pick, scatter
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kernel_arguments import integer_name
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.types.data_types import STRING

# Dictionaries of strings: columns of few distinct strings are numbers in the order of these, and move as numbers do.


MAX_DICTIONARY_STRINGS = 1 << 16
"""A dictionary has no more: it stays near the caches, and tables by number are small."""


def decoded(vector: Vector, machine: Machine) -> Vector:
    """Return a column whose strings lie in memory; any other as it is."""
    if vector.dictionary is None:
        return vector
    numbers = vector.data
    if vector.nulls:
        numbers = choose(vector.valid, numbers, -1, machine)
    return take({"": vector.dictionary}, numbers, machine, missing=vector.nulls > 0)[""]


def most_decoded_bytes(vector: Vector) -> int:
    """Return a bound of the bytes that a column has where its strings lie in memory, for which nobody waits."""
    return vector.nbytes + (vector.rows * int(vector.dictionary.data.nbytes) if vector.dictionary else 0)


def decoded_bytes(vector: Vector, machine: Machine) -> int:
    """Return the bytes that a column has where its strings lie in memory, with those of its numbers; the host waits."""
    if not vector.dictionary or not vector.dictionary.rows:
        return vector.nbytes
    found, offsets = machine.arrays.zeros(1, "uint64"), vector.dictionary.offsets
    words = vector.valid if vector.nulls else 0
    arguments = [vector.rows, vector.data, words, offsets, found]
    machine.launch(machine.closed("arrays"), f"add_sizes_{integer_name(offsets)}", vector.rows, arguments)
    return vector.nbytes + int(found[0])


def sorted_dictionary(strings: Vector, machine: Machine) -> tuple[Vector, Array]:
    """Return the distinct strings in the order of their bytes, and the code (int32) of each row; there are no nulls."""
    if not strings.rows:
        return strings, machine.arrays.zeros(0, "int32")
    numbers = machine.string_ranks(strings)
    return strings_by_code(numbers, strings, machine), numbers


def strings_by_code(numbers: Array, strings: Vector, machine: Machine) -> Vector:
    """Return the string of each code. Equal strings have the same code, and every code up to the greatest occurs."""
    rows = machine.arrays.empty(count_numbers(numbers, machine), "int32")
    scatter(rows, numbers, machine)  # of equal strings any
    return take({"": strings}, rows, machine, missing=False)[""]


def codes_of_slots(strings: Vector, owners: Array, used_slots: Array, machine: Machine) -> tuple[Vector, Array]:
    """Return the strings of the rows that own `used_slots` slots of a table, in order, and each slot's code (int32)."""
    dictionary, numbers = sorted_dictionary(
        take({"": strings}, pick(owners, used_slots, machine), machine, missing=False)[""], machine
    )
    by_slot = machine.arrays.zeros(len(owners), "int32")
    scatter(by_slot, used_slots, machine, numbers)
    return dictionary, by_slot


def renumbered(numbers: Array, table: Array, machine: Machine) -> Array:
    """Return the entries of a table at these numbers; those of an empty one are all of nulls."""
    return pick(table, numbers, machine) if len(table) else numbers


# Dictionaries of strings by what they hold: those of partitions that found the same strings become one.
#
# Columns of one dictionary are put below each other as numbers; of several, strings are sorted and numbers looked up
# anew.


MOST_BYTES = 1 << 18
"""Of a dictionary that is copied to the host to be compared."""


class Content(NamedTuple):
    """The strings of a dictionary in host memory, and a digest of them."""

    digest: bytes
    offsets: NDArray[Any]
    data: NDArray[np.uint8]


_CONTENTS: WeakKeyDictionary[Vector, Content] = WeakKeyDictionary()
_SHARED_DICTIONARIES: WeakValueDictionary[tuple[bytes, type], Vector] = WeakValueDictionary()
"""Dictionaries by their digest, and by the kind of their arrays."""
_LOCK = Lock()


def with_shared_dictionaries(frame: Frame) -> Frame:
    """Return a frame whose dictionaries are those that others of this process have, where they hold the same."""
    changed = {}
    for name, vector in frame.columns.items():
        if vector.dictionary and (dictionary := shared(vector.dictionary)) is not vector.dictionary:
            changed[name] = replace(vector, dictionary=dictionary)
    return frame.updated(changed) if changed else frame


def shared(dictionary: Vector) -> Vector:
    """Return the first dictionary of the same content; a large one is not compared."""
    content = content_of(dictionary)
    if content is None:
        return dictionary
    with _LOCK:
        kind = np.ndarray if isinstance(dictionary.data, np.ndarray) else type(dictionary.data)
        return _SHARED_DICTIONARIES.setdefault((content.digest, kind), dictionary)


def content_of(dictionary: Vector) -> Content | None:
    """Return what a dictionary holds, which is copied once, or nothing of a large one; the host waits."""
    if dictionary.nbytes > MOST_BYTES:
        return None
    with _LOCK:
        content = _CONTENTS.get(dictionary)
    if content is None:
        offsets, data = host(dictionary.offsets), host(dictionary.data)
        digest = blake2b(offsets.astype("int64").tobytes() + data.tobytes()).digest()
        content = Content(digest, offsets, data)
        with _LOCK:
            _CONTENTS[dictionary] = content
    return content


def dictionary_of(content: Content, arrays: Any) -> Vector:
    """Return the dictionary of this content, in memory of an array module.

    Others may have it before it is copied, so this is called in no stage: what is asked of a device outside of stages
    comes before all that is asked later.
    """
    key = content.digest, arrays.ndarray
    with _LOCK:
        known = _SHARED_DICTIONARIES.get(key)
    if known is not None:
        return known
    data, offsets = arrays.asarray(content.data), arrays.asarray(content.offsets)
    dictionary = Vector(STRING, len(offsets) - 1, data, None, 0, offsets)
    with _LOCK:
        _CONTENTS[dictionary] = content
        return _SHARED_DICTIONARIES.setdefault(key, dictionary)


def host(array: Any) -> NDArray[Any]:
    """Return an array as one of NumPy's."""
    return np.asarray(array) if isinstance(array, np.ndarray) else array.get()

"""Where groups and values begin among rows in order: marks of rows that differ from the one before."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import fill, filled
from gpuetl.engines.cudf.columns.keys import MOST_DIGITS, Key, Keys, Words, launch_digits
from gpuetl.engines.cudf.columns.layout import Layout
from gpuetl.engines.cudf.columns.unpacked import MOST_OUTPUTS, OUTPUT_WORDS, Unpacked
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.records import dataclass


@dataclass(frozen=True, eq=False)
class Marks:
    """Rows (uint8) that differ from the one before: `groups` in the leading keys, `values` in any key; the first does.

    `ties` is the number (uint64) of those that differ in none.
    """

    groups: Array
    values: Array
    ties: Array


@dataclass(frozen=True)
class Leading:
    """The leading digits that define a group. The lowest `shift` bits of the last one do not count."""

    digits: int
    shift: int = 0


def mark_columns(keys: Keys, leading: int, machine: Machine) -> Marks:
    """Mark rows that stand in order, by their columns; the first `leading` keys make the group."""
    if not keys.keys:
        return single(keys.rows, machine)
    return marked(keys, Leading(sum(key.digits for key in keys.keys[:leading])), [], machine)


def mark_words(
    words: list[Array], keys: Keys, leading: int, layout: Layout, rows: Array, unpacked: Sequence[Unpacked],
    machine: Machine,
) -> Marks:  # fmt: skip
    """Mark rows in the order `rows`, by their words, and write the columns that are `unpacked` of them."""
    columns = (Vector(pa.from_numpy_dtype(word.dtype), len(word), word) for word in words)
    own = Keys(tuple(Key(column, False) for column in columns), keys.rows, rows)
    outputs = sorted(each.output(layout, machine) for each in unpacked)
    return marked(own, leading_words(keys, leading, layout), outputs, machine)


def leading_words(keys: Keys, leading: int, layout: Layout) -> Leading:
    """Return which words hold digits of the first `leading` keys."""
    digits = sum(key.digits for key in keys.keys[:leading])
    found = Leading(0)
    for place, word in enumerate(layout.words):
        own = [digit for digit in word if digit < digits]
        if own:
            found = Leading(place + 1, layout.shift(word, own[-1]))
    return found


def marked(keys: Keys, leading: Leading, outputs: Sequence[tuple[int, Words]], machine: Machine) -> Marks:
    """Mark rows by their digits, and write the outputs. Each output comes with the number of its word.

    Without leading digits all rows are one group. If all digits lead, groups are runs of equal values.
    """
    arrays, rows = machine.arrays, keys.rows
    values, ties = arrays.empty(rows, "uint8"), arrays.zeros(1, "uint64")
    apart = arrays.empty(rows, "uint8") if leading.digits and leading != Leading(keys.digits) else None
    digits = keys.described(machine)
    for first in range(0, len(digits), MOST_DIGITS):
        part = digits[first : first + MOST_DIGITS]
        some = [
            [*words[:-1], words[-1] + place - first] for place, words in outputs if first <= place < first + len(part)
        ]
        own = marking_words(Leading(max(0, leading.digits - first), leading.shift), some)
        counted = ties if first + len(part) == len(digits) else None
        mark_digits(keys, part, first > 0, [counted, apart, values], own, machine)
    if not leading.digits:
        return Marks(first_only(rows, machine), values, ties)
    return Marks(values if apart is None else apart, values, ties)


def differences(keys: Keys, digits: Sequence[Words], more: bool, values: Array, machine: Machine) -> None:
    """Mark rows (uint8) that differ from the previous row in some digits. `more` keeps the marks that are set."""
    mark_digits(keys, digits, more, [None, None, values], marking_words(Leading(0), []), machine)


def mark_digits(
    keys: Keys, digits: Sequence[Words], more: bool, made: Sequence[Array | None], marking: Words, machine: Machine
) -> None:
    """Mark rows by at most 16 digits. `made` are the ties, the groups and the values; None is not written."""
    places = [0 if array is None else array for array in made]
    struct = [*keys.struct(digits, machine), *marking]
    launch_digits("keys", "mark_keys", len(digits), keys.rows, [int(more), *places], struct, machine)


def marking_words(leading: Leading, outputs: Sequence[Words]) -> Words:
    """Return the words that follow the keys in a `Marking` of device/key_kernels.cuh."""
    written = [word for words in outputs for word in words]
    padding = [0] * (OUTPUT_WORDS * MOST_OUTPUTS - len(written))
    return [leading.digits, leading.shift, len(outputs), *written, *padding]


def single(rows: int, machine: Machine) -> Marks:
    """Return the marks of rows that are all equal."""
    first = first_only(rows, machine)
    return Marks(first, first, filled(1, max(0, rows - 1), "uint64", machine))


def first_only(rows: int, machine: Machine) -> Array:
    """Mark the first row."""
    marks = machine.arrays.zeros(rows, "uint8")
    fill(marks[:1], 1, machine)
    return marks

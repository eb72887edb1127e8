"""Keys packed into few narrow words, where they change among sorted rows, and columns computed back from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import fill, filled
from gpuetl.engines.cudf.columns.keys import (
    ALL,
    FEW_COMPONENTS,
    MOST_COMPONENTS,
    SIGN,
    Key,
    Keys,
    Layout,
    Words,
    kernel_components,
    launch_components,
    unsigned_type,
)
from gpuetl.engines.cudf.columns.validity import empty_column
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes, storage_type
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass

# Columns that rows were sorted by, computed in that order from the words of the keys.
#
# A gather would read each of them at random; `mark` has read the words already.


MOST_OUTPUTS, OUTPUT_WORDS = 48, 5
"""As in device/key_kernels.cuh: the columns that one launch writes, and the words that describe a column."""


def is_unpackable(column: Vector) -> bool:
    """Return whether a key's components tell each value of its column: those of integers in memory, without nulls.

    Floats have more than one zero and NaN; long decimals have two components; strings without a dictionary have
    but ranks.
    """
    dtype = column.codes.dtype
    return column.valid is None and not has_bytes(dtype) and np.dtype(storage_type(dtype)).kind in "iu"


@dataclass(frozen=True, eq=False)
class Unpacked:
    """A column that is computed from the only component of its key. `component` is the number of that component."""

    component: int
    descending: bool
    column: Vector

    @classmethod
    def of(cls, keys: Keys, place: int, machine: Machine) -> Unpacked:
        """Return what writes the column of the key at a place, which its components tell, for as many rows."""
        key = keys.keys[place]
        before = sum(other.components for other in keys.keys[:place])
        return cls(before, key.descending, empty_column(key.column.dtype, keys.rows, machine, nullable=False))

    def output(self, layout: Layout, machine: Machine) -> tuple[int, Words]:
        """Return the number of the component's word, and an `Output` of device/key_kernels.cuh for word 0.

        A component without bits is in no word. It is the least value in all rows.
        """
        word, shift = layout.place(self.component)
        dtype = np.dtype(storage_type(self.column.dtype))
        turned = (ALL if self.descending else 0) ^ (SIGN if dtype.kind == "i" else 0)
        mask = (1 << layout.bits[self.component]) - 1
        address = machine.address(self.column.data)
        return word, [address, layout.least[self.component], mask, turned, shift << 8 | dtype.itemsize << 16]


# Where groups and values begin among rows in order: marks of rows that differ from the one before.


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
    """The leading components that define a group. The lowest `shift` bits of the last one do not count."""

    components: int
    shift: int = 0


def mark_columns(keys: Keys, leading: int, machine: Machine) -> Marks:
    """Mark rows that stand in order, by their columns; the first `leading` keys make the group."""
    if not keys.keys:
        return single(keys.rows, machine)
    return marked(keys, Leading(sum(key.components for key in keys.keys[:leading])), [], machine)


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
    """Return which words hold components of the first `leading` keys."""
    components = sum(key.components for key in keys.keys[:leading])
    found = Leading(0)
    for place, word in enumerate(layout.packed_integers):
        own = [component for component in word if component < components]
        if own:
            found = Leading(place + 1, layout.shift(word, own[-1]))
    return found


def marked(keys: Keys, leading: Leading, outputs: Sequence[tuple[int, Words]], machine: Machine) -> Marks:
    """Mark rows by their components, and write the outputs. Each output comes with the number of its word.

    Without leading components all rows are one group. If all components lead, groups are runs of equal values.
    """
    arrays, rows = machine.arrays, keys.rows
    values, ties = arrays.empty(rows, "uint8"), arrays.zeros(1, "uint64")
    apart = arrays.empty(rows, "uint8") if leading.components and leading != Leading(keys.components) else None
    components = keys.described(machine)
    for first in range(0, len(components), MOST_COMPONENTS):
        part = components[first : first + MOST_COMPONENTS]
        some = [
            [*words[:-1], words[-1] + place - first] for place, words in outputs if first <= place < first + len(part)
        ]
        own = marking_words(Leading(max(0, leading.components - first), leading.shift), some)
        counted = ties if first + len(part) == len(components) else None
        mark_components(keys, part, first > 0, [counted, apart, values], own, machine)
    if not leading.components:
        return Marks(first_only(rows, machine), values, ties)
    return Marks(values if apart is None else apart, values, ties)


def differences(keys: Keys, components: Sequence[Words], more: bool, values: Array, machine: Machine) -> None:
    """Mark rows (uint8) that differ from the previous row in some components. `more` keeps the marks that are set."""
    mark_components(keys, components, more, [None, None, values], marking_words(Leading(0), []), machine)


def mark_components(
    keys: Keys, components: Sequence[Words], more: bool, marks: Sequence[Array | None], marking: Words, machine: Machine
) -> None:
    """Mark rows by at most 16 components. `marks` are the ties, the groups and the values; None is not written."""
    places = [0 if array is None else array for array in marks]
    struct = [*keys.struct(components, machine), *marking]
    launch_components("keys", "mark_keys", len(components), keys.rows, [int(more), *places], struct, machine)


def marking_words(leading: Leading, outputs: Sequence[Words]) -> Words:
    """Return the words that follow the keys in a `Marking` of device/key_kernels.cuh."""
    written = [word for words in outputs for word in words]
    padding = [0] * (OUTPUT_WORDS * MOST_OUTPUTS - len(written))
    return [leading.components, leading.shift, len(outputs), *written, *padding]


def single(rows: int, machine: Machine) -> Marks:
    """Return the marks of rows that are all equal."""
    first = first_only(rows, machine)
    return Marks(first, first, filled(1, max(0, rows - 1), "uint64", machine))


def first_only(rows: int, machine: Machine) -> Array:
    """Mark the first row."""
    marks = machine.arrays.zeros(rows, "uint8")
    fill(marks[:1], 1, machine)
    return marks


# Keys measured in one pass, and packed by another into as few words, and as narrow ones, as hold them.


MANY_ROWS = 1 << 20
"""From here on a kernel takes few components: 11 took 10 ms for 100 million rows on an H200 where 2 take 0.4."""


def measured(keys: Keys, machine: Machine) -> Layout:
    """Measure all components, and look whether the rows are in order: one pass over the columns, and one wait.

    More components than a kernel takes are measured in parts.  Each part checks the order of the rows that are
    equal in all earlier parts, unless the first part has shown that the rows are in none.
    """
    components = keys.described(machine)
    if not components or not keys.rows:
        return Layout((0,) * len(components), (0,) * len(components), True)
    most = components_together(keys.rows)
    parts = [components[first : first + most] for first in range(0, len(components), most)]
    ranges = machine.arrays.zeros(2 * len(components) + len(parts), "uint64")
    differ = None
    places = ranges
    for place, part in enumerate(parts):
        if place == 1 and not ranges[2 * len(parts[0])]:
            differ = machine.arrays.zeros(keys.rows, "uint8")
        if differ is not None:
            differences(keys, parts[place - 1], place > 1, differ, machine)
        arguments = [0 if differ is None else differ, places]
        launch_components("keys", "measure_keys", len(part), keys.rows, arguments, keys.struct(part, machine), machine)
        places = places[2 * len(part) + 1 :]
    return layout_of(ranges.tolist(), [len(part) for part in parts])


def components_together(rows: int) -> int:
    """Return how many components a kernel takes: of many rows few, for which it needs few registers."""
    return FEW_COMPONENTS if rows >= MANY_ROWS else MOST_COMPONENTS


def layout_of(ranges: Sequence[int], counts: Sequence[int]) -> Layout:
    """Return the layout of the measured components. `counts` are the components of each part."""
    least: list[int] = []
    bits: list[int] = []
    in_order, at = True, 0
    for count in counts:
        found = ranges[at : at + 2 * count]
        least += [ALL - value for value in found[::2]]
        bits += [max(0, high - low).bit_length() for low, high in zip(least[-count:], found[1::2], strict=True)]
        in_order, at = in_order and not ranges[at + 2 * count], at + 2 * count + 1
    return Layout(tuple(least), tuple(bits), in_order)


def packed(keys: Keys, layout: Layout, machine: Machine) -> list[Array]:
    """Return each row's words, unsigned numbers of 8 to 64 bits, the most significant first.

    A pass for each `components_together`.
    """
    packed_words = [
        machine.arrays.empty(keys.rows, f"uint{unsigned_type(layout.width(word))}") for word in layout.packed_integers
    ]
    components, most = keys.described(machine), components_together(keys.rows)
    of_words = [(component, number) for number, word in enumerate(layout.packed_integers) for component in word]
    for first in range(0, len(of_words), most):
        part = of_words[first : first + most]
        places = [packed_place(layout, part, at, packed_words, machine) for at in range(len(part))]
        launch_placed("keys", "pack_keys", keys, [components[component] for component, _ in part], places, [], machine)
    return packed_words


def packed_place(
    layout: Layout, part: Sequence[tuple[int, int]], at: int, packed_words: Sequence[Array], machine: Machine
) -> Words:
    """Return a `Place` of device/keys.cuh for one of the components that a pass packs, each with its word's number.

    The last component of a word in the pass writes it; with components of an earlier pass, where there are such.
    """
    component, number = part[at]
    word, own = layout.packed_integers[number], [other for other, its in part if its == number]
    target = packed_words[number] if component == own[-1] else None
    *place, bits = placed(layout, word, component, target, machine)
    return [*place, bits | (own[0] != word[0]) << 16]


def placed(layout: Layout, word: Sequence[int], component: int, target: Array | None, machine: Machine) -> Words:
    """Return a `Place` of device/keys.cuh for a component. `target` is the array of the words that end with it."""
    address, bits = (0, 0) if target is None else (machine.address(target), 8 * target.dtype.itemsize)
    return [layout.least[component], address, bits | layout.shift(word, component) << 8]


def launch_placed(
    program: str, entry: str, keys: Keys, components: list[Words], places: list[Words], more: list[object],
    machine: Machine,
) -> None:  # fmt: skip
    """Run a kernel that takes a place for each component."""
    count = len(components)
    padding = [0] * (3 * (kernel_components(count) - count))
    struct = [*keys.struct(components, machine), *(word for place in places for word in place), *padding]
    launch_components(program, entry, count, keys.rows, more, struct, machine)

"""Key columns as unsigned integers that sort as the values do, and where their bits lie in 64-bit words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.string_codes import dictionary_codes
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
from gpuetl.engines.cudf.machine import Array, Machine, Struct
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL

# Key columns as components: unsigned integers that sort as the values do. Kernels read them (device/keys.cuh).


KERNEL_COMPONENTS = (1, 2, 3, 4, 8, 16)
"""Each kernel exists for these numbers of components."""
MOST_COMPONENTS, FEW_COMPONENTS = KERNEL_COMPONENTS[-1], 2
UNSIGNED, SIGNED, FLOATING, FLAG = range(4)
"""`Order` in device/keys.cuh."""
ORDERS = {"u": UNSIGNED, "i": SIGNED, "f": FLOATING}
Words = list[int]
"""The 64-bit words of a struct, as unsigned integers."""


@dataclass(frozen=True, eq=False)
class Key:
    """A column of fixed width, and where its values and nulls stand: NaN is the greatest, -0.0 is 0.0.

    With `flagged` a component before the value's says where the nulls are.
    """

    column: Vector
    flagged: bool
    descending: bool = False
    nulls_first: bool = False

    @property
    def components(self) -> int:
        """How many components the key has."""
        return self.flagged + (2 if storage_type(self.column.dtype) == "V16" else 1)

    def described(self, machine: Machine) -> Iterator[Words]:
        """Yield a `Component` of device/keys.cuh for each component."""
        data, stored = machine.address(self.column.data), storage_type(self.column.dtype)
        valid = 0 if self.column.valid is None else machine.address(self.column.valid)
        if self.flagged:
            yield [0, valid, kind(0, FLAG, not self.nulls_first)]
        if stored == "V16":
            yield [data + 8, valid, kind(16, SIGNED, self.descending)]
            yield [data, valid, kind(16, UNSIGNED, self.descending)]
        else:
            dtype = np.dtype(stored)
            yield [data, valid, kind(dtype.itemsize, ORDERS[dtype.kind], self.descending)]


def kind(size: int, order: int, flipped: bool) -> int:
    """Return the last word of a `Component`."""
    return size | order << 8 | flipped << 16


ABSENT = [0, 0, kind(0, FLAG, flipped=True)]
"""A component that is 0 in all rows."""


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of a frame's rows, the first the most significant; `selected`, if any, are the numbers of the rows taken."""

    keys: tuple[Key, ...]
    rows: int
    selected: Array | None = None

    @property
    def components(self) -> int:
        """How many components a row has."""
        return sum(key.components for key in self.keys)

    def described(self, machine: Machine) -> list[Words]:
        """Return a `Component` of device/keys.cuh for each component."""
        return [component for key in self.keys for component in key.described(machine)]

    def struct(self, components: Sequence[Words], machine: Machine) -> Words:
        """Return some of the components as a `Keys` of device/keys.cuh, padded to the components of the kernel."""
        selected = [0, 0] if self.selected is None else [machine.address(self.selected), self.selected.dtype.itemsize]
        absent = [ABSENT] * (kernel_components(len(components)) - len(components))
        return [*selected, len(components), *(word for component in (*components, *absent) for word in component)]


def kernel_components(count: int) -> int:
    """Return the number of components of the smallest kernel that takes `count` components."""
    return next(components for components in KERNEL_COMPONENTS if count <= components)


def launch_components(
    program: str, entry: str, components: int, rows: int, arguments: Sequence[Any], struct: Words, machine: Machine
) -> None:
    """Run the kernel for a number of components. Its parameters are the rows, the arguments and the struct.

    Kernels for few components have a program of their own: it compiles in a second.
    """
    count = kernel_components(components)
    module = machine.closed(program if count <= FEW_COMPONENTS else f"wide_{program}")
    passed = Struct(np.array(struct, np.uint64).view(np.int64))
    machine.launch(module, f"{entry}_{count}", rows, [rows, *arguments, passed])


def key_of(vector: Vector, key: SortKey, machine: Machine) -> Key:
    """Return a column as a key; strings by their number in the order of their bytes."""
    return Key(dictionary_codes(vector, machine), vector.valid is not None, key.descending, key.nulls_first)


def keys_of(columns: Mapping[str, Vector], keys: Sequence[SortKey], rows: int, machine: Machine) -> Keys:
    """Return a frame's keys; columns of the type null tell no rows apart and are left out."""
    typed = [key for key in keys if columns[key.column].dtype != NULL]
    return Keys(tuple(key_of(columns[key.column], key, machine) for key in typed), rows)


# Where the components of keys lie in words of 64 bits.


WIDTH = 64
ALL, SIGN = (1 << WIDTH) - 1, 1 << (WIDTH - 1)


@dataclass(frozen=True)
class Layout:
    """Where the components of keys lie in packed integers: their least values, and the bits from these to the greatest.

    `in_order` tells whether the rows stand in the order of the keys.
    """

    least: tuple[int, ...]
    bits: tuple[int, ...]
    in_order: bool

    @property
    def packed_integers(self) -> list[list[int]]:
        """The components of each word, whole ones, the most significant first; those without bits are in none."""
        integers: list[list[int]] = []
        for component, bits in enumerate(self.bits):
            if not bits:
                continue
            if integers and self.width(integers[-1]) + bits <= WIDTH and len(integers[-1]) < MOST_COMPONENTS:
                integers[-1].append(component)
            else:
                integers.append([component])
        return integers

    def width(self, components: Sequence[int]) -> int:
        """Return the bits of some components together."""
        return sum(self.bits[component] for component in components)

    def shift(self, word: Sequence[int], component: int) -> int:
        """Return how many bits of a word stand below a component."""
        return self.width(word[word.index(component) + 1 :])

    def place(self, component: int) -> tuple[int, int]:
        """Return the number of a component's word and how many of its bits stand below; 0 and 0 of one without bits."""
        places = (
            (place, self.shift(word, component)) for place, word in enumerate(self.packed_integers) if component in word
        )
        return next(places, (0, 0))


def unsigned_type(bits: int) -> int:
    """Return the width of the narrowest unsigned type that holds `bits` bits."""
    return next(width for width in (8, 16, 32, 64) if bits <= width)

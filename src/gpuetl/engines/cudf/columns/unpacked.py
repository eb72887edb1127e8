"""Columns that rows were sorted by, computed in that order from the words of the keys.

A gather would read each of them at random; `mark` has read the words already.
"""

from __future__ import annotations

import numpy as np

from gpuetl.engines.cudf.columns.keys import Keys, Words
from gpuetl.engines.cudf.columns.layout import ALL, SIGN, Layout
from gpuetl.engines.cudf.columns.written import empty_column
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING

MOST_OUTPUTS, OUTPUT_WORDS = 48, 5
"""As in device/key_kernels.cuh: the columns that one launch writes, and the words that describe a column."""


def is_told_by_digits(column: Vector) -> bool:
    """Tell whether a key's digits tell each value of its column: those of integers in memory, without nulls.

    Floats have more than one zero and NaN; long decimals have two digits; texts without a dictionary have but ranks.
    """
    dtype = column.numbers.dtype
    return column.valid is None and dtype != STRING and np.dtype(storage_type(dtype)).kind in "iu"


@dataclass(frozen=True, eq=False)
class Unpacked:
    """A column, `made`, that is computed from the only digit of its key. `digit` is the number of that digit."""

    digit: int
    descending: bool
    made: Vector

    @classmethod
    def of(cls, keys: Keys, place: int, machine: Machine) -> Unpacked:
        """Return what writes the column of the key at a place, which its digits tell, for as many rows."""
        key = keys.keys[place]
        before = sum(other.digits for other in keys.keys[:place])
        return cls(before, key.descending, empty_column(key.column.dtype, keys.rows, machine, nullable=False))

    def output(self, layout: Layout, machine: Machine) -> tuple[int, Words]:
        """Return the number of the digit's word, and an `Output` of device/key_kernels.cuh for word 0.

        A digit without bits is in no word. It is the least value in all rows.
        """
        word, shift = layout.place(self.digit)
        dtype = np.dtype(storage_type(self.made.dtype))
        turned = (ALL if self.descending else 0) ^ (SIGN if dtype.kind == "i" else 0)
        mask = (1 << layout.bits[self.digit]) - 1
        address = machine.address(self.made.data)
        return word, [address, layout.least[self.digit], mask, turned, shift << 8 | dtype.itemsize << 16]

"""Columns that rows were sorted by, computed in that order from the words of the keys.

A gather would read each of them at random; `mark` has read the words already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuetl.backends.cudf.columns.keys import Keys
from gpuetl.backends.cudf.columns.words import Layout, signed
from gpuetl.backends.cudf.columns.written import empty_column
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector, storage_type
from gpuetl.expressions.types import STRING


def is_told_by_digits(column: Vector) -> bool:
    """Tell whether a key's digits tell each value of its column: those of integers in memory, without nulls.

    Floats have more than one zero and NaN; long decimals have two digits; texts without a dictionary have but ranks.
    """
    dtype = column.numbers.dtype
    return column.valid is None and dtype != STRING and np.dtype(storage_type(dtype)).kind in "iu"


@dataclass(frozen=True, eq=False)
class Unpacked:
    """The text of `mark` that writes a key's column, `made`, from the key's only digit, of this number."""

    digit: int
    descending: bool
    made: Vector

    @classmethod
    def of(cls, keys: Keys, place: int, machine: Machine) -> Unpacked:
        """Return what writes the column of the key at a place, which its digits tell, for as many rows."""
        key = keys.keys[place]
        before = sum(other.digits for other in keys.keys[:place])
        return cls(before, key.descending, empty_column(key.column.dtype, keys.rows, machine, nullable=False))

    @property
    def stored(self) -> str:
        """The C++ type that is written."""
        return stored_c_type(self.made.dtype)

    @property
    def parameters(self) -> list[str]:
        """Where the digit lies in its word, and the values."""
        numbers = (f"int64_t {name}{self.digit}" for name in ("least", "shift", "mask"))
        return [*numbers, f"{self.stored}* r{self.digit}"]

    def arguments(self, layout: Layout) -> list[object]:
        """Return what goes with the parameters; a digit without bits is in no word, and its least value in all rows."""
        _, shift = layout.place(self.digit)
        mask = (1 << layout.bits[self.digit]) - 1
        return [signed(layout.least[self.digit]), shift, signed(mask), self.made.data]

    def store(self, layout: Layout) -> str:
        """Return the statement that writes a row, whose words are `x0` and so on."""
        d, (word, _) = self.digit, layout.place(self.digit)
        digit = f"uint64_t(least{d}) + (x{word} >> shift{d} & uint64_t(mask{d}))"
        return f"r{d}[row] = integer_of<{self.stored}>({f'~({digit})' if self.descending else digit});"

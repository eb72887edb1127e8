"""Arrays between guard bands: values before and after them that a kernel must leave as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GUARD = 1024
"""Elements on each side: a block's worth, and a multiple of every alignment."""
PATTERN = 0xA5
"""The byte of guard bands, and of outputs that are not written yet."""


class Guarded:
    """Values in device memory, or room for them; `inside` is what a kernel gets."""

    def __init__(self, name: str, values: NDArray[Any], machine: Any) -> None:
        self.name, self.machine, self.values = name, machine, values
        whole = unwritten(len(values) + 2 * GUARD, values.dtype)
        whole[GUARD : GUARD + len(values)] = values
        self.whole = machine.arrays.asarray(whole)
        self.inside = self.whole[GUARD : GUARD + len(values)]

    def result(self) -> NDArray[Any]:
        """Return what stands between the bands now."""
        result: NDArray[Any] = self.machine.host(self.inside)
        return result

    def damage(self) -> str:
        """Say which guard values have changed; nothing where none has."""
        whole = self.machine.host(self.whole)
        fresh = unwritten(GUARD, whole.dtype).view(np.uint8)
        size, told = whole.dtype.itemsize, []
        for side, band in (("before the first", whole[:GUARD]), ("after the last", whole[len(whole) - GUARD :])):
            changed = np.unique(np.flatnonzero(np.ascontiguousarray(band).view(np.uint8) != fresh) // size)
            if len(changed):
                nearest = int(GUARD - changed[-1]) if side.startswith("before") else int(changed[0]) + 1
                told.append(f"{len(changed)} values {side} row of {self.name}, the nearest {nearest} away")
        return " and ".join(told)

    def is_changed(self) -> bool:
        """Tell whether an input has been written to."""
        return self.result().tobytes() != self.values.tobytes()


def unwritten(rows: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array that is full of the pattern."""
    return np.full(rows * dtype.itemsize, PATTERN, np.uint8).view(dtype)


def never_written(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values have the pattern still."""
    words = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)
    same: NDArray[np.bool_] = (words == PATTERN).all(axis=1)
    return same

"""Guard bands: values before and after an array that a kernel must leave as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GUARD = 1024
"""Elements on each side: a block's worth, and a multiple of every alignment."""
PATTERN = 0xA5
"""The byte of guard bands, and of outputs that are not written yet."""


def unwritten(rows: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array that is full of the pattern."""
    return np.full(rows * dtype.itemsize, PATTERN, np.uint8).view(dtype)


def damage(name: str, before: NDArray[Any], after: NDArray[Any]) -> str:
    """Say which values of the two bands of an array have changed; empty where none has."""
    size, found = before.dtype.itemsize, []
    for side, band in (("before the first", before), ("after the last", after)):
        fresh = unwritten(len(band), band.dtype).view(np.uint8)
        changed = np.unique(np.flatnonzero(np.ascontiguousarray(band).view(np.uint8) != fresh) // size)
        if len(changed):
            nearest = int(len(band) - changed[-1]) if side.startswith("before") else int(changed[0]) + 1
            found.append(f"{len(changed)} values {side} row of {name}, the nearest {nearest} away")
    return " and ".join(found)

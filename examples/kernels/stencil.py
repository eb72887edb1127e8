"""The twins of the kernels of stencil.yaml."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int32]
Floats = NDArray[np.float64]


def mean(offsets: Offsets, x: Floats, *, width: int) -> dict[str, Any]:
    """Return the mean of each row and its neighbours in the group, `width` on each side."""
    sizes = np.diff(offsets)
    first, last = np.repeat(offsets[:-1], sizes), np.repeat(offsets[1:], sizes)
    row, total, count = np.arange(len(x)), np.zeros(len(x)), np.zeros(len(x))
    for shift in range(-width, width + 1):
        there = (row + shift >= first) & (row + shift < last)
        total[there] += x[(row + shift)[there]]
        count += there
    return {"mean": total / count}


def jump(offsets: Offsets, delay: NDArray[np.int32], *, width: int) -> dict[str, Any]:
    """Return how far each row is above the mean of its neighbours and itself."""
    return {"jump": delay - mean(offsets, delay.astype(np.float64), width=width)["mean"]}

"""The twins of the kernels of reduction.yaml."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Offsets = NDArray[np.int64]


def norm_of_rows(offsets: NDArray[np.int32], x: Floats) -> dict[str, Any]:
    """Return for each row the norm of its group's values."""
    return {"norm": np.repeat(norm(offsets.astype(np.int64), x * x)["norm"], np.diff(offsets))}


def norm(offsets: Offsets, squared: Floats) -> dict[str, Any]:
    """Return the root of the sum of each group's values, which are squares."""
    return {"norm": np.sqrt(np.add.reduceat(squared, offsets[:-1])) if len(squared) else squared}


def norm_of_delays(offsets: Offsets, arr_delay: NDArray[np.int32]) -> dict[str, Any]:
    """Return the norm of each group's delays."""
    return norm(offsets, arr_delay.astype(np.float64) ** 2)

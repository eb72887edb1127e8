"""The twins of the kernels of vector_add.yaml."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]


def vector_add(dep_delay: Integers, arr_delay: Integers) -> dict[str, Any]:
    """Return the sum of two columns."""
    return {"total": dep_delay + arr_delay}


def late(dep_delay: Integers, arr_delay: Integers, *, limit: int) -> dict[str, Any]:
    """Return where the sum is more than a limit."""
    return {"late": dep_delay + arr_delay > limit}

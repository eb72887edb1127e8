"""The NumPy twin of the scan `strain` in features.yaml: what it means, and what runs where there is no GPU."""

import numpy as np
from numpy.typing import NDArray

from gpuetl.kernels.scan import scan_groups

Integers = NDArray[np.int64]


def strain(offsets: Integers, dep_delay: NDArray[np.int32], *, usual: int) -> dict[str, Integers]:
    """Return the minutes beyond the usual that have come together since they last were none, of each group's rows."""

    def combine(a: tuple[Integers, ...], b: tuple[Integers, ...]) -> tuple[Integers, ...]:
        return a[0] + b[0], np.maximum(a[1] + b[0], b[1])

    beyond = dep_delay.astype(np.int64) - usual
    total, least = scan_groups(offsets, combine, beyond, np.zeros_like(beyond))
    return {"strain": np.maximum(total, least)}

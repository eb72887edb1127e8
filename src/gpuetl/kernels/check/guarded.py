"""Arrays between guard bands: values before and after them that a kernel must leave as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.kernel_guards import GUARD, PATTERN, damage, unwritten


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
        return damage(self.name, whole[:GUARD], whole[len(whole) - GUARD :])

    def is_changed(self) -> bool:
        """Tell whether an input has been written to."""
        return self.result().tobytes() != self.values.tobytes()


def never_written(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values have the pattern still."""
    words = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)
    same: NDArray[np.bool_] = (words == PATTERN).all(axis=1)
    return same

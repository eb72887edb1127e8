"""The twins of the kernels of monte_carlo.yaml."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
Words = NDArray[np.uint64]


def mixed(x: Words) -> Words:
    """Return the words of splitmix64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniform(seed: Words, number: int) -> NDArray[np.float64]:
    """Return numbers in (0, 1)."""
    return (mixed(seed + np.uint64(number)) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def cost(flight: Integers, dep_delay: Integers, *, paths: int, spread: float, free: float) -> dict[str, Any]:
    """Return the mean of max(0, delay + spread * z - free) over so many normal numbers z."""
    seed, total = mixed(flight.astype(np.int64).astype(np.uint64)), np.zeros(len(flight))
    for path in range(0, paths, 2):
        radius = np.sqrt(-2.0 * np.log(uniform(seed, path)))
        angle = 6.283185307179586 * uniform(seed, path + 1)
        for z in (radius * np.cos(angle), radius * np.sin(angle))[: paths - path]:
            total += np.maximum(dep_delay + spread * z - free, 0)
    return {"cost": total / paths}


def risky(
    flight: Integers, dep_delay: Integers, *, paths: int, spread: float, free: float, limit: float
) -> dict[str, Any]:
    """Return where the cost is more than a limit."""
    return {"risky": cost(flight, dep_delay, paths=paths, spread=spread, free=free)["cost"] > limit}

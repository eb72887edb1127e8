"""HyperLogLog as its papers have it, one value after the other: what `approx_count_distinct` is compared with.

Flajolet, Fusy, Gandouet & Meunier 2007, and for the estimate O. Ertl 2017, algorithm 6: p = 12, q = 52.
"""

import math
from collections import Counter

P = 12
Q = 64 - P
M = 1 << P


def estimated_distinct(hashes: list[int | None]) -> int:
    """Return the estimate of how many distinct values have these hashes."""
    registers = [0] * M
    for value in hashes or ():
        if value is None:
            continue
        word = value % (1 << 64)
        rest = word % (1 << Q)
        place = Q - rest.bit_length() + 1
        registers[word >> Q] = max(registers[word >> Q], place)
    return round_half_up(estimate(registers))


def estimate(registers: list[int]) -> float:
    """Return alpha m^2 / z; 0 of empty registers."""
    counts = Counter(registers)
    if counts[0] == M:
        return 0.0
    z = M * tau(1 - counts[Q + 1] / M)
    for place in range(Q, 0, -1):
        z = 0.5 * (z + counts[place])
    return M * (M / (2 * math.log(2)) / (z + M * sigma(counts[0] / M)))


def sigma(x: float) -> float:
    """Return x + the sum of x^(2^k) 2^(k-1)."""
    y, z, before = 1.0, x, -1.0
    while z != before:
        x, before = x * x, z
        z, y = z + x * y, y + y
    return z


def tau(x: float) -> float:
    """Return (1 - x - the sum of (1 - x^(2^-k))^2 2^-k) / 3."""
    if x in (0, 1):
        return 0.0
    y, z, before = 1.0, 1 - x, -1.0
    while z != before:
        x, before, y = math.sqrt(x), z, 0.5 * y
        z -= (1 - x) * (1 - x) * y
    return z / 3


def round_half_up(value: float) -> int:
    """Return the nearest integer."""
    return math.floor(value + 0.5)

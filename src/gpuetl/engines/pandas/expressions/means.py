"""Means of exact sums: the float64, or the whole microsecond, nearest to a sum divided by a count.

Sums come in limbs: arrays of int64, the lowest first, that count 1, 2^32, 2^64 and so on.  The last one has the sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LIMB_BITS, LIMB = 32, 0xFFFFFFFF
EXACT = float(1 << 53)
"""Integers up to this are float64s."""
LARGEST_EXACT_POWER = 22
"""Of ten, in float64."""
SPLIT = float((1 << 27) + 1)


def integer_limbs(values: Ints) -> list[Ints]:
    """Return the two limbs of int64 values."""
    return [values & LIMB, values >> LIMB_BITS]


def decimal_limbs(x: Any) -> list[Ints]:
    """Return the limbs of decimals of 128 or 256 bits, counted in their units; 0 under nulls."""
    count = x.type.bit_width // LIMB_BITS
    if not len(x):
        return [np.zeros(0, np.int64)] * count
    filled = pc.fill_null(x, pa.scalar(0).cast(pa.decimal256(76, 0)).cast(x.type)) if x.null_count else x
    stop = filled.offset + len(filled)
    units = np.frombuffer(filled.buffers()[1], np.uint32, count * stop).reshape(-1, count)[filled.offset :]
    limbs = list(units.T.astype(np.int64))
    limbs[-1] = units[:, -1].astype(np.int32).astype(np.int64)
    return limbs


def nearest_floats(sums: Sequence[Ints], counts: Ints, scale: int = 0) -> Floats:
    """Return the float64 nearest to each sum of units of 10^-scale divided by its count, from 1 on; ties go to even.

    Where both numbers are float64s, their quotient is rounded once.  Other quotients are computed in two float64s
    together, whose error is known; those that it leaves open, and those of the longest numbers, in Python's integers.
    """
    limbs = carried(sums)
    sizes, divisors = approximate(limbs), counts * np.float64(10.0**scale)
    are_exact = (divisors < EXACT) & (scale <= LARGEST_EXACT_POWER)
    quotients: Floats = sizes / divisors
    wide = np.flatnonzero(~(are_exact & (np.abs(sizes) < EXACT)))
    if len(wide):
        quotients[wide], known = rounded_pairs([limb[wide] for limb in limbs], divisors[wide])
        rest = wide[~(known & are_exact[wide])]
        quotients[rest] = integers(limbs, rest) / (counts[rest].astype(object) * 10**scale)  # Python rounds it once
    return quotients


def nearest_integers(sums: Sequence[Ints], counts: Ints) -> Ints:
    """Return the integer nearest to each sum divided by its count, from 1 on; ties go to even.  It must be an int64."""
    limbs = carried(sums)
    quotients = quotients_half_even(limbs[0] | limbs[1] << LIMB_BITS, counts)
    wide = np.flatnonzero(np.abs(approximate(limbs)) > float(1 << 62))
    quotients[wide] = quotients_half_even(integers(limbs, wide), counts[wide].astype(object))
    return quotients


def quotients_half_even(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Divide integers by positive ones, and round half to even."""
    quotients, rests = x // y, x % y
    up = (rests > y - rests) | ((rests == y - rests) & (quotients % 2 == 1))
    rounded: NDArray[Any] = quotients + up
    return rounded


def carried(sums: Sequence[Ints]) -> list[Ints]:
    """Return sums in one limb more: all are from 0 to 2^32 - 1 but for the last one."""
    limbs, over = list[Ints](), np.zeros_like(sums[0])
    for limb in sums:
        total = limb + over
        limbs.append(total & LIMB)
        over = total >> LIMB_BITS
    return [*limbs, over]


def approximate(limbs: Sequence[Ints]) -> Floats:
    """Return sums as floats: exact up to 2^53."""
    total = limbs[-1].astype(np.float64)
    for limb in reversed(limbs[:-1]):
        total = total * 2.0**LIMB_BITS + limb
    return total


def integers(limbs: Sequence[Ints], rows: Ints) -> NDArray[Any]:
    """Return the sums of some rows as Python's integers."""
    return sum(
        (limb[rows].astype(object) << LIMB_BITS * place for place, limb in enumerate(limbs)), np.array(0, object)
    )


def rounded_pairs(limbs: Sequence[Ints], divisors: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Divide sums by float64s, and tell which quotients are surely the nearest floats.

    A sum is taken as two floats, high and low, their quotient as the quotient of high and that of what is left: the
    error is below 2^-100 of it.  Where adding and subtracting this gives the same float, that is the nearest one
    (Ziv 1991, "Fast evaluation of elementary mathematical functions with correctly rounded last bit").
    """
    top = limbs[2] if len(limbs) == 3 else limbs[2] | limbs[3] << LIMB_BITS
    bottom, middle = limbs[0].astype(np.float64), limbs[1] * np.float64(2.0**LIMB_BITS)
    high, rest = exact_sum(top * np.float64(2.0 ** (2 * LIMB_BITS)), middle)
    high, low = exact_sum(high, rest + bottom)
    first = high / divisors
    product, error = exact_product(first, divisors)
    second = ((high - product) - error + low) / divisors
    slack = np.abs(first) * 2.0**-100
    quotients: Floats = first + second
    known = (first + (second - slack) == quotients) & (first + (second + slack) == quotients)
    return quotients, known & (np.abs(approximate(limbs)) < 2.0**116)  # of longer ones `top` is no exact float


def exact_sum(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum, and its error (Knuth, The Art of Computer Programming 2, 4.2.2)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def exact_product(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product, and its error (Dekker 1971, "A floating-point technique")."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = halves_of(x), halves_of(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def halves_of(x: Floats) -> tuple[Floats, Floats]:
    """Return two floats of half the bits that sum up to x."""
    scaled = x * SPLIT
    high = scaled - (scaled - x)
    return high, x - high

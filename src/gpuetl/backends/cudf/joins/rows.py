"""Which rows of two sides go together."""

from __future__ import annotations

from dataclasses import dataclass

from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.gather import repeat
from gpuetl.backends.cudf.machine import Array, Machine


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows that go together, in the order of the left ones, then of the right ones.

    `left` None stands for every left row once, in order; -1 in `right` for none.
    """

    left: Array | None
    right: Array


@dataclass(frozen=True, eq=False)
class KeyCodes:
    """The codes (int32) of the left and the right side's keys, from 0 below `size`; -1 matches nothing."""

    left: Array
    right: Array
    size: int


def count_codes(codes: Array, size: int, machine: Machine) -> Array:
    """Return how often each code stands (int64), and a last 0."""
    counts = machine.arrays.bincount(codes + 1, minlength=size + 2)
    counts[0] = 0
    return machine.arrays.concatenate([counts[1:], counts[:1]])


def lonely_rows(keys: KeyCodes, machine: Machine) -> Array:
    """Return the numbers of the right rows whose code no left row has."""
    met = machine.arrays.zeros(keys.size + 1, "uint8")
    met[keys.left] = 1
    met[-1] = 0  # where those of code -1 went
    return numbers_where(1 - met[keys.right], machine)


def single_partners(found: Array, count: Array, inner: bool, machine: Machine) -> Pairs:
    """Pair each left row with the one that is found for it, -1 for none, of which there are `count`."""
    if not inner or int(count[0]) == len(found):
        return Pairs(None, found)
    kept = numbers_where((found >= 0).view("uint8"), machine)
    return Pairs(kept, found[kept])


def paired(keys: KeyCodes, counts: Array, repeats: Array, total: int, machine: Machine) -> Pairs:
    """Pair each left row with the right rows of its code, of which there are `counts`.

    A left row stands `repeats` times in the result, `total` in all; where that is more often than it has partners, it
    has none.
    """
    arrays = machine.arrays
    rows = len(keys.left)
    by_code = machine.sorted_order([(keys.right + 1).astype("uint32")]).astype("int64")
    by_code = by_code[len(by_code) - int(counts.sum()) :]  # those of code -1 come first
    starts = arrays.where(counts[keys.left] > 0, (arrays.cumsum(counts) - counts)[keys.left], len(by_code))
    by_code = arrays.concatenate([by_code, arrays.full(1, -1, "int64")])
    firsts = arrays.cumsum(repeats) - repeats
    places = arrays.arange(total) + repeat(starts - firsts, repeats, total, machine)
    return Pairs(repeat(arrays.arange(rows), repeats, total, machine), by_code[places])

"""Which rows of two sides go together, from the codes of their keys."""

from __future__ import annotations

from dataclasses import dataclass

from gpuetl.backends.cudf.columns.gather import repeat
from gpuetl.backends.cudf.joins.keys import KeyCodes
from gpuetl.backends.cudf.machine import Array, Machine


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows that go together, in the order of the left ones, then of the right ones.

    `left` None stands for every left row once, in order; -1 in `right` for none.
    """

    left: Array | None
    right: Array


def count_codes(codes: Array, size: int, machine: Machine) -> Array:
    """Return how often each code stands (int64), and a last 0."""
    counts = machine.arrays.bincount(codes + 1, minlength=size + 2)
    counts[0] = 0
    return machine.arrays.concatenate([counts[1:], counts[:1]])


def has_match(codes: Array, others: Array, size: int, machine: Machine) -> Array:
    """Tell for each of `codes` whether it is among `others`."""
    return count_codes(others, size, machine)[codes] > 0


def paired(keys: KeyCodes, counts: Array, repeats: Array, total: int, machine: Machine) -> Pairs:
    """Pair each left row with the right rows of its code, of which there are `counts`.

    A left row stands `repeats` times in the result, `total` in all; where that is more often than it has partners, it
    has none.
    """
    arrays = machine.arrays
    rows, right = len(keys.left), len(keys.right)
    if int(counts.max()) < 2:
        partner = arrays.full(keys.size + 1, -1, "int64")
        partner[keys.right] = arrays.arange(right)  # code -1 goes to the last slot
        partner[-1:] = -1
        found = partner[keys.left]
        if total == rows:
            return Pairs(None, found)
        kept = arrays.nonzero(found >= 0)[0]
        return Pairs(kept, found[kept])
    by_code = machine.sorted_order([(keys.right + 1).astype("uint64")]).astype("int64")
    by_code = by_code[len(by_code) - int(counts.sum()) :]  # those of code -1 come first
    starts = arrays.where(counts[keys.left] > 0, (arrays.cumsum(counts) - counts)[keys.left], len(by_code))
    by_code = arrays.concatenate([by_code, arrays.full(1, -1, "int64")])
    firsts = arrays.cumsum(repeats) - repeats
    places = arrays.arange(total) + repeat(starts - firsts, repeats, total, machine)
    return Pairs(repeat(arrays.arange(rows), repeats, total, machine), by_code[places])

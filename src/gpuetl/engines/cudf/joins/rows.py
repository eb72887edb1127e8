"""Which rows of two sides go together."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.arrays import pick, scan, set_marks
from gpuetl.engines.cudf.columns.compact import NOT_NEGATIVE, ZERO, above, numbers_where
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass

FEW = 32
"""Partners of a row that one thread writes, as device/closed/pairs.cu has it; a warp writes more."""


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
    counts = machine.arrays.zeros(size + 1, "int64")
    machine.launch(machine.closed("pairs"), "count_codes", len(codes), [len(codes), codes, counts])
    return counts


def lonely_rows(keys: KeyCodes, machine: Machine) -> Array:
    """Return the numbers of the right rows whose code no left row has."""
    met = machine.arrays.zeros(keys.size, "uint8")
    set_marks(met, keys.left, machine)
    return numbers_where(pick(met, keys.right, machine), machine, ZERO)


def single_partners(found: Array, count: Array, inner: bool, machine: Machine) -> Pairs:
    """Pair each left row with the one that is found for it, -1 for none, of which there are `count`."""
    if not inner or int(count[0]) == len(found):
        return Pairs(None, found)
    kept = numbers_where(found, machine, NOT_NEGATIVE)
    return Pairs(kept, pick(found, kept, machine))


def paired(keys: KeyCodes, counts: Array, repeats: Array, ends: Array, total: int, machine: Machine) -> Pairs:
    """Pair each left row with the right rows of its code, of which there are `counts`.

    Each left row has `repeats` pairs, which end before its place in `ends`, `total` in all; one more than it has
    partners is its own with none.
    """
    arrays = machine.arrays
    by_code = machine.sorted_order([keys.right.view("uint32")])  # those of code -1 come last
    starts = scan(counts, machine, before=True)
    left, right = arrays.empty(total, "int32"), arrays.empty(total, "int32")
    module, rows = machine.closed("pairs"), len(keys.left)
    arguments = [keys.left, counts, starts, ends, by_code, left, right]
    machine.launch(module, "pair_few", rows, [rows, *arguments])
    many = numbers_where(repeats, machine, above(FEW))
    machine.launch(module, "pair_many", len(many) * 32, [len(many), many, *arguments])
    return Pairs(left, right)

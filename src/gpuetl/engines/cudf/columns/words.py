"""Keys measured in one pass, and packed by another into as few words, and as narrow ones, as hold them."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.columns.keys import FEW_DIGITS, MOST_DIGITS, Keys, Words, kernel_digits, launch_digits
from gpuetl.engines.cudf.columns.layout import ALL, Layout, unsigned_type
from gpuetl.engines.cudf.columns.marks import differences
from gpuetl.engines.cudf.machine import Array, Machine

MANY_ROWS = 1 << 20
"""From here on a kernel takes few digits: 11 took 10 ms for 100 million rows on an H200 where 2 take 0.4."""


def measured(keys: Keys, machine: Machine) -> Layout:
    """Measure all digits, and look whether the rows are in order: one pass over the columns, and one wait.

    More digits than a kernel takes are measured in parts.  Each part checks the order of the rows that are equal in all
    earlier parts, unless the first part has shown that the rows are in none.
    """
    digits = keys.described(machine)
    if not digits or not keys.rows:
        return Layout((0,) * len(digits), (0,) * len(digits), True)
    most = digits_together(keys.rows)
    parts = [digits[first : first + most] for first in range(0, len(digits), most)]
    ranges = machine.arrays.zeros(2 * len(digits) + len(parts), "uint64")
    differ = None
    places = ranges
    for place, part in enumerate(parts):
        if place == 1 and not ranges[2 * len(parts[0])]:
            differ = machine.arrays.zeros(keys.rows, "uint8")
        if differ is not None:
            differences(keys, parts[place - 1], place > 1, differ, machine)
        arguments = [0 if differ is None else differ, places]
        launch_digits("keys", "measure_keys", len(part), keys.rows, arguments, keys.struct(part, machine), machine)
        places = places[2 * len(part) + 1 :]
    return layout_of(ranges.tolist(), [len(part) for part in parts])


def digits_together(rows: int) -> int:
    """Return how many digits a kernel takes: of many rows few, for which it needs few registers."""
    return FEW_DIGITS if rows >= MANY_ROWS else MOST_DIGITS


def layout_of(ranges: Sequence[int], counts: Sequence[int]) -> Layout:
    """Return the layout of the measured digits. `counts` are the digits of each part."""
    least: list[int] = []
    bits: list[int] = []
    in_order, at = True, 0
    for count in counts:
        found = ranges[at : at + 2 * count]
        least += [ALL - value for value in found[::2]]
        bits += [max(0, high - low).bit_length() for low, high in zip(least[-count:], found[1::2], strict=True)]
        in_order, at = in_order and not ranges[at + 2 * count], at + 2 * count + 1
    return Layout(tuple(least), tuple(bits), in_order)


def packed(keys: Keys, layout: Layout, machine: Machine) -> list[Array]:
    """Return each row's words, unsigned numbers of 8 to 64 bits, the most significant first.

    A pass for each `digits_together`.
    """
    made = [machine.arrays.empty(keys.rows, f"uint{unsigned_type(layout.width(word))}") for word in layout.words]
    digits, most = keys.described(machine), digits_together(keys.rows)
    of_words = [(digit, number) for number, word in enumerate(layout.words) for digit in word]
    for first in range(0, len(of_words), most):
        part = of_words[first : first + most]
        places = [packed_place(layout, part, at, made, machine) for at in range(len(part))]
        launch_placed("keys", "pack_keys", keys, [digits[digit] for digit, _ in part], places, [], machine)
    return made


def packed_place(
    layout: Layout, part: Sequence[tuple[int, int]], at: int, made: Sequence[Array], machine: Machine
) -> Words:
    """Return a `Place` of device/keys.cuh for one of the digits, each with the number of its word, that a pass packs.

    The last digit of a word in the pass writes it; with digits of an earlier pass, where there are such.
    """
    digit, number = part[at]
    word, own = layout.words[number], [other for other, its in part if its == number]
    target = made[number] if digit == own[-1] else None
    *place, bits = placed(layout, word, digit, target, machine)
    return [*place, bits | (own[0] != word[0]) << 16]


def placed(layout: Layout, word: Sequence[int], digit: int, target: Array | None, machine: Machine) -> Words:
    """Return a `Place` of device/keys.cuh for a digit. `target` is the array of the words that end with it."""
    address, bits = (0, 0) if target is None else (machine.address(target), 8 * target.dtype.itemsize)
    return [layout.least[digit], address, bits | layout.shift(word, digit) << 8]


def launch_placed(
    program: str, entry: str, keys: Keys, digits: list[Words], places: list[Words], more: list[object],
    machine: Machine,
) -> None:  # fmt: skip
    """Run a kernel that takes a place for each digit."""
    count = len(digits)
    padding = [0] * (3 * (kernel_digits(count) - count))
    struct = [*keys.struct(digits, machine), *(word for place in places for word in place), *padding]
    launch_digits(program, entry, count, keys.rows, more, struct, machine)

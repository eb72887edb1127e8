"""Keys measured in one pass, and packed by another into as few words, and as narrow ones, as hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuetl.backends.cudf.columns.keys import MOST_DIGITS, Keys, Words, kernel_digits, launch_digits
from gpuetl.backends.cudf.columns.layout import ALL, Layout, unsigned_type
from gpuetl.backends.cudf.columns.marks import differences
from gpuetl.backends.cudf.machine import Array, Machine


def measured(keys: Keys, machine: Machine) -> Layout:
    """Measure all digits, and look whether the rows are in order: one pass over the columns, and one wait.

    A kernel takes 16 digits, so more are measured in parts.  Each part checks the order of the rows that are equal in
    all earlier parts.
    """
    digits = keys.described(machine)
    if not digits or not keys.rows:
        return Layout((0,) * len(digits), (0,) * len(digits), True)
    parts = [digits[first : first + MOST_DIGITS] for first in range(0, len(digits), MOST_DIGITS)]
    ranges = machine.arrays.zeros(2 * len(digits) + len(parts), "uint64")
    differ = machine.arrays.zeros(keys.rows, "uint8") if len(parts) > 1 else None
    places = ranges
    for place, part in enumerate(parts):
        if place:
            assert differ is not None
            differences(keys, parts[place - 1], place > 1, differ, machine)
        arguments = [differ if place else 0, places]
        launch_digits("keys", "measure_keys", len(part), keys.rows, arguments, keys.struct(part, machine), machine)
        places = places[2 * len(part) + 1 :]
    return layout_of(ranges.tolist(), [len(part) for part in parts])


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

    One pass for each 16 digits that have bits.
    """
    types = [f"uint{unsigned_type(layout.width(word))}" for word in layout.words]
    made = [machine.arrays.empty(keys.rows, dtype) for dtype in types]
    if not made:
        return []
    digits = keys.described(machine)
    for words in together(layout.words):
        own = [digit for word in words for digit in word]
        last = {word[-1]: array for word, array in zip(layout.words, made, strict=True) if word in words}
        places = [placed(layout, word, digit, last.get(digit), machine) for word in words for digit in word]
        launch_placed("keys", "pack_keys", keys, [digits[digit] for digit in own], places, [], machine)
    return made


def together(words: Sequence[list[int]]) -> Iterator[list[list[int]]]:
    """Split words into lists of at most 16 digits."""
    some: list[list[int]] = []
    for word in words:
        if some and sum(map(len, some)) + len(word) > MOST_DIGITS:
            yield some
            some = []
        some.append(word)
    yield some


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

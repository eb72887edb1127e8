"""Keys measured in one pass, and packed by another into as few words, and as narrow ones, as hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.backends.cudf.columns.keys import Keys
from gpuetl.backends.cudf.machine import Array, Machine

WIDTH = 64


@dataclass(frozen=True)
class Layout:
    """Where the digits of keys lie in words: least values, and bits from that to the greatest, of each digit.

    `in_order` tells whether the rows stand in the order of the keys.
    """

    least: tuple[int, ...]
    bits: tuple[int, ...]
    in_order: bool

    @property
    def words(self) -> list[list[int]]:
        """The digits of each word, whole ones, the most significant first; those without bits are in none."""
        words: list[list[int]] = []
        for digit, bits in enumerate(self.bits):
            if not bits:
                continue
            if words and self.width(words[-1]) + bits <= WIDTH:
                words[-1].append(digit)
            else:
                words.append([digit])
        return words

    def width(self, digits: Sequence[int]) -> int:
        """Return the bits of some digits together."""
        return sum(self.bits[digit] for digit in digits)

    def shift(self, word: Sequence[int], digit: int) -> int:
        """Return how many bits of a word stand below a digit."""
        return self.width(word[word.index(digit) + 1 :])

    def place(self, digit: int) -> tuple[int, int]:
        """Return the number of a digit's word and how many of its bits stand below; 0 and 0 of one without bits."""
        places = ((place, self.shift(word, digit)) for place, word in enumerate(self.words) if digit in word)
        return next(places, (0, 0))


def measured(keys: Keys, machine: Machine) -> Layout:
    """Measure all digits, and look whether the rows are in order: one pass over the columns, and one wait."""
    digits = keys.digits
    if not digits or not keys.rows:
        return Layout((0,) * digits, (0,) * digits, True)
    ranges = machine.arrays.zeros(2 * digits + 1, "uint64")
    machine.launch(machine.compiled(measure_source(keys)), "measure", keys.rows, [keys.rows, ranges, *keys.arguments])
    *found, disorder = ranges.tolist()
    least = [(1 << WIDTH) - 1 - value for value in found[::2]]
    bits = [max(0, high - low).bit_length() for low, high in zip(least, found[1::2], strict=True)]
    return Layout(tuple(least), tuple(bits), not disorder)


def measure_source(keys: Keys) -> str:
    """Return the kernel `measure`.  Once a thread has met disorder it reads each row but once."""
    return f"""{keys.text}
KERNEL measure(int64_t rows, uint64_t* places, {", ".join(keys.parameters)}) {{
    const Keys keys = {keys.made()};
    Ranges<{keys.digits}> ranges;
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
        ranges.add(digits);
        if (!ranges.disorder && row && is_before(digits, keys[row - 1])) ranges.disorder = 1;
    }}
    merge_lanes(ranges);
    if (LANE == 0) ranges.store(places);
}}
"""


def packed(keys: Keys, layout: Layout, machine: Machine) -> list[Array]:
    """Return each row's words, unsigned numbers of 8 to 64 bits, the most significant first: one pass."""
    words = layout.words
    if not words:
        return []
    types = [unsigned_type(layout.width(word)) for word in words]
    made = [machine.arrays.empty(keys.rows, f"uint{bits}") for bits in types]
    module = machine.compiled(pack_source(keys, words, types))
    machine.launch(module, "pack", keys.rows, [keys.rows, *made, *layout_arguments(layout, words), *keys.arguments])
    return made


def unsigned_type(bits: int) -> int:
    """Return the bits of the narrowest unsigned type that holds so many."""
    return next(width for width in (8, 16, 32, 64) if bits <= width)


def layout_arguments(layout: Layout, words: list[list[int]]) -> list[int]:
    """Return the least value, as a signed number, and the shift of each digit that is in a word."""
    pairs = ((signed(layout.least[digit]), layout.shift(word, digit)) for word in words for digit in word)
    return [argument for pair in pairs for argument in pair]


def signed(value: int) -> int:
    """Return an unsigned 64-bit number as kernels take it."""
    return value - (1 << WIDTH) if value >> (WIDTH - 1) else value


def layout_parameters(words: list[list[int]]) -> list[str]:
    """Return the parameters that go with `layout_arguments`."""
    return [f"int64_t least{digit}, int64_t shift{digit}" for word in words for digit in word]


def word_text(word: list[int]) -> str:
    """Return the C++ text of a word, made of `digits`."""
    return " | ".join(f"(digits.known[{d}] ? digits.of[{d}] - uint64_t(least{d}) : 0) << shift{d}" for d in word)


def pack_source(keys: Keys, words: list[list[int]], types: list[int]) -> str:
    """Return the kernel `pack`."""
    made = [f"uint{bits}_t* w{place}" for place, bits in enumerate(types)]
    stores = "\n".join(
        f"        w{place}[row] = uint{bits}_t({word_text(word)});"
        for place, (word, bits) in enumerate(zip(words, types, strict=True))
    )
    return f"""{keys.text}
KERNEL pack({", ".join(["int64_t rows", *made, *layout_parameters(words), *keys.parameters])}) {{
    const Keys keys = {keys.made()};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
{stores}
    }}
}}
"""

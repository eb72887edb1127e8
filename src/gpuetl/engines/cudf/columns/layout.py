"""Where the digits of keys lie in words of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.columns.keys import MOST_DIGITS
from gpuetl.records import dataclass

WIDTH = 64
ALL, SIGN = (1 << WIDTH) - 1, 1 << (WIDTH - 1)


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
            if words and self.width(words[-1]) + bits <= WIDTH and len(words[-1]) < MOST_DIGITS:
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


def unsigned_type(bits: int) -> int:
    """Return the width of the narrowest unsigned type that holds `bits` bits."""
    return next(width for width in (8, 16, 32, 64) if bits <= width)

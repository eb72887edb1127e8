"""Sort keys packed into 64-bit words by their measured ranges, and sorted by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuetl.records import dataclass

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Word:
    """Rows' keys, or a part of them, as unsigned integers of `bits` bits that have the keys' order."""

    values: Words
    bits: int

    def joined(self, less: Word) -> Word:
        """Return this word with one that weighs less after it."""
        return Word((self.values << np.uint64(less.bits)) | less.values, self.bits + less.bits)


def packed_words(digits: Sequence[Ints]) -> list[Word]:
    """Pack keys, the first of which weighs most, into as few words as their ranges need."""
    words: list[Word] = []
    for digit in digits:
        word = measured(digit)
        if words and words[-1].bits + word.bits <= WORD_BITS:
            words[-1] = words[-1].joined(word)
        else:
            words.append(word)
    return words


def measured(digit: Ints) -> Word:
    """Return a key less its least value, and the bits that its range needs."""
    if not len(digit):
        return Word(digit.view(np.uint64), 0)
    low = digit.min()
    span = int(digit.max()) - int(low)
    return Word(digit.view(np.uint64) - low.view(np.uint64), span.bit_length())


def argsort_words(words: Sequence[Word]) -> Ints:
    """Return the row numbers that sort stably by words, the first of which weighs most.

    Least significant part first, as a radix sort: each pass sorts values that hold as many bits of the key as the
    row's place leaves room for.  NumPy sorts values with vector instructions, many times as fast as it finds an order.
    """
    count = len(words[0].values)
    place_bits = max(count - 1, 1).bit_length()
    part_bits = WORD_BITS - place_bits
    places = np.arange(count, dtype=np.uint64)
    rows: Ints | None = None
    for word in reversed(words):
        for shift in range(0, word.bits, part_bits):
            values = word.values if rows is None else word.values[rows]
            part = (values >> np.uint64(shift)) << np.uint64(place_bits)
            moved = (np.sort(part | places) & np.uint64((1 << place_bits) - 1)).view(np.int64)
            rows = moved if rows is None else rows[moved]
    return places.view(np.int64) if rows is None else rows

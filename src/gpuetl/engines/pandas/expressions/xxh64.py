"""XXH64 of many values at once (Y. Collet, xxHash fast digest algorithm, specification 0.1.1).

uint64 wraps, as it must.  Arrays have at least one dimension, and broadcast: NumPy warns where a scalar wraps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

PRIME1 = np.uint64(0x9E3779B185EBCA87)
PRIME2 = np.uint64(0xC2B2AE3D27D4EB4F)
PRIME3 = np.uint64(0x165667B19E3779F9)
PRIME4 = np.uint64(0x85EBCA77C2B2AE63)
PRIME5 = np.uint64(0x27D4EB2F165667C5)
STRIPE = 32


def hash_words(words: Sequence[Words], seeds: Words) -> Words:
    """Hash values of 8, 16 or 24 bytes, given as their first words, their second ones, and so on."""
    hashes = seeds + (PRIME5 + np.uint64(8 * len(words)))
    for word in words:
        hashes = _with_word(hashes, word)
    return _avalanche(hashes)


def hash_bytes(data: NDArray[np.uint8], starts: Ints, lengths: Ints, seeds: Words) -> Words:
    """Hash the `lengths` bytes of `data` from each of `starts`.

    All values take a step at once; there are as many steps as the longest one has stripes of 32 bytes, and 7.
    """
    words = _every_word(data)
    starts, lengths, seeds = np.broadcast_arrays(starts, lengths, seeds)
    hashes = seeds + PRIME5
    by_length = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths >= STRIPE)]
    hashes[by_length] = _hash_stripes(words, starts[by_length], lengths[by_length] // STRIPE, seeds[by_length])
    hashes += lengths.astype(np.uint64)
    at, left = starts + lengths // STRIPE * STRIPE, lengths % STRIPE
    for size, step in ((8, _with_word), (8, _with_word), (8, _with_word), (4, _with_half), *[(1, _with_byte)] * 3):
        rows = np.flatnonzero(left >= size)
        hashes[rows] = step(hashes[rows], words[at[rows]])
        at[rows] += size
        left[rows] -= size
    return _avalanche(hashes)


def _every_word(data: NDArray[np.uint8]) -> Words:
    """Return the 8 bytes from every position, zeros behind the end, without a copy for each."""
    padded = np.append(data, np.zeros(8, np.uint8))
    words: Words = np.ndarray(len(data) + 1, "<u8", padded.data, strides=(1,))
    return words


def _hash_stripes(words: Words, starts: Ints, stripes: Ints, seeds: Words) -> Words:
    """Hash the whole stripes of values that have some; those that have most come first."""
    lanes = [seeds + PRIME1 + PRIME2, seeds + PRIME2, seeds.copy(), seeds - PRIME1]
    for number in range(stripes.max(initial=0)):
        count = int(np.count_nonzero(stripes > number))
        at = starts[:count] + STRIPE * number
        for index, lane in enumerate(lanes):
            lane[:count] = _round(lane[:count], words[at + 8 * index])
    hashes = sum((_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)), np.zeros(1, np.uint64))
    for lane in lanes:
        hashes = (hashes ^ _round(np.zeros(1, np.uint64), lane)) * PRIME1 + PRIME4
    return hashes


def _with_word(hashes: Words, word: Words) -> Words:
    return _rotated(hashes ^ _round(np.zeros(1, np.uint64), word), 27) * PRIME1 + PRIME4


def _with_half(hashes: Words, word: Words) -> Words:
    return _rotated(hashes ^ ((word & np.uint64(0xFFFFFFFF)) * PRIME1), 23) * PRIME2 + PRIME3


def _with_byte(hashes: Words, word: Words) -> Words:
    return _rotated(hashes ^ ((word & np.uint64(0xFF)) * PRIME5), 11) * PRIME1


def _round(lane: Words, word: Words) -> Words:
    return _rotated(lane + word * PRIME2, 31) * PRIME1


def _rotated(bits: Words, by: int) -> Words:
    return (bits << np.uint64(by)) | (bits >> np.uint64(64 - by))


def _avalanche(hashes: Words) -> Words:
    hashes = (hashes ^ (hashes >> np.uint64(33))) * PRIME2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * PRIME3
    return hashes ^ (hashes >> np.uint64(32))

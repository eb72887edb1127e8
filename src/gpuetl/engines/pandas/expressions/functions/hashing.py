"""Hashes of Arrow values: XXH64 of many values at once, and the digests of `hash`, `md5` and `sha256`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import over_columns, text_bytes, to_words
from gpuetl.engines.pandas.expressions.functions.binary import bytes_of
from gpuetl.types.data_types import NULL, STRING, is_binary

# XXH64 of many values at once (Y. Collet, xxHash fast digest algorithm, specification 0.1.1).
#
# uint64 wraps, as it must.  Arrays have at least one dimension, and broadcast: NumPy warns where a scalar wraps.


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


# Hashes of Arrow values: `hash` as expressions/functions/hashing.py defines it, and digests by hashlib.


BLOCK_ROWS = 1 << 14  # what a step works on stays in the processor's cache
NULL_BYTE = np.full(1, 0xFF, np.uint8)
ZERO = np.zeros(1, np.int64)


def chained_hash(*values: Any) -> Any:
    """XXH64 of the first value, of the next with that as its seed, and so on."""
    return over_columns(lambda *columns: as_int64(hash_rows_of(columns)), *values)


def bucket(value: Any, count: Any) -> Any:
    """The hash, unsigned, modulo a constant."""
    return over_columns(lambda column: as_int64(hash_rows_of([column]) % np.uint64(count.as_py())), value)


def as_int64(hashes: Words) -> Any:
    """Return an Arrow array of the same bits."""
    return pa.array(hashes.view(np.int64))


def hash_rows_of(columns: Sequence[Any]) -> Words:
    """Hash each row of columns, a block of rows at a time; one of a single row stands for all."""
    rows = next((len(column) for column in columns if len(column) != 1), 1)
    hashes = np.zeros(rows, np.uint64)
    for start in range(0, rows, BLOCK_ROWS):
        block = hashes[start : start + BLOCK_ROWS]
        for column in columns:
            block[:] = hash_column(column if len(column) == 1 else column.slice(start, BLOCK_ROWS), block)
    return hashes


def hash_column(column: Any, seeds: Words) -> Words:
    """Hash the values of an array, or its only one, with a seed for each, or one for all."""
    if column.type == NULL:
        return hash_null(seeds)
    hashes = hash_values(column, seeds)
    if not column.null_count:
        return hashes
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), hashes, hash_null(seeds))


def hash_values(column: Any, seeds: Words) -> Words:
    """Hash the values that are not null; the hash of the others is any."""
    if column.type == STRING or is_binary(column.type):
        return hash_bytes(*text_bytes(column), seeds)
    if pa.types.is_decimal(column.type):
        halves = np.frombuffer(column.buffers()[1], "<u8").reshape(-1, 2)[column.offset : column.offset + len(column)]
        return hash_words([halves[:, 0], halves[:, 1]], seeds)
    return hash_words([to_words(column).values], seeds)


def hash_null(seeds: Words) -> Words:
    """Hash the byte 0xFF with each seed."""
    return hash_bytes(NULL_BYTE, ZERO, ZERO + 1, seeds)


def hex_digest(algorithm: Callable[[bytes], Any], text: Any) -> Any:
    """The digest of bytes, or of a text's UTF-8, computed once for each distinct one."""
    return over_columns(lambda column: _digests(algorithm, column), text)


def _digests(algorithm: Callable[[bytes], Any], text: Any) -> Any:
    encoded = text.dictionary_encode()
    digests = [algorithm(bytes_of(word)).hexdigest() for word in encoded.dictionary.to_pylist()]
    return pa.array(digests, STRING).take(encoded.indices)


HANDLERS: dict[str, Callable[..., Any]] = {
    "hash": chained_hash,
    "bucket": bucket,
    "md5": partial(hex_digest, partial(hashlib.md5, usedforsecurity=False)),
    "sha1": partial(hex_digest, partial(hashlib.sha1, usedforsecurity=False)),
    "sha256": partial(hex_digest, hashlib.sha256),
}

"""Hashes of Arrow values: `hash` as expressions/functions/hashing.py defines it, and digests by hashlib."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.columns.column import over_columns, text_bytes
from gpuetl.engines.pandas.columns.masked import to_words
from gpuetl.engines.pandas.expressions.xxh64 import Words, hash_bytes, hash_words
from gpuetl.types.data_types import NULL, STRING

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
    if column.type == STRING:
        return hash_bytes(*text_bytes(column), seeds)
    if pa.types.is_decimal(column.type):
        halves = np.frombuffer(column.buffers()[1], "<u8").reshape(-1, 2)[column.offset : column.offset + len(column)]
        return hash_words([halves[:, 0], halves[:, 1]], seeds)
    return hash_words([to_words(column).values], seeds)


def hash_null(seeds: Words) -> Words:
    """Hash the byte 0xFF with each seed."""
    return hash_bytes(NULL_BYTE, ZERO, ZERO + 1, seeds)


def hex_digest(algorithm: Callable[[bytes], Any], text: Any) -> Any:
    """The digest of a text's UTF-8 bytes, computed once for each distinct one."""
    return over_columns(lambda column: _digests(algorithm, column), text)


def _digests(algorithm: Callable[[bytes], Any], text: Any) -> Any:
    encoded = text.dictionary_encode()
    digests = [algorithm(word.encode()).hexdigest() for word in encoded.dictionary.to_pylist()]
    return pa.array(digests, STRING).take(encoded.indices)


HANDLERS: dict[str, Callable[..., Any]] = {
    "hash": chained_hash,
    "bucket": bucket,
    "md5": partial(hex_digest, partial(hashlib.md5, usedforsecurity=False)),
    "sha256": partial(hex_digest, hashlib.sha256),
}

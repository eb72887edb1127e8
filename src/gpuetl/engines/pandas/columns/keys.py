"""Keys as integers: equal rows get equal codes, and equal hashes in every process."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import canonical, has_numbers, to_masked, to_words, whole
from gpuetl.engines.pandas.columns.order import argsort_packed, measured
from gpuetl.records import dataclass
from gpuetl.types.data_types import is_binary, is_floating

Codes = NDArray[np.int64]
MAX_SIZE = 1 << 62
SMALL_TABLE, TABLE_SLOTS = 1 << 16, 4
SAMPLE_ROWS = 1 << 13


@dataclass(frozen=True)
class Groups:
    """`codes` numbers each row's group from 0 in order of first appearance; `first_rows` has each group's first row."""

    codes: Codes
    first_rows: Codes

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.first_rows)


def encode_keys(columns: Sequence[Any], rows: int) -> Groups:
    """Number the distinct rows of the columns.

    Null equals null, NaN equals NaN, -0.0 equals 0.0.  Without columns all rows are one group.  Keys whose ranges are
    narrow, as measured, are numbered by a table.  Others are hashed or sorted, once a column and once where they meet.
    """
    codes, size = np.zeros(rows, np.int64), 1
    if not columns:
        return Groups(codes, codes[:1])
    for column in columns:
        own, count = encode_column(column)
        if size * count > MAX_SIZE:
            groups = numbered(codes, size)
            codes, size = groups.codes, max(1, groups.count)
        codes, size = codes * count + own, size * count
    return numbered(codes, size)


def encode_column(column: Any) -> tuple[Codes, int]:
    """Return codes from 0 below the size that comes with them, one for each value; null is a value."""
    array = whole(column)
    if has_numbers(array.type) and not is_floating(array.type) and array.null_count < len(array):
        masked = to_masked(array)
        known = masked.values[masked.valid] if array.null_count else masked.values
        low, high = int(known.min()), int(known.max())
        if fits_table(size := high - low + 2, len(array)):
            values = masked.values if masked.values.dtype == np.uint64 else masked.values.astype(np.int64)
            return np.where(masked.valid, (values - values.dtype.type(low)).astype(np.int64), size - 1), size
    if has_numbers(array.type) and not array.null_count and mostly_differs(words := to_words(array).values):
        ranks, first = ranked(words.view(np.int64))
        return ranks, len(first)
    encoded = whole(canonical(array).dictionary_encode(null_encoding="encode"))
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), max(1, len(encoded.dictionary))


def fits_table(size: int, rows: int) -> bool:
    """Return whether a table by code is worth its size for this number of rows."""
    return size <= max(SMALL_TABLE, TABLE_SLOTS * rows)


def mostly_differs(values: NDArray[Any]) -> bool:
    """Return whether more than half of the values differ, by a sample; few values are always hashed."""
    step = len(values) // SAMPLE_ROWS
    return step > 0 and len(np.unique(values[::step])) * 2 > SAMPLE_ROWS


def ranked(values: Codes) -> tuple[Codes, Codes]:
    """Return each value's rank among the distinct ones, and the first row of each of these: one sort.

    Where most values differ, this takes 40 to 55 bytes a row.  Arrow's hash table grows fourfold at once, and takes up
    to 240 bytes a row and up to five times as long.
    """
    rows = argsort_packed([measured(values)])
    ordered = values[rows]
    is_new = np.append(np.ones(min(1, len(rows)), np.bool_), ordered[1:] != ordered[:-1])
    del ordered
    ranks = np.empty(len(rows), np.int64)
    ranks[rows] = np.cumsum(is_new) - 1
    return ranks, rows[is_new]


def numbered(codes: Codes, size: int) -> Groups:
    """Number the codes that occur, which are below `size`, in order of first appearance."""
    if not fits_table(size, len(codes)):
        if mostly_differs(codes):
            ranks, first = ranked(codes)
            used = np.argsort(first)
            return Groups(inverse(used)[ranks], first[used])
        encoded = pa.array(codes).dictionary_encode()
        codes, size = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)
    first = np.full(size, len(codes))
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first < len(codes))
    used = used[np.argsort(first[used])]
    number = np.empty(size, np.int64)
    number[used] = np.arange(len(used))
    return Groups(number[codes], first[used])


def inverse(order: Codes) -> Codes:
    """Return where each number stands in a permutation."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def hash_rows(frame: pa.Table, keys: Sequence[str]) -> NDArray[np.uint64]:
    """Return a hash of each row's keys: equal for equal keys, integers of any width, in every process."""
    mixed = np.full(frame.num_rows, 0x9E3779B97F4A7C15, np.uint64)
    for name in keys:
        mixed = mix_bits(mixed ^ _column_bits(whole(frame.column(name))))
    return mixed


def _column_bits(column: Any) -> NDArray[np.uint64]:
    if has_numbers(column.type):
        numbers = to_words(column)
        bits: NDArray[np.uint64] = numbers.values
        return bits ^ np.where(numbers.valid, np.uint64(0), np.uint64(0xD6E8FEB86659FD93))
    plain = column if is_binary(column.type) else column.cast(pa.string())
    encoded = plain.dictionary_encode(null_encoding="encode")
    values = (value.encode() if isinstance(value, str) else value for value in encoded.dictionary.to_pylist())
    words = [0 if value is None else zlib.crc32(value) for value in values]
    hashes: NDArray[np.uint64] = np.array(words or [0], np.uint64)[encoded.indices.to_numpy(zero_copy_only=False)]
    return hashes


def mix_bits(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix 64 bits so that each decides all: the finalizer of splitmix64 (Steele, Lea, Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed

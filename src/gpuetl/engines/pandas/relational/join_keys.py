"""The keys of a join's two sides as integers: equal keys get equal codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, canonical, has_numbers, to_masked, whole
from gpuetl.engines.pandas.columns.keys import mix_bits
from gpuetl.records import dataclass
from gpuetl.threads import in_threads
from gpuetl.types.data_types import NULL, common_type, is_floating

# Find integers among distinct ones: an ordered hash table, made by sorting, so that building it is vectorized too.


Bits = NDArray[np.uint64]
Ints = NDArray[np.int64]
BLOCK_ROWS = 1 << 16  # the temporaries of a block fit the cache


@dataclass(frozen=True, eq=False)
class Lookup:
    """Distinct 64-bit patterns in the order of their hashes; `find` gives each one's place in it.

    The hash is a bijection, so that equal hashes are equal patterns.  The top `64 - shift` bits of a hash choose where
    the search starts, `starts`; from there the hashes ascend, and a search ends at the first that is not smaller: about
    1.3 steps at less than one hash a start.  An ordered hash table (Amble, Knuth: Ordered hash tables, 1974).
    """

    hashes: Bits  # ascending; the last one is a guard
    starts: NDArray[np.int32] | Ints
    shift: int

    @classmethod
    def of(cls, patterns: Bits) -> Self:
        """Build the table of the distinct patterns among `patterns`: one sort."""
        hashes = np.sort(mix_bits(patterns))
        hashes = hashes[np.append(np.ones(1, np.bool_), hashes[1:] != hashes[:-1])] if len(hashes) else hashes
        shift = 64 - (len(hashes).bit_length() + 1)
        sizes = np.bincount((hashes >> np.uint64(shift)).astype(np.int64), minlength=1 << (64 - shift))
        starts = np.cumsum(sizes) - sizes
        guarded = np.append(hashes, np.uint64((1 << 64) - 1))
        return cls(guarded, starts.astype(np.int32) if len(hashes) < 1 << 31 else starts, shift)

    @property
    def count(self) -> int:
        """The number of distinct patterns."""
        return len(self.hashes) - 1

    def find(self, patterns: Bits) -> Ints:
        """Return the place of each pattern, from 0, or -1 where it is not in the table."""
        places = np.empty(len(patterns), np.int64)

        def block(first: int) -> None:
            places[first : first + BLOCK_ROWS] = self._find(mix_bits(patterns[first : first + BLOCK_ROWS]))

        in_threads(block, range(0, len(patterns), BLOCK_ROWS))
        return places

    def _find(self, wanted: Bits) -> Ints:
        places = self.starts[(wanted >> np.uint64(self.shift)).astype(np.int64)].astype(np.int64)
        left = np.flatnonzero(self.hashes[places] < wanted)
        while len(left):
            places[left] += 1
            left = left[self.hashes[places[left]] < wanted[left]]
        places[(self.hashes[places] != wanted) | (places == self.count)] = -1
        return places


# The keys of a join's two sides as integers: equal keys get equal codes.
#
# One side is the `base`: all of its keys get codes.  The other side's keys are looked up among them, so that a large
# side
# meets a small one in time linear in the large one, and without a table of its keys.


MAX_SIZE = 1 << 62
TABLE_SLOTS = 8  # a table by code may have this many slots for each row of the base
SMALL_TABLE, MAX_TABLE = 1 << 16, 1 << 31
CHUNK_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class Codes:
    """Codes from 0 below `size` for the rows of both sides; -1 for a key that matches nothing."""

    base: Ints
    other: Ints
    size: int


def encode_sides(base: Sequence[Any], other: Sequence[Any], nulls_equal: bool) -> Codes:
    """Number the keys of both sides, closely enough for a table by code.

    NaN equals NaN, -0.0 equals 0.0, integers of any width meet.  A key with a null matches nothing, unless
    `nulls_equal`.  Keys of the other side that the base does not have get -1.
    """
    codes, *more = (encode_pair(a, b, nulls_equal) for a, b in zip(base, other, strict=True))
    for column in more:
        codes = combined(codes, column)
    return codes if codes.size <= min(MAX_TABLE, max(SMALL_TABLE, TABLE_SLOTS * len(codes.base))) else dense(codes)


def combined(first: Codes, second: Codes) -> Codes:
    """Number the pairs of two columns' codes."""
    if first.size * second.size > MAX_SIZE:
        first, second = dense(first), dense(second)
    base, other = _pairs(first.base, second.base, second.size), _pairs(first.other, second.other, second.size)
    return Codes(base, other, first.size * second.size)


def _pairs(first: Ints, second: Ints, size: int) -> Ints:
    codes = first * size + second
    codes[(first < 0) | (second < 0)] = -1
    return codes


def dense(codes: Codes) -> Codes:
    """Number anew the codes that the base really has."""
    lookup = Lookup.of(codes.base[codes.base >= 0].view(np.uint64))
    return _looked_up(lookup, codes.base, codes.other)


def _looked_up(lookup: Lookup, base: NDArray[Any], other: NDArray[Any]) -> Codes:
    return Codes(lookup.find(base.view(np.uint64)), lookup.find(other.view(np.uint64)), max(1, lookup.count))


def encode_pair(base: Any, other: Any, nulls_equal: bool) -> Codes:
    """Number the values of one key column of both sides; null is one more value where nulls are equal."""
    dtype = common_type(base.type, other.type)
    base, other = pc.cast(whole(base), dtype), pc.cast(whole(other), dtype)
    if dtype == NULL:
        codes = Codes(np.full(len(base), -1), np.full(len(other), -1), 0)
    elif has_numbers(dtype):
        codes = encode_numbers(as_integers(base), as_integers(other))
    else:
        codes = encode_values(base, other)
    for side, column in ((codes.base, base), (codes.other, other)):
        if column.null_count:
            side[column.is_null().to_numpy(zero_copy_only=False)] = codes.size if nulls_equal else -1
    return Codes(codes.base, codes.other, codes.size + 1)


def as_integers(column: Any) -> Masked:
    """Return numbers as int64 or uint64: floats, with one zero and one NaN, by their bits."""
    masked = to_masked(canonical(column))
    values = masked.values.view(f"i{masked.values.itemsize}") if is_floating(column.type) else masked.values
    return Masked(values if values.dtype == np.uint64 else values.astype(np.int64, copy=False), masked.valid)


def encode_numbers(base: Masked, other: Masked) -> Codes:
    """Count from the least value of the base; values that range over more than 62 bits are looked up."""
    known = base.values if base.valid.all() else base.values[base.valid]
    if not len(known):
        return Codes(np.full(len(base.values), -1), np.full(len(other.values), -1), 0)
    low, high = known.min(), known.max()
    size = int(high) - int(low) + 1
    if size >= MAX_SIZE:
        return _looked_up(Lookup.of(known.view(np.uint64)), base.values, other.values)
    above_low = [(side.values - low).astype(np.int64, copy=False) for side in (base, other)]
    codes = Codes(above_low[0], above_low[1], size)
    codes.other[(other.values < low) | (other.values > high)] = -1
    return codes


def encode_values(base: Any, other: Any) -> Codes:
    """Number strings and decimals by the dictionary of the base."""
    encoded = base.dictionary_encode()
    chunks = [other.slice(first, CHUNK_ROWS) for first in range(0, len(other), CHUNK_ROWS)]
    found = in_threads(lambda chunk: pc.index_in(chunk, encoded.dictionary, skip_nulls=True), chunks)
    others = np.concatenate([np.zeros(0, np.int64), *map(_indices, found)])
    return Codes(_indices(encoded.indices), others, len(encoded.dictionary))


def _indices(indices: Any) -> Ints:
    codes: Ints = pc.fill_null(indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes

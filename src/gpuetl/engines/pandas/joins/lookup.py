"""Find integers among distinct ones: an ordered hash table, made by sorting, so that building it is vectorized too."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.keys import mix_bits
from gpuetl.records import dataclass
from gpuetl.threads import in_threads

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

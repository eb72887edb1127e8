"""Which rows of a page are null: Parquet's definition levels, which are validity bits as they lie in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.sinks.pieces import Piece, Span, fetched
from gpuetl.backends.cudf.sinks.thrift import varint
from gpuetl.backends.cudf.vector import Vector


@dataclass(frozen=True, eq=False)
class Levels:
    """The rows of a column's pages; those of a page are a multiple of 32, but of the last one.

    Parameters
    ----------
    rows
        How many.
    page_rows, group_pages
        The rows of a page, and the pages of a row group; the last of each may have fewer.
    valid
        Validity words; None where no row is null.
    through
        int64 for each word, the valid rows up to its end; None where no row is null.
    counts
        The valid rows of each page.
    d_starts
        int64 on the device, where each page's valid rows begin among all of them, and how many there are.
    """

    rows: int
    page_rows: int
    group_pages: int
    valid: Array | None
    through: Array | None
    counts: list[int]
    d_starts: Array

    @cached_property
    def starts(self) -> list[int]:
        """What is in `d_starts`."""
        return [0, *accumulate(self.counts)]

    @property
    def valid_rows(self) -> int:
        """How many rows are not null."""
        return self.starts[-1]

    @property
    def groups(self) -> int:
        """How many row groups there are."""
        return -(-len(self.counts) // self.group_pages)

    @property
    def group_rows(self) -> int:
        """The rows of the largest row group."""
        return min(self.page_rows * self.group_pages, self.rows)

    def pages_of(self, group: int) -> range:
        """Return the pages of a row group."""
        start = group * self.group_pages
        return range(start, min(start + self.group_pages, len(self.counts)))

    def valid_rows_of(self, group: int) -> int:
        """Return how many rows of a row group are not null."""
        pages = self.pages_of(group)
        return self.starts[pages.stop] - self.starts[pages.start]

    def rows_of(self, page: int) -> int:
        """Return the rows of a page."""
        return min(self.page_rows, self.rows - page * self.page_rows)

    def pieces(self, page: int) -> list[Piece]:
        """Return a page's levels behind their size: one run of equal levels, or the bits."""
        rows, count = self.rows_of(page), self.counts[page]
        if count in (0, rows):
            return [equal_levels(rows, count > 0)]
        groups = -(-rows // 8)
        head = varint(groups << 1 | 1)
        return [(len(head) + groups).to_bytes(4, "little") + head, Span(self.valid, page * self.page_rows // 8, groups)]


@lru_cache(1 << 10)
def equal_levels(rows: int, valid: bool) -> bytes:
    """Return the levels of rows that are all valid, or all null, behind their size."""
    run = varint(rows << 1) + (b"\1" if valid else b"\0")
    return len(run).to_bytes(4, "little") + run


def levels_of(vectors: Mapping[str, Vector], page_rows: int, group_pages: int, machine: Machine) -> dict[str, Levels]:
    """Return the levels of columns of equally many rows; the host waits once, if any may have nulls.

    Columns without nulls share theirs.
    """
    rows = next(iter(vectors.values())).rows
    through = {name: valid_through(vector, machine) for name, vector in vectors.items() if vector.nulls}
    ends = [page_ends(sums, page_rows // 32, machine) for sums in through.values()]
    found = dict(zip(through, fetched(ends, machine), strict=True))
    starts = np.arange(0, rows, page_rows)

    def levels(valid: Array | None, through: Array | None, ends: np.ndarray[Any, Any]) -> Levels:
        counts, d_starts = np.diff(ends, prepend=0).tolist(), machine.arrays.asarray(np.append(0, ends))
        return Levels(rows, page_rows, group_pages, valid, through, counts, d_starts)

    full = levels(None, None, np.minimum(starts + page_rows, rows))
    return {
        name: levels(vector.valid, through[name], found[name]) if name in found and found[name][-1] < rows else full
        for name, vector in vectors.items()
    }


def valid_through(vector: Vector, machine: Machine) -> Array:
    """Return how many rows are valid up to the end of each word."""
    arrays, words = machine.arrays, -(-vector.rows // 32)
    counts = arrays.empty(words, "int32")
    module = machine.compiled(counting_source())
    machine.launch(module, "count_valid", words, [words, vector.rows, vector.valid, counts])
    return arrays.cumsum(counts, dtype="int64")


def page_ends(sums: Array, page_items: int, machine: Machine) -> Array:
    """Return a running sum at the end of each page of so many items; the last may have fewer."""
    pages = -(-len(sums) // page_items)
    whole = sums[page_items - 1 :: page_items]
    return whole if len(whole) == pages else machine.arrays.concatenate([whole, sums[-1:]])


def counting_source() -> str:
    """Return the kernel `count_valid`."""
    return f"""{headers_text(["parquet.cuh"])}
KERNEL count_valid(int64_t words, int64_t rows, const uint32_t* valid, int32_t* counts) {{
    FOR_EACH_ROW(word, words) if (word < words) counts[word] = parquet::valid_in_word(valid, word, rows);
}}
"""

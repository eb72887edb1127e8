"""Which rows of a page are null: Parquet's definition levels, which are validity bits as they lie in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import joined, scan
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.parquet_metadata import varint
from gpuetl.engines.cudf.io.threaded_file import Piece, Span
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass


@dataclass(eq=False)
class Levels:
    """The rows of a column's pages; those of a page are a multiple of 32, but of the last one.

    Parameters
    ----------
    rows
        How many.
    page_rows, group_pages
        The rows of a page, and the pages of a row group; the last of each may have fewer.
    valid
        Validity words; None where no row can be null.
    through
        int64, at each word how many valid rows there are before it, counted from any number on, and one more behind
        the last word; None where no row can be null.
    d_starts
        int64 on the device, where each page's valid rows begin among all of them, and how many there are.
    starts
        What is in `d_starts`; empty until the host has been told.
    """

    rows: int
    page_rows: int
    group_pages: int
    valid: Array | None
    through: Array | None
    d_starts: Array
    starts: list[int] = field(default_factory=list)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return -(-self.rows // self.page_rows)

    @property
    def counts(self) -> list[int]:
        """The valid rows of each page."""
        return [end - start for start, end in pairwise(self.starts)]

    @property
    def valid_rows(self) -> int:
        """How many rows are not null."""
        return self.starts[-1]

    @property
    def groups(self) -> int:
        """How many row groups there are."""
        return -(-self.pages // self.group_pages)

    @property
    def group_rows(self) -> int:
        """The rows of the largest row group."""
        return min(self.page_rows * self.group_pages, self.rows)

    def pages_of(self, group: int) -> range:
        """Return the pages of a row group."""
        start = group * self.group_pages
        return range(start, min(start + self.group_pages, self.pages))

    def valid_rows_of(self, group: int) -> int:
        """Return how many rows of a row group are not null."""
        pages = self.pages_of(group)
        return self.starts[pages.stop] - self.starts[pages.start]

    def rows_before(self, page: int) -> int:
        """Return how many rows there are before a page."""
        return min(page * self.page_rows, self.rows)

    def rows_of(self, page: int) -> int:
        """Return the rows of a page."""
        return min(self.page_rows, self.rows - page * self.page_rows)

    def pieces(self, page: int) -> list[Piece]:
        """Return a page's levels behind their size: one run of equal levels, or the bits."""
        rows, count = self.rows_of(page), self.starts[page + 1] - self.starts[page]
        if count in (0, rows):
            return [equal_levels(rows, count > 0)]
        assert self.valid is not None  # else all rows are valid
        groups = -(-rows // 8)
        return [levels_head(groups), Span(self.valid, page * self.page_rows // 8, groups)]


@dataclass(frozen=True, eq=False)
class BatchLevels:
    """The levels of the columns of a batch: `of` columns by name, of which those without nulls share theirs.

    `d_starts` (int64[levels, pages + 1]) are those of `distinct`, one behind another.
    """

    of: Mapping[str, Levels]
    distinct: list[Levels]
    d_starts: Array

    def tell(self, starts: np.ndarray[Any, Any]) -> None:
        """Take what the host has been told of `d_starts`."""
        for levels, own in zip(self.distinct, starts.reshape(len(self.distinct), -1).tolist(), strict=True):
            levels.starts = own


@lru_cache(1 << 10)
def levels_head(groups: int) -> bytes:
    """Return what stands before so many bytes of levels: their size, and the head of their run."""
    head = varint(groups << 1 | 1)
    return (len(head) + groups).to_bytes(4, "little") + head


@lru_cache(1 << 10)
def equal_levels(rows: int, valid: bool) -> bytes:
    """Return the levels of rows that are all valid, or all null, behind their size."""
    run = varint(rows << 1) + (b"\1" if valid else b"\0")
    return len(run).to_bytes(4, "little") + run


def levels_of(vectors: Mapping[str, Vector], page_rows: int, group_pages: int, machine: Machine) -> BatchLevels:
    """Return the levels of columns of equally many rows, by one pass over the validity of those that may have nulls."""
    arrays, rows = machine.arrays, next(iter(vectors.values())).rows
    words, pages = -(-rows // 32), -(-rows // page_rows)
    nullable = [name for name, vector in vectors.items() if vector.nulls]
    through = valid_through([vectors[name].required_valid[:words] for name in nullable], rows, machine)
    d_starts = arrays.empty((1 + len(nullable), pages + 1), "int64")
    arguments = [d_starts.size, pages + 1, page_rows, rows, words, through, d_starts]
    machine.launch(machine.closed("pages"), "page_starts", d_starts.size, arguments)
    distinct = [Levels(rows, page_rows, group_pages, None, None, d_starts[0])]
    for place, name in enumerate(nullable):
        own = through[place * words :]
        distinct.append(Levels(rows, page_rows, group_pages, vectors[name].valid, own, d_starts[place + 1]))
    found = dict(zip(nullable, distinct[1:], strict=True))
    return BatchLevels({name: found.get(name, distinct[0]) for name in vectors}, distinct, d_starts)


def valid_through(valid: list[Array], rows: int, machine: Machine) -> Array:
    """Return (int64) how many rows are valid before each word of several columns, one behind another, and in all."""
    arrays, words = machine.arrays, -(-rows // 32)
    counts = arrays.zeros(1 + words * len(valid), "int32")
    if valid:
        flat = joined(valid, machine)
        arguments: list[Any] = [words * len(valid), words, rows, flat, counts]
        machine.launch(machine.closed("pages"), "count_valid", arguments[0], arguments)
    return scan(counts, machine)

"""Groups of keys that range narrowly: each row's key is a code, and counts by code tell where groups begin."""

from __future__ import annotations

from gpuetl.engines.cudf.aggregates.counting import (
    SHARED_BITS,
    are_countable,
    cached_counts,
    ranked,
    shared_counts,
)
from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import converted, pick, scan, scatter, with_last
from gpuetl.engines.cudf.columns.compact import numbers_where
from gpuetl.engines.cudf.columns.keys import Keys
from gpuetl.engines.cudf.columns.layout import Layout
from gpuetl.engines.cudf.columns.words import packed
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass

TABLE_BITS = 12
"""The widest code of the choice `group_by_table`; wider ones are of `group_by_counts`."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows by the code of their keys.

    `codes` (uint8, uint16 or uint32) are the rows' own.  `ranks` (int32) have the group of each code.  `rows` are the
    numbers (int32) of the rows in the order of their codes.  `starts` (int64) are where groups begin in that order, and
    the number of rows.
    """

    codes: Array
    ranks: Array
    rows: Array
    starts: Array

    def groups(self, machine: Machine) -> Array:
        """Return the group (int32) of each row."""
        codes = self.codes.view("int32") if self.codes.dtype == "uint32" else self.codes
        return pick(self.ranks, codes, machine)


def table_of(keys: Keys, layout: Layout, machine: Machine) -> Table | None:
    """Return the table of rows that are not in order and whose keys range narrowly, None for others."""
    bits = sum(layout.bits)
    if not bits or (layout.in_order and chosen("notice_order")):
        return None
    if not chosen("group_by_table" if bits <= TABLE_BITS else "group_by_counts"):
        return None
    if bits <= SHARED_BITS:
        return small_table(keys, layout, machine)
    return large_table(keys, layout, machine) if are_countable(bits, keys.rows) else None


def small_table(keys: Keys, layout: Layout, machine: Machine) -> Table:
    """Count in shared memory, and sort by radix: codes have at most 2 bytes."""
    (codes,) = packed(keys, layout, machine)
    ranks, starts = ranked(shared_counts(codes, sum(layout.bits), machine), keys.rows, machine)
    return Table(codes, ranks, machine.sorted_order([codes]), starts)


def large_table(keys: Keys, layout: Layout, machine: Machine) -> Table | None:
    """Count in the cache: codes have 4 bytes."""
    (codes,), arrays = packed(keys, layout, machine), machine.arrays
    counts = cached_counts(codes, sum(layout.bits), machine)
    if counts is None:
        return None
    found = numbers_where(counts, machine)
    ranks = arrays.empty(len(counts), "int32")
    scatter(ranks, found, machine)
    places = pick(scan(counts, machine, "int32", before=True), found, machine)
    starts = with_last(converted(places, "int64", machine), keys.rows, machine)
    return Table(codes, ranks, machine.sorted_order([codes]), starts)

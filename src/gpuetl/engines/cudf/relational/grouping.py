"""The rows of an aggregate by group: by counts of codes where keys range narrowly, else sorted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.arrays import (
    bounds_where,
    canonical,
    converted,
    iota,
    mark_both,
    numbers_where,
    pick,
    scan,
    scatter,
    set_marks,
    with_last,
)
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.keys import Key, Keys, Layout, keys_of
from gpuetl.engines.cudf.columns.order import sort_keys
from gpuetl.engines.cudf.columns.packed_keys import measured, packed
from gpuetl.engines.cudf.columns.string_codes import dictionary_codes
from gpuetl.engines.cudf.columns.validity import valid_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.expressions.ir import Column, Expr, Literal
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL

# Rows counted by the code of their keys: sums of counts tell where each group begins among the sorted rows.
#
# So no row is compared with the one before it, for which each row's code would be read at random.  Counts of few codes
# lie in shared memory, and those of up to some millions of codes in a GPU's cache.


MOST_BITS = 24
"""The widest code: its counts, 64 MiB, are near the size of a GPU's cache."""
SMALL_TABLE, ROWS_A_CODE = 1 << 16, 16
"""The codes that any rows may have, and the rows for each code that larger tables need."""
SHARED_BITS = 16
"""The widest code that is counted in shared memory.  A block counts 2^13 codes, so eight blocks read each code."""
SAMPLED, MOST_SAMPLED = 4096, 128
"""The rows of a sample, and how many of them may have one code: additions to one count in the cache come one by one.
Rows of the code that most have, such as that of nulls, are counted in registers."""
THREADS = 512
"""Of the block that ranks the codes; the kernel takes up to 1,024."""


def are_countable(bits: int, rows: int) -> bool:
    """Return whether codes of this width are few enough to be counted."""
    return bits <= MOST_BITS and 1 << bits <= max(SMALL_TABLE, rows // ROWS_A_CODE)


def shared_counts(codes: Array, bits: int, machine: Machine) -> Array:
    """Return how many rows (int32) each code (uint8 or uint16) has."""
    counts = machine.arrays.zeros(1 << bits, "int32")
    arguments = [len(codes), len(counts), codes, counts]
    machine.launch(machine.closed("counting"), f"tally_{codes.dtype}", len(codes), arguments)
    return counts


def cached_counts(codes: Array, bits: int, machine: Machine) -> Array | None:
    """Return how many rows (int32) each code (uint32) has; None where a sample has two codes very often."""
    often, _, second = most_sampled(codes, machine) if len(codes) >= SAMPLED * MOST_SAMPLED else (0, 0, 0)
    if second > MOST_SAMPLED:
        return None
    counts = machine.arrays.zeros(1 << bits, "int32")
    machine.launch(machine.closed("counting"), "count_by_code", len(codes), [len(codes), often, codes, counts])
    return counts


def ranked(counts: Array, rows: int, machine: Machine) -> tuple[Array, Array]:
    """Return the group (int32) of each code, and where groups begin (int64) among the sorted rows, and their number.

    One block does it, for few codes.  The host waits for how many groups there are.
    """
    arrays, size = machine.arrays, len(counts)
    ranks, starts, groups = (
        arrays.empty(size, "int32"),
        arrays.empty(min(size, rows) + 1, "int64"),
        arrays.zeros(1, "uint64"),
    )
    arguments = [size, rows, counts, ranks, starts, groups]
    machine.launch_blocks(machine.closed("counting"), "rank_codes", 1, THREADS, arguments)
    return ranks, starts[: int(groups[0]) + 1]


def most_sampled(codes: Array, machine: Machine) -> tuple[int, int, int]:
    """Return the most frequent code of a sample, how many rows have it, and how many have the second most frequent."""
    rows = iota(SAMPLED, machine, step=len(codes) // SAMPLED)
    found, counts = np.unique(machine.host(pick(codes, rows, machine)), return_counts=True)
    (first, often), (second, _) = sorted([*zip(counts.tolist(), found.tolist(), strict=True), (0, 0)], reverse=True)[:2]
    return often, first, second


# Groups of keys that range narrowly: each row's key is a code, and counts by code tell where groups begin.


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


# The rows of an aggregate by group: their order, and what several calls need of them, computed once.


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows sorted by group: group g is from starts[g] to starts[g + 1].

    `rows` are the rows' numbers in the frame, None where they are in order there.  Groups whose keys range narrowly
    have a `table` by key.  Where groups may be empty, as those of lists, `codes` are given, in `_cache`.
    """

    frame: Frame
    rows: Array | None
    starts: Array
    machine: Machine
    table: Table | None = None
    _cache: dict[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def by(cls, frame: Frame, keys: Sequence[str], machine: Machine) -> Groups:
        """Sort by the keys; without keys there is one group, also of no rows."""
        if not keys:
            return cls(frame, None, machine.arrays.asarray(np.array([0, frame.rows], np.int64)), machine)
        own = keys_of(frame.columns, [SortKey(name) for name in keys], frame.rows, machine)
        layout = measured(own, machine)
        if table := table_of(own, layout, machine):
            return cls(frame, table.rows, table.starts, machine, table)
        order = sort_keys(own, len(own.keys), False, machine, layout)
        return cls(frame, order.rows, bounds_where(order.new_group, machine), machine)

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @property
    def first_rows(self) -> Array:
        """The number of each group's first row."""
        return self.starts[:-1] if self.rows is None else pick(self.rows, self.starts[:-1], self.machine)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under this name, made when it is first asked for."""
        if key not in self._cache:
            self._cache[key] = make()
        cached: T = self._cache[key]
        return cached

    def keys(self, names: Sequence[str]) -> dict[str, Vector]:
        """Return the values of each group in the columns that it is made by: floats with one zero and one NaN."""
        columns = self.frame.select(tuple(names)).columns
        keys = take(columns, self.first_rows, self.machine, missing=False) if names else {}
        return {name: canonical(vector, self.machine) for name, vector in keys.items()}

    @property
    def codes(self) -> Array:
        """The group (int32) of each row of the frame."""

        def make() -> Array:
            if self.table:
                return self.table.groups(self.machine)
            marks = self.machine.arrays.zeros(self.frame.rows, "uint8")
            set_marks(marks, self.starts[1:-1], self.machine)
            sorted_codes = scan(marks, self.machine, "int32")
            if self.rows is None:
                return sorted_codes
            codes = self.machine.arrays.empty(self.frame.rows, "int32")
            scatter(codes, self.rows, self.machine, sorted_codes)
            return codes

        return self.once("codes", make)

    @property
    def code_key(self) -> Key:
        """The group of each row as a key."""
        return Key(Vector(pa.int32(), self.frame.rows, self.codes), False)

    def column(self, argument: Expr) -> Vector:
        """Return an argument's values."""
        if isinstance(argument, Column):
            return self.frame.columns[argument.name]
        columns, rows = self.frame.columns, self.frame.rows
        return self.once(argument, lambda: evaluate({"": argument}, columns, rows, self.machine)[""])

    def valid(self, argument: Expr) -> Array | None:
        """Return where (uint8) an argument is not null, None where it never is."""
        column = self.column(argument)
        return valid_rows(column, self.machine) if column.nulls else None

    def true(self, argument: Expr) -> Array | None:
        """Return where (uint8) a boolean is true, None for the constant; null is not."""
        if argument == Literal(True, BOOL):
            return None
        return both(self.column(argument).data, self.valid(argument), self.machine)

    def key(self, argument: Expr, descending: bool = False) -> Key:
        """Return an argument as a key."""
        column = self.numbered(argument)
        return Key(column, column.valid is not None, descending)

    def numbered(self, argument: Expr) -> Vector:
        """Return an argument's values, strings as their numbers."""
        return self.once(("numbered", argument), lambda: dictionary_codes(self.column(argument), self.machine))


def both(left: Array | None, right: Array | None, machine: Machine) -> Array | None:
    """Return where two marks of rows are set; None marks every row."""
    if left is None or right is None:
        return right if left is None else left
    return mark_both(left, right, machine)

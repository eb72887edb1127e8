"""The vocabularies of several columns of the same rows, counted by hash in tables, and the lookup of values in them.

All columns go through each kernel together, and the host waits once for all of them, after each size of tables.  What
is kept of all columns is sorted together: by column, then by frequency, then by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuetl.engines.cudf.columns.arrays import canonical, filled
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.keys import Key, Keys, Words
from gpuetl.engines.cudf.columns.order import sorted_order
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine, Struct
from gpuetl.plan.nodes.vocabulary import COUNT, ID, INT32, VALUE
from gpuetl.types.data_types import INT64, NAMED

PROGRAM = "vocabulary"
MOST_ROWS, MOST_SLOTS = 1 << 29, 1 << 30
"""A table has twice as many slots as rows at least, and places in it have 31 bits."""
SMALL_TABLES = 1 << 17, 1 << 21
"""Slots of 16 bytes: 2 MiB and 32 MiB."""
SLOT_BYTES = 16
MOST_PROBES = 64
"""A small table in which a value needs more is given up."""
LEAST_SEEN, MOST_SEEN = 1 << 10, 1 << 22
"""Counters of 4 bytes, by which values of few rows are left out before they take a slot."""
SEEN_SHARE = 3
"""So many counters for each value that may be kept: rare values that share one add up to fewer rows than are kept."""
MOST_COLUMNS, THREADS = 32, 256
"""Of a launch, as in device/closed/vocabulary.cu."""
BLOCK_ITEMS, MOST_BLOCKS = 4096, 2048
"""What a block has to do at least, and the blocks that all columns share."""
TABLES_BYTES = 1 << 26
"""Of the tables of several columns together, or as much as the largest table may have."""


class Counting(NamedTuple):
    """A column to count: its `key` has one component, and `values` values at most; see `Vocabulary` for the others."""

    column: Vector
    key: Key
    values: int
    first: int
    least: int
    most: int | None

    @property
    def last_size(self) -> int:
        """The slots of a table that is large enough."""
        return 1 << max(6, (2 * self.values - 1).bit_length())


class Kept(NamedTuple):
    """Values that enough rows have, in any order: a row of each (int32), how many rows (int64), and the component."""

    rows: Array
    counts: Array
    values: Array


class Table(NamedTuple):
    """A table for a column: how many slots it has, and how many counters tell values of few rows, 0 for none."""

    counting: Counting
    size: int
    seen: int

    @property
    def is_small(self) -> bool:
        """Whether it may be too small."""
        return self.size < self.counting.last_size

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.size * SLOT_BYTES + self.seen * 4

    def most_kept(self, rows: int) -> int:
        """Return how many values may be kept of so many rows."""
        return min(self.size + 1, rows // self.counting.least)


def seen_size(counting: Counting, rows: int) -> int:
    """Return how many counters tell values of few rows; more than `MOST_SEEN` where they would not tell."""
    return 1 << max(LEAST_SEEN.bit_length() - 1, (SEEN_SHARE * rows // counting.least).bit_length())


def launch_columns(
    entry: str, columns: Sequence[Words], items: int, arguments: Sequence[Any], machine: Machine,
    leading: Sequence[Any] = (),
) -> None:  # fmt: skip
    """Run a kernel over up to `items` items of each column.

    Its parameters are the `leading` ones, the number of columns, the arguments, and a struct of all columns.
    """
    for first in range(0, len(columns), MOST_COLUMNS):
        some = columns[first : first + MOST_COLUMNS]
        words = np.zeros((MOST_COLUMNS, len(some[0])), np.uint64)
        words[: len(some)] = some
        each = max(1, min(-(-items // BLOCK_ITEMS), MOST_BLOCKS // len(some)))
        passed = [*leading, len(some), *arguments, Struct(words.reshape(-1).view(np.int64))]
        machine.launch_blocks(machine.closed(PROGRAM), entry, each * len(some), THREADS, passed)


def counted(columns: Sequence[Counting], rows: int, machine: Machine) -> list[Kept]:
    """Return what is kept of each column.

    The host waits for how many values these are.  Tables that fit a GPU's cache are tried before those that are surely
    large enough: a full one shows after few rows.
    """
    found: dict[int, Kept] = {}
    for stage, limit in enumerate((*SMALL_TABLES, MOST_SLOTS)):
        tables = {
            at: table_of(one, min(limit, one.last_size), stage, rows)
            for at, one in enumerate(columns)
            if at not in found
        }
        for some in together(tables, rows):
            kept = zip(some, kept_of([tables[at] for at in some], rows, machine), strict=True)
            found |= {at: values for at, values in kept if values is not None}
    return [found[at] for at in range(len(columns))]


def table_of(counting: Counting, size: int, stage: int, rows: int) -> Table:
    """Return a table; from the second one on it has values alone that may be in enough rows."""
    seen = seen_size(counting, rows) if stage > 0 else 0
    return Table(counting, size, seen if seen <= MOST_SEEN else 0)


def together(tables: Mapping[int, Table], rows: int) -> Iterator[list[int]]:
    """Yield the columns of tables that memory holds together."""
    some, total, most = list[int](), 0, max(TABLES_BYTES, 4 * rows * SLOT_BYTES)
    for at, table in tables.items():
        if some and total + table.nbytes > most:
            yield some
            some, total = [], 0
        some.append(at)
        total += table.nbytes
    if some:
        yield some


def kept_of(tables: Sequence[Table], rows: int, machine: Machine) -> list[Kept | None]:
    """Count in tables; return what is kept, None of a column whose table is too small."""
    arrays, most = machine.arrays, [table.most_kept(rows) for table in tables]
    slots = filled(2 * sum(table.size + 1 for table in tables), -1, "int64", machine)
    seen = arrays.zeros(sum(table.seen for table in tables), "uint32")
    kept = Kept(*(arrays.empty(sum(most), dtype) for dtype in ("int32", "int64", "uint64")))
    state = arrays.zeros(2 * len(tables), "uint64")
    words, places = list[Words](), list[int]()
    slot = seen_at = place = 0
    for number, (table, count) in enumerate(zip(tables, most, strict=True)):
        (component,) = table.counting.key.described(machine)
        counters = [machine.address(seen) + 4 * seen_at, table.seen] if table.seen else [0, 1]
        outputs = [machine.address(array) + array.dtype.itemsize * place for array in kept]
        told = machine.address(state) + 16 * number
        own = machine.address(slots) + SLOT_BYTES * slot
        words.append([*component, own, table.size, *counters, table.counting.least, *outputs, told, told + 8])
        places.append(place)
        slot, seen_at, place = slot + table.size + 1, seen_at + table.seen, place + count
    if len(seen):
        launch_columns("see_values", words, rows, [], machine, [rows])
    for is_small in sorted({table.is_small for table in tables}):
        some = [each for each, table in zip(words, tables, strict=True) if table.is_small is is_small]
        launch_columns("count_values", some, rows, [MOST_PROBES if is_small else 1 << 31], machine, [rows])
    launch_columns("keep_values", words, max(table.size for table in tables) + 1, [], machine)
    numbers = state.tolist()
    return [
        None if full else Kept(*(array[start : start + count] for array in kept))
        for start, count, full in zip(places, numbers[::2], numbers[1::2], strict=True)
    ]


# What is kept of all columns, in the order of its numbers.


def vocabularies(columns: Sequence[Counting], rows: int, machine: Machine) -> list[Frame]:
    """Return the vocabulary of each column: values, how many rows have each, and their numbers."""
    arrays, kept = machine.arrays, counted(columns, rows, machine)
    counts = [len(each.rows) for each in kept]
    starts, total = np.cumsum([0, *counts]).tolist(), sum(counts)
    numbers, all_rows = arrays.empty(total, "int32"), arrays.empty(total, "int32")
    all_counts, values = arrays.empty(total, "int64"), arrays.empty(total, "uint64")
    own_rows, own_counts, ids = (arrays.empty(total, dtype) for dtype in ("int32", "int64", "int32"))
    sizes = [count if one.most is None else min(count, one.most) for count, one in zip(counts, columns, strict=True)]
    data = [
        arrays.empty(size, one.column.data.dtype) if one.column.is_fixed else None
        for size, one in zip(sizes, columns, strict=True)
    ]
    if total:
        parts = [
            [*map(machine.address, each), place, start, len(each.rows)]
            for place, (each, start) in enumerate(zip(kept, starts, strict=False))
        ]
        launch_columns("join_kept", parts, max(counts), [numbers, all_counts, values, all_rows], machine)
        keys = (
            Key(Vector(INT32, total, numbers), False),
            Key(Vector(INT64, total, all_counts), False, descending=True),
            Key(Vector(NAMED["uint64"], total, values), False),
        )
        order = sorted_order(Keys(keys if len(columns) > 1 else keys[1:], total), machine)
        written = [
            written_words(one, array, start, size, machine)
            for one, array, start, size in zip(columns, data, starts, sizes, strict=False)
        ]
        outputs = [own_rows, own_counts, ids]
        launch_columns("write_vocabularies", written, max(sizes), [order, all_rows, all_counts, *outputs], machine)
    frames = list[Frame]()
    for one, array, start, size in zip(columns, data, starts, sizes, strict=False):
        part = slice(start, start + size)
        value = value_of(one.column, array, own_rows[part], machine)
        frame = {VALUE: value, COUNT: Vector(INT64, size, own_counts[part]), ID: Vector(INT32, size, ids[part])}
        frames.append(Frame(frame, size))
    return frames


def written_words(one: Counting, array: Array | None, start: int, size: int, machine: Machine) -> Words:
    """Return a `Written` of device/closed/vocabulary.cu."""
    if array is None:
        return [0, 0, 0, start, size, one.first]
    return [machine.address(one.column.data), machine.address(array), array.dtype.itemsize, start, size, one.first]


def value_of(column: Vector, data: Array | None, rows: Array, machine: Machine) -> Vector:
    """Return the column of the values; those of no fixed width are taken from their rows."""
    if data is None:
        (value,) = take({VALUE: column}, rows, machine, missing=False).values()
        return value
    return canonical(Vector(column.dtype, len(rows), data, dictionary=column.dictionary), machine)


# Numbers of values that are looked up.


class Sought(NamedTuple):
    """A column whose values are looked up in a vocabulary, and the number of those that are not there."""

    column: Vector
    vocabulary: Frame
    unknown: int


def is_alike(column: Vector, values: Vector) -> bool:
    """Return whether values of both are equal where their components are: strings have the same dictionary."""
    same = column.dtype == values.dtype and column.is_fixed and values.is_fixed
    return same and column.dictionary is values.dictionary


def numbers_of(columns: Sequence[Sought], rows: int, machine: Machine) -> list[Array]:
    """Return the numbers (int32) of the rows of each column; of all columns together, and no wait."""
    arrays = machine.arrays
    outputs = [arrays.empty(rows, "int32") for _ in columns]
    sizes = [1 << max(6, (2 * one.vocabulary.rows - 1).bit_length()) for one in columns]
    slots = filled(2 * sum(size + 1 for size in sizes), -1, "int64", machine)
    starts = np.cumsum([0, *(SLOT_BYTES * (size + 1) for size in sizes)]).tolist()
    tables = [machine.address(slots) + start for start in starts]
    placed, sought = list[Words](), list[Words]()
    for one, size, table, output in zip(columns, sizes, tables, outputs, strict=False):
        values, ids = one.vocabulary.columns[VALUE], one.vocabulary.columns[ID]
        (component,) = Key(values.codes, flagged=False).described(machine)
        placed.append([*component, table, size, machine.address(ids.data), one.vocabulary.rows, 0])
        (component,) = Key(one.column.codes, flagged=False).described(machine)
        sought.append([*component, table, size, machine.address(output), rows, one.unknown % (1 << 64)])
    if most := max(one.vocabulary.rows for one in columns):
        launch_columns("place_numbers", placed, most, [], machine)
    if rows:
        launch_columns("number_columns", sought, rows, [], machine, [rows])
    return outputs

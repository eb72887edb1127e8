"""Estimates: registers of hashes, and counts of rounded values.  See expressions/functions/sketches.py.

The entries of all groups are made in a table where it is small, else by sorting.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import converted, numbers_where, pick, scan, with_last
from gpuetl.engines.cudf.columns.keys import Key, Keys
from gpuetl.engines.cudf.columns.order import sorted_order
from gpuetl.engines.cudf.columns.validity import check_elements, empty_column, with_nulls
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.grouping import MOST_BITS, SHARED_BITS, Groups, cached_counts, shared_counts
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.sketches import BUCKETS_BEFORE, REGISTERS
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64, INT64

PROGRAM = "sketches"
SMALL_TABLE, LARGEST_TABLE, CELLS_AN_ITEM = 1 << 16, 1 << 26, 8
"""The cells of a table that any items may have, of the largest one, and those for each item of larger ones."""


@dataclass(frozen=True, eq=False)
class Items:
    """Rows, or what the states of several partitions hold: the group (int32) of each, and its value (int32).

    One group has no codes.  A value of 0 is none.
    """

    codes: Array | None
    values: Array

    def in_order(self, machine: Machine) -> tuple[Array, Array, Array]:
        """Return the numbers (int32) of the items with a value, by group and value; their groups, and their values."""
        kept = numbers_where(self.values, machine)
        count, size = len(kept), len(self.values)
        codes = machine.arrays.zeros(size, "int32") if self.codes is None else self.codes
        columns = [Vector(pa.int32(), size, data) for data in (codes, self.values)]
        order = sorted_order(Keys(tuple(Key(column, False) for column in columns), count, kept), machine)
        numbers = pick(kept, order, machine)
        return numbers, pick(codes, numbers, machine), pick(self.values, numbers, machine)


def codes_of(groups: Groups) -> Array | None:
    """Return the group of each row; None for one group."""
    return None if groups.count == 1 else groups.codes


def elements_of(groups: Groups, argument: Expr) -> tuple[Array | None, Array]:
    """Return the group of each element of a column of lists, None for one group, and the elements."""
    column, machine = groups.column(argument), groups.machine
    assert column.elements is not None
    if groups.count == 1:
        return None, column.elements.data
    rows = machine.arrays.empty(column.elements.rows, "int32")
    arguments = [len(rows), column.rows, column.required_offsets, rows]
    machine.launch(machine.closed("lists"), "element_rows", len(rows), arguments)
    return pick(groups.codes, rows, machine), column.elements.data


def lists_of(groups: Groups, call: Call, codes: Array, elements: Vector) -> Vector:
    """Return the entries of each group as a list; it is empty where a group has none."""
    machine = groups.machine
    check_elements(elements.rows)
    starts, found = machine.arrays.empty(groups.count + 1, "int32"), machine.arrays.empty(groups.count, "uint8")
    arguments = [groups.count, elements.rows, 1, codes, starts, found]
    machine.launch(machine.closed("groups"), "find_starts", groups.count + 1, arguments)
    return Vector(call.dtype, groups.count, NO_DATA, offsets=starts, elements=elements)


# Distinct values.


@dataclass(frozen=True, eq=False)
class Registers:
    """The registers of all groups that are not 0, by group and number: their groups, and what they are (int32)."""

    codes: Array
    packed: Array


def hash_of(x: Expr) -> Call:
    """Return the hash of an argument."""
    return Call(FUNCTIONS["scalar", "hash"], (x,), INT64)


def own_registers(groups: Groups, x: Expr) -> Registers:
    """Return the registers that each group's values set."""
    machine, column, hashes = groups.machine, groups.column(x), groups.column(hash_of(x))
    packed = machine.arrays.empty(column.rows, "int32")
    words = 0 if column.valid is None else column.valid
    machine.launch(machine.closed(PROGRAM), "pack_registers", column.rows, [column.rows, hashes.data, words, packed])
    return merged_registers(groups, Items(codes_of(groups), packed))


def merged_registers(groups: Groups, items: Items) -> Registers:
    """Keep the greatest place of each register of a group."""
    machine, count, cells = groups.machine, len(items.values), groups.count * REGISTERS
    arrays, program = machine.arrays, machine.closed(PROGRAM)
    if chosen("sketch_in_table") and cells <= min(LARGEST_TABLE, max(SMALL_TABLE, CELLS_AN_ITEM * count)):
        table = arrays.zeros(cells, "int32")
        codes = 0 if items.codes is None else items.codes
        machine.launch(program, "raise_registers", count, [count, items.values, codes, table])
        numbers = numbers_where(table, machine)
        found = Registers(arrays.empty(len(numbers), "int32"), arrays.empty(len(numbers), "int32"))
        arguments = [len(numbers), numbers, table, found.codes, found.packed]
        machine.launch(program, "read_registers", len(numbers), arguments)
        return found
    numbers, codes, packed = items.in_order(machine)
    marks = arrays.empty(len(numbers), "uint8")
    machine.launch(program, "mark_last_registers", len(numbers), [len(numbers), codes, packed, marks])
    last = numbers_where(marks, machine)
    return Registers(pick(codes, last, machine), pick(packed, last, machine))


def distinct_registers(groups: Groups, call: Call) -> Vector:
    """The registers of each group."""
    registers = own_registers(groups, call.args[0])
    return lists_of(groups, call, registers.codes, Vector(pa.int32(), len(registers.packed), registers.packed))


def approx_count_distinct(groups: Groups, call: Call) -> Vector:
    """The estimate of each group's own registers."""
    return estimated(groups, own_registers(groups, call.args[0]))


def distinct_of_registers(groups: Groups, call: Call) -> Vector:
    """The estimate of the registers that partitions give."""
    return estimated(groups, merged_registers(groups, Items(*elements_of(groups, call.args[0]))))


def estimated(groups: Groups, registers: Registers) -> Vector:
    """Return how many values set these registers."""
    machine, count = groups.machine, groups.count
    output = empty_column(INT64, count, machine, nullable=False)
    arguments = [count, len(registers.codes), registers.codes, registers.packed, output.data]
    machine.launch(machine.closed(PROGRAM), "estimate_distinct", count, arguments)
    return output


# Quantiles.


@dataclass(frozen=True, eq=False)
class Counts:
    """How many values of each group are in each bucket, by group and bucket.

    Groups and buckets are int32; `before` (int64) has how many values come before each entry, and then all.
    """

    codes: Array
    buckets: Array
    before: Array


def own_counts(groups: Groups, x: Expr) -> Counts:
    """Count each group's values by bucket, once for all their quantiles."""
    machine = groups.machine

    def make() -> Counts:
        column = groups.column(x)
        buckets, bounds = machine.arrays.empty(column.rows, "int32"), machine.arrays.zeros(2, "uint64")
        words = 0 if column.valid is None else column.valid
        arguments = [column.rows, column.data, words, buckets, bounds]
        machine.launch(machine.closed(PROGRAM), "pack_buckets", column.rows, arguments)
        items = Items(codes_of(groups), buckets)
        high, low = bounds.tolist()
        in_table = counts_in_table(groups, items, 2 * BUCKETS_BEFORE - low, high) if high else None
        return in_table or counts_by_order(groups, items)

    return groups.once(("buckets", x), make)


def counts_in_table(groups: Groups, items: Items, low: int, high: int) -> Counts | None:
    """Count in a table of the buckets from `low` to `high` of all groups; None where it would be large."""
    machine, count, span = groups.machine, len(items.values), high - low + 1
    arrays, program, cells = machine.arrays, machine.closed(PROGRAM), groups.count * span
    bits = cells.bit_length()
    if not chosen("sketch_in_table") or bits > MOST_BITS or cells > max(SMALL_TABLE, CELLS_AN_ITEM * count):
        return None
    width = "uint16" if bits <= SHARED_BITS else "uint32"
    places, codes = arrays.empty(count, width), 0 if items.codes is None else items.codes
    arguments = [count, low, span, cells, items.values, codes, places]
    machine.launch(program, f"place_buckets_{width}", count, arguments)
    counts = (shared_counts if bits <= SHARED_BITS else cached_counts)(places, bits, machine)
    if counts is None:
        return None
    counts = counts[:cells]
    numbers = numbers_where(counts, machine)
    found = arrays.empty(len(numbers), "int32"), arrays.empty(len(numbers), "int32")
    machine.launch(program, "read_buckets", len(numbers), [len(numbers), low, span, numbers, *found])
    sizes = pick(counts, numbers, machine)
    return Counts(*found, scan(with_last(sizes, 0, machine), machine, before=True))


def counts_by_order(groups: Groups, items: Items, weights: Array | None = None) -> Counts:
    """Count in the order of groups and buckets; each item by its weight (int64), or as one."""
    machine = groups.machine
    numbers, codes, buckets = items.in_order(machine)
    marks = machine.arrays.empty(len(numbers), "uint8")
    arguments = [len(numbers), codes, buckets, marks]
    machine.launch(machine.closed(PROGRAM), "mark_first_buckets", len(numbers), arguments)
    starts = numbers_where(marks, machine)
    ends = with_last(starts, len(numbers), machine)
    if weights is None:
        before = converted(ends, "int64", machine)
    else:
        own = with_last(pick(weights, numbers, machine), 0, machine)
        before = pick(scan(own, machine, before=True), ends, machine)
    return Counts(pick(codes, starts, machine), pick(buckets, starts, machine), before)


def merged_counts(groups: Groups, argument: Expr) -> Counts:
    """Add up the counts that partitions give."""
    machine = groups.machine

    def make() -> Counts:
        codes, entries = elements_of(groups, argument)
        buckets, counts = machine.arrays.empty(len(entries), "int32"), machine.arrays.empty(len(entries), "int64")
        machine.launch(machine.closed(PROGRAM), "split_counts", len(entries), [len(entries), entries, buckets, counts])
        return counts_by_order(groups, Items(codes, buckets), counts)

    return groups.once(("merged buckets", argument), make)


def value_buckets(groups: Groups, call: Call) -> Vector:
    """The counts of each group."""
    machine, counts = groups.machine, own_counts(groups, call.args[0])
    packed = machine.arrays.empty(len(counts.codes), "int64")
    arguments = [len(packed), counts.buckets, counts.before, packed]
    machine.launch(machine.closed(PROGRAM), "pack_counts", len(packed), arguments)
    return lists_of(groups, call, counts.codes, Vector(INT64, len(packed), packed))


def approx_quantile(groups: Groups, call: Call) -> Vector:
    """The quantile of each group's own counts."""
    return quantile_of(groups, call, own_counts(groups, call.args[0]))


def quantile_of_buckets(groups: Groups, call: Call) -> Vector:
    """The quantile of the counts that partitions give."""
    return quantile_of(groups, call, merged_counts(groups, call.args[0]))


def quantile_of(groups: Groups, call: Call, counts: Counts) -> Vector:
    """Return the quantile at the constant q of a call."""
    assert isinstance(call.args[1], Literal)
    machine, count = groups.machine, groups.count
    output, nulls = empty_column(FLOAT64, count, machine), machine.arrays.zeros(1, "uint64")
    (bits,) = struct.unpack("<q", struct.pack("<d", call.args[1].value))
    arguments = [count, len(counts.codes), bits, counts.codes, counts.buckets, counts.before]
    arguments += [nulls, output.data, output.valid]
    machine.launch(machine.closed(PROGRAM), "find_bucket_quantiles", count, arguments)
    return with_nulls(output, int(nulls[0]))


SKETCHES: dict[str, Callable[[Groups, Call], Vector]] = {
    "approx_count_distinct": approx_count_distinct,
    "distinct_registers": distinct_registers,
    "distinct_of_registers": distinct_of_registers,
    "approx_quantile": approx_quantile,
    "value_buckets": value_buckets,
    "quantile_of_buckets": quantile_of_buckets,
}
HASHED = ("approx_count_distinct", "distinct_registers")
"""Those that take the hash of their argument."""

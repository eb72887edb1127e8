"""Aggregates that sort a group's rows: picks, quantiles, and distinct values counted."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import canonical, filled, iota, numbers_where, pick
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.keys import Key, Keys, Layout, key_of
from gpuetl.engines.cudf.columns.order import note_ties, sort_keys
from gpuetl.engines.cudf.columns.packed_keys import launch_placed, measured, placed
from gpuetl.engines.cudf.columns.validity import empty_column, with_nulls
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.grouping import Groups, both
from gpuetl.expressions.functions.aggregates import BY_KEY, edge_arguments
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Aggregate
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64, NULL

# Where groups begin and end among rows in their order, found by a binary search for each group.


def edges(codes: Array, groups: int, last: bool, machine: Machine) -> Array:
    """Return the place (int64) of each group's first or last row by the rows' codes in order, -1 where it has none."""
    places = machine.arrays.empty(groups, "int64")
    arguments = [groups, len(codes), int(last), codes, places]
    machine.launch(machine.closed("groups"), "find_edges", groups, arguments)
    return places


def group_sizes(codes: Array, groups: int, machine: Machine) -> Array:
    """Return how many rows (int64) each group has by the rows' codes in order."""
    sizes = machine.arrays.empty(groups, "int64")
    machine.launch(machine.closed("groups"), "measure_groups", groups, [groups, len(codes), codes, sizes])
    return sizes


def ties_at(places: Array, starts: Array, rows: int, machine: Machine) -> int:
    """Return how many others equal the ones at these places: runs of equal rows `start` (int32) in order."""
    ties = machine.arrays.zeros(1, "uint64")
    arguments = [len(places), rows, len(starts), places, starts, ties]
    machine.launch(machine.closed("groups"), "count_ties", len(places), arguments)
    return int(ties[0])


# Some of an aggregate's rows sorted within their groups.


@dataclass(frozen=True, eq=False)
class Runs:
    """Some rows sorted by group and then by keys: equal ones stand together.

    `rows` are their numbers in the frame, `codes` their groups, `new` marks the first of each run of equal rows.
    """

    rows: Array
    codes: Array
    new: Array

    @classmethod
    def of(cls, groups: Groups, row_mask: Array | None, keys: Sequence[Key]) -> Runs:
        """Sort the rows that `row_mask` (uint8) marks, all of them where it is None, stably."""
        machine = groups.machine
        rows = None if row_mask is None else numbers_where(row_mask, machine)
        count = groups.frame.rows if rows is None else len(rows)
        order = sort_keys(Keys((groups.code_key, *keys), count, rows), 1, False, machine)
        places = iota(count, machine) if order.rows is None else order.rows
        rows = places if rows is None else pick(rows, places, machine)
        return cls(rows, pick(groups.codes, rows, machine), order.new_value)

    def edge(self, groups: Groups, last: bool = False) -> Array:
        """Return the place (int64) of each group's first or last row among these, -1 where it has none."""
        return edges(self.codes, groups.count, last, groups.machine)


# Aggregates that pick a row of each group after sorting: first, last, min_by, max_by, and extremes of strings.


def values_at(groups: Groups, column: Vector, rows: Array, places: Array) -> Vector:
    """Return a column's values at the rows of these places, null at -1."""
    return take({"": column}, pick(rows, places, groups.machine, missing=-1), groups.machine)[""]


def edge(groups: Groups, call: Call, operation: Aggregate, last: bool) -> Vector:
    """The value of the group's first or last row among those that the call considers; ties are noted."""
    x, ignore_nulls, only = edge_arguments(call)
    order = next(operation.orders[n] for n, own in operation.calls.items() if own == call and n in operation.orders)
    kept = both(groups.true(only), groups.valid(x) if ignore_nulls else None, groups.machine)

    def sort() -> Runs:
        columns = groups.frame.columns
        return Runs.of(groups, kept, [key_of(columns[key.column], key, groups.machine) for key in order])

    runs = groups.once(("edge", order, only, x if ignore_nulls else None), sort)
    places = runs.edge(groups, last)
    ties = ties_at(places, numbers_where(runs.new, groups.machine), len(runs.rows), groups.machine)
    note_ties(operation, (*map(SortKey, operation.by), *map(as_written, order)), ties)
    return values_at(groups, groups.column(x), runs.rows, places)


def as_written(key: SortKey) -> SortKey:
    """Return a key by the name that the user knows: one that partitions carry has more after a colon."""
    return replace(key, column=key.column.partition(BY_KEY)[0])


def value_by(groups: Groups, call: Call, greatest: bool) -> Vector:
    """X of the first row by y, then by x; rows where y is null are left out."""
    x, y = call.args
    runs = Runs.of(groups, groups.valid(y), [groups.key(y, greatest), groups.key(x)])
    return values_at(groups, canonical(groups.column(x), groups.machine), runs.rows, runs.edge(groups))


def extreme(groups: Groups, call: Call, greatest: bool) -> Vector:
    """The least or greatest value of any type."""
    (x,) = call.args
    runs = Runs.of(groups, groups.valid(x), [groups.key(x, greatest)])
    return values_at(groups, canonical(groups.column(x), groups.machine), runs.rows, runs.edge(groups))


def cell(groups: Groups, call: Call) -> Vector:
    """The value of the row at a place of its group: rows are put into a table of cells, once for all calls."""
    x, place, number, cells = call.args
    assert isinstance(number, Literal)
    assert isinstance(cells, Literal)
    machine, count = groups.machine, groups.count

    def make() -> Array:
        table, rows = filled(cells.value * count, -1, "int32", machine), groups.frame.rows
        arguments = [rows, count, groups.column(place).data, groups.codes, table]
        machine.launch(machine.closed("groups"), "place_cells", rows, arguments)
        return table

    found = groups.once(("cells", place, cells), make)[number.value * count : (number.value + 1) * count]
    return take({"": groups.column(x)}, found, machine)[""]


# Quantiles: each group's values sorted, and the value at a place among them, linear between the two beside it.


def median(groups: Groups, call: Call) -> Vector:
    """The middle of the values."""
    return quantile_at(groups, call.args[0], 0.5)


def quantile(groups: Groups, call: Call) -> Vector:
    """The quantile at a constant q."""
    assert isinstance(call.args[1], Literal)
    return quantile_at(groups, call.args[0], call.args[1].value)


def quantile_at(groups: Groups, x: Expr, q: float) -> Vector:
    """Return the quantile of a float64 column, sorted once for all its quantiles; NaN is the greatest value."""
    machine, count = groups.machine, groups.count
    runs = groups.once(("ascending", x), lambda: Runs.of(groups, groups.valid(x), [groups.key(x)]))
    output, nulls = empty_column(FLOAT64, count, machine), machine.arrays.zeros(1, "uint64")
    (bits,) = struct.unpack("<q", struct.pack("<d", q))
    arguments = [
        count,
        len(runs.rows),
        bits,
        runs.codes,
        runs.rows,
        groups.column(x).data,
        nulls,
        output.data,
        output.valid,
    ]
    machine.launch(machine.closed("groups"), "find_quantiles", count, arguments)
    return with_nulls(output, int(nulls[0]))


def quantile_disc(groups: Groups, call: Call) -> Vector:
    """The value at the quantile at a constant q: one of the values themselves."""
    x, q = call.args
    assert isinstance(q, Literal)
    machine = groups.machine
    runs = groups.once(("ascending", x), lambda: Runs.of(groups, groups.valid(x), [groups.key(x)]))
    places = machine.arrays.empty(groups.count, "int64")
    (bits,) = struct.unpack("<q", struct.pack("<d", q.value))
    arguments = [groups.count, len(runs.rows), bits, runs.codes, places]
    machine.launch(machine.closed("groups"), "find_quantile_places", groups.count, arguments)
    return values_at(groups, canonical(groups.column(x), machine), runs.rows, places)


DEVIATION = ":deviation"


def mad(groups: Groups, call: Call) -> Vector:
    """The median of the absolute deviations from the median."""
    (x,), machine = call.args, groups.machine
    centers, column = quantile_at(groups, x, 0.5), groups.column(x)
    data = machine.arrays.empty(column.rows, "float64")
    arguments = [column.rows, groups.codes, centers.data, column.data, data]
    machine.launch(machine.closed("groups"), "find_deviations", column.rows, arguments)
    frame = groups.frame.updated({DEVIATION: replace(column, data=data)})
    own = Groups(frame, groups.rows, groups.starts, machine, groups.table, {"codes": groups.codes})
    return quantile_at(own, Column(DEVIATION, FLOAT64), 0.5)


# Distinct values counted: as bits of a table where they range narrowly, else sorted within their groups.


BITS_A_ROW = 256
"""A table of bits may have so many for each row: no more memory than sorting takes."""
FEW_BITS = 1 << 23


def count_distinct(groups: Groups, call: Call) -> Vector:
    """Count each group's distinct values that are not null; NaN is one, and -0.0 is 0.0."""
    if any(x.dtype == NULL for x in call.args):
        return Vector(call.dtype, groups.count, groups.machine.arrays.zeros(groups.count, "int64"))
    counts = None
    if chosen("count_by_bits") and groups.frame.rows and len(call.args) == 1:
        keys = Keys((groups.key(call.args[0]),), groups.frame.rows)
        counts = counted_by_bits(groups, keys, measured(keys, groups.machine))
    if counts is None:
        counts = counted_by_sorting(groups, call)
    return Vector(call.dtype, groups.count, counts)


def counted_by_sorting(groups: Groups, call: Call) -> Array:
    """Return each group's number (int64) of distinct values, or rows of values: where they begin, sorted."""
    valid: Array | None = None
    for x in call.args:
        valid = both(valid, groups.valid(x), groups.machine)
    runs = Runs.of(groups, valid, [groups.key(x) for x in call.args])
    codes = pick(runs.codes, numbers_where(runs.new, groups.machine), groups.machine)
    return group_sizes(codes, groups.count, groups.machine)


def counted_by_bits(groups: Groups, keys: Keys, layout: Layout) -> Array | None:
    """Return each group's number (int64) of distinct values, None where their range is too wide for a table."""
    (key,), machine, arrays = keys.keys, groups.machine, groups.machine.arrays
    value = list(range(key.flagged, key.components))
    words_a_group = -(-(1 << layout.width(value)) // 32)
    total = words_a_group * groups.count
    if total * 32 > max(FEW_BITS, BITS_A_ROW * groups.frame.rows):
        return None
    table, counts = arrays.zeros(total, "uint32"), arrays.zeros(groups.count, "uint64")
    components = keys.described(machine)[key.flagged :]
    places = [placed(layout, value, component, None, machine) for component in value]
    launch_placed("distinct", "set_bits", keys, components, places, [words_a_group, groups.codes, table], machine)
    machine.launch(machine.closed("distinct"), "count_bits", total // 32 + 32, [total, words_a_group, table, counts])
    return counts.view("int64")

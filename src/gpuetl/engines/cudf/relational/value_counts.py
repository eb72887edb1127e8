"""Aggregates of each group's distinct values and how often they come."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import canonical, converted, numbers_where, pick, with_last
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.validity import check_elements, with_valid
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array
from gpuetl.engines.cudf.relational.aggregate_reduction import reduced
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.sorted_aggregates import Runs, edges, values_at
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64, INT64, can_be_key

TERM = ":term"


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The distinct values of all groups, by group and value: a row (int32) of each, its group (int32), and its place.

    `places` (int32) are where rows of each begin in that order, with the number of all rows, which `total` is too.
    """

    rows: Array
    codes: Array
    places: Array
    total: int

    @classmethod
    def of(cls, groups: Groups, call: Call) -> ValueCounts:
        """Count the values of the first argument that are not null.

        The last argument, which is the same or its texts, tells them apart and has their order.
        """
        key, machine = call.args[-1], groups.machine
        runs = groups.once(("ascending", key), lambda: Runs.of(groups, groups.valid(key), [groups.key(key)]))
        starts = numbers_where(runs.new, machine)
        rows, codes = pick(runs.rows, starts, machine), pick(runs.codes, starts, machine)
        return cls(rows, codes, with_last(starts, len(runs.rows), machine), len(runs.rows))

    def frequent_first(self, groups: Groups) -> ValueCounts:
        """Return the values by group, the most frequent first, of those that tie the least; without their places."""
        machine, count = groups.machine, len(self.rows)
        others = machine.arrays.empty(count, "uint32")
        machine.launch(machine.closed("groups"), "count_others", count, [count, self.total, self.places, others])
        order = machine.sorted_order([self.codes.view("uint32"), others])
        return ValueCounts(pick(self.rows, order, machine), pick(self.codes, order, machine), self.places, self.total)

    def values(self, groups: Groups, x: Expr) -> Vector:
        """Return the values, strings without a dictionary."""
        machine = groups.machine
        column = plain(groups, x)
        return decoded(take({"": column}, self.rows, machine, missing=False)[""], machine)

    def lists(self, groups: Groups, call: Call, elements: Vector) -> Vector:
        """Return what belongs to each group as a list, or a map; null where it has none."""
        machine, count = groups.machine, groups.count
        check_elements(elements.rows)
        starts, found = machine.arrays.empty(count + 1, "int32"), machine.arrays.empty(count, "uint8")
        arguments = [count, len(self.codes), 1, self.codes, starts, found]
        machine.launch(machine.closed("groups"), "find_starts", count + 1, arguments)
        return with_valid(Vector(call.dtype, count, NO_DATA, offsets=starts, elements=elements), found, machine)


def plain(groups: Groups, x: Expr) -> Vector:
    """Return the values of an argument with one zero and one NaN; the plan has made nested ones so."""
    column = groups.column(x)
    return canonical(column, groups.machine) if can_be_key(x.dtype) else column


def mode(groups: Groups, call: Call) -> Vector:
    """The most frequent value that is not null, the least of those that tie."""
    counted = ValueCounts.of(groups, call).frequent_first(groups)
    places = edges(counted.codes, groups.count, False, groups.machine)
    return values_at(groups, plain(groups, call.args[0]), counted.rows, places)


def values_by_frequency(groups: Groups, call: Call) -> Vector:
    """The values, the most frequent first, of those that tie the least."""
    counted = ValueCounts.of(groups, call).frequent_first(groups)
    return counted.lists(groups, call, counted.values(groups, call.args[0]))


def histogram(groups: Groups, call: Call) -> Vector:
    """The values, ascending, with their counts."""
    machine, counted = groups.machine, ValueCounts.of(groups, call)
    keys, count = counted.values(groups, call.args[0]), len(counted.rows)
    sizes = machine.arrays.empty(count, "int64")
    machine.launch(machine.closed("groups"), "measure_runs", count, [count, counted.places, sizes])
    entry = pa.struct([("key", call.dtype.key_type), ("value", INT64)])
    entries = Vector(entry, count, NO_DATA, fields=(keys, Vector(INT64, count, sizes)))
    return counted.lists(groups, call, entries)


def entropy(groups: Groups, call: Call) -> Vector:
    """The sum of p * log2(1 / p): terms by value, which are added up as other sums are."""
    machine, counted = groups.machine, ValueCounts.of(groups, call)
    arrays, program, count = machine.arrays, machine.closed("groups"), len(counted.rows)
    terms, starts, found = arrays.empty(count, "float64"), arrays.empty(groups.count + 1, "int32"), arrays.empty(
        groups.count, "uint8"
    )  # fmt: skip
    machine.launch(program, "find_starts", groups.count + 1, [groups.count, count, 1, counted.codes, starts, found])
    machine.launch(program, "entropy_terms", count, [count, counted.codes, starts, counted.places, terms])
    term = Column(TERM, FLOAT64)
    own = Groups(
        Frame({TERM: Vector(FLOAT64, count, terms)}, count),
        None,
        converted(starts, "int64", machine),
        machine,
        _cache={"codes": counted.codes},
    )
    (sums,) = reduced(own, {"": Call(FUNCTIONS["aggregate", "sum"], (term,), FLOAT64)}).values()
    data = arrays.empty(groups.count, "float64")
    machine.launch(program, "choose_found", groups.count, [groups.count, found, sums.data, data])
    return Vector(FLOAT64, groups.count, data)


DISTRIBUTIONS: dict[str, Callable[[Groups, Call], Vector]] = {
    "mode": mode,
    "values_by_frequency": values_by_frequency,
    "histogram": histogram,
    "entropy": entropy,
}

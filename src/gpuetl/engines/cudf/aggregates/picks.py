"""Aggregates that pick a row of each group after sorting: first, last, min_by, max_by, mode, and extremes of texts."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.engines.cudf.aggregates.edges import ties_at
from gpuetl.engines.cudf.aggregates.groups import Groups, both
from gpuetl.engines.cudf.aggregates.runs import Runs
from gpuetl.engines.cudf.columns.arrays import pick
from gpuetl.engines.cudf.columns.compact import numbers_where
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.keys import key_of
from gpuetl.engines.cudf.columns.order import note_ties
from gpuetl.engines.cudf.expressions.canonical import canonical
from gpuetl.engines.cudf.machine import Array
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.functions.aggregates import CARRIED, edge_arguments
from gpuetl.expressions.ir import Call
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Aggregate


def taken(groups: Groups, column: Vector, rows: Array, places: Array) -> Vector:
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
    return taken(groups, groups.column(x), runs.rows, places)


def as_written(key: SortKey) -> SortKey:
    """Return a key by the name that the user knows: one that partitions carry has more after a colon."""
    return replace(key, column=key.column.partition(CARRIED)[0])


def value_by(groups: Groups, call: Call, greatest: bool) -> Vector:
    """X of the first row by y, then by x; rows where y is null are left out."""
    x, y = call.args
    runs = Runs.of(groups, groups.valid(y), [groups.key(y, greatest), groups.key(x)])
    return taken(groups, canonical(groups.column(x), groups.machine), runs.rows, runs.edge(groups))


def extreme(groups: Groups, call: Call, greatest: bool) -> Vector:
    """The least or greatest value of any type."""
    (x,) = call.args
    runs = Runs.of(groups, groups.valid(x), [groups.key(x, greatest)])
    return taken(groups, canonical(groups.column(x), groups.machine), runs.rows, runs.edge(groups))


def mode(groups: Groups, call: Call) -> Vector:
    """The most frequent value that is not null, the least of those that tie."""
    (x,) = call.args
    machine, runs = groups.machine, Runs.of(groups, groups.valid(x), [groups.key(x)])
    starts = numbers_where(runs.new, machine)
    codes, others = pick(runs.codes, starts, machine), machine.arrays.empty(len(starts), "uint32")
    arguments = [len(starts), len(runs.rows), starts, others]
    machine.launch(machine.closed("groups"), "count_others", len(starts), arguments)
    order = machine.sorted_order([codes.view("uint32"), others])
    rows = pick(runs.rows, pick(starts, order, machine), machine)
    places = Runs(rows, pick(codes, order, machine), runs.new[:0]).edge(groups)
    return taken(groups, canonical(groups.column(x), machine), rows, places)

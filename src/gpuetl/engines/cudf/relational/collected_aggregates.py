"""Aggregates that collect a group's values: lists and joined strings; and those of its distinct values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpuetl.engines.cudf.columns.arrays import canonical, numbers_where, pick, set_marks
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_strings
from gpuetl.engines.cudf.columns.keys import key_of
from gpuetl.engines.cudf.columns.order import note_ties
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.validity import check_elements, with_valid
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.sorted_aggregates import Runs
from gpuetl.expressions.functions import table_entry
from gpuetl.expressions.functions.collecting import OF_DISTINCT, collected_arguments
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Aggregate
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, can_be_key

Handler = Callable[[Groups, Call, Aggregate], Vector]
DISTINCT = ":distinct"


@dataclass(frozen=True, eq=False)
class Collected:
    """Rows by group, in the order of a call: their numbers (int32), and their groups (int32)."""

    rows: Array
    codes: Array

    def starts(self, groups: Groups, step: int = 1) -> tuple[Array, Array]:
        """Return where each group begins (int32), `step` items a row, with an end; and which have rows (uint8)."""
        machine = groups.machine
        starts, found = machine.arrays.empty(groups.count + 1, "int32"), machine.arrays.empty(groups.count, "uint8")
        arguments = [groups.count, len(self.rows), step, self.codes, starts, found]
        machine.launch(machine.closed("groups"), "find_starts", groups.count + 1, arguments)
        return starts, found


def collected(groups: Groups, call: Call, operation: Aggregate, kept: Array | None) -> Collected:
    """Sort the rows that are kept by the order of the call; rows that tie come in the order of their values."""
    x, machine = call.args[0], groups.machine
    orders = (operation.orders[n] for n, own in operation.calls.items() if own == call and n in operation.orders)
    order, distinct = next(orders, ()), call.function.name.endswith("_distinct")
    keys = [key_of(groups.frame.columns[key.column], key, machine) for key in order]
    if can_be_key(x.dtype) and not (distinct and order):
        keys.append(groups.key(x))
    runs = Runs.of(groups, kept, keys)
    if not (can_be_key(x.dtype) or distinct):
        ties = len(runs.rows) - len(numbers_where(runs.new, machine))
        note_ties(operation, (*map(SortKey, operation.by), *order), ties)
    if not distinct:
        return Collected(runs.rows, runs.codes)
    first = numbers_where(runs.new, machine)
    return Collected(pick(runs.rows, first, machine), pick(runs.codes, first, machine))


def array_agg(groups: Groups, call: Call, operation: Aggregate) -> Vector:
    """The values, also nulls, of the rows where the condition is true."""
    machine, (x, only) = groups.machine, collected_arguments(call)
    rows = collected(groups, call, operation, groups.true(only))
    check_elements(len(rows.rows))
    starts, found = rows.starts(groups)
    column = groups.column(x)
    if call.function.name.endswith("_distinct") and can_be_key(x.dtype):
        column = canonical(column, machine)
    elements = decoded(take({"": column}, rows.rows, machine, missing=False)[""], machine)
    lists = Vector(call.dtype, groups.count, NO_DATA, offsets=starts, elements=elements)
    return with_valid(lists, found, machine)


def string_agg(groups: Groups, call: Call, operation: Aggregate) -> Vector:
    """The strings that are not null, with the separator between them.

    Each value is gathered behind a separator, or behind nothing where it is the first of its group: the strings of a
    group lie side by side.
    """
    machine, (x, separator) = groups.machine, collected_arguments(call)
    assert isinstance(separator, Literal)
    rows = collected(groups, call, operation, groups.valid(x))
    check_elements(2 * len(rows.rows))
    text = with_separator(decoded(groups.column(x), machine), separator.value, machine)
    numbers = machine.arrays.empty(2 * len(rows.rows), "int32")
    arguments = [len(rows.rows), text.rows - 2, rows.codes, rows.rows, numbers]
    machine.launch(machine.closed("groups"), "place_separators", len(rows.rows), arguments)
    parts = take({"": text}, numbers, machine, missing=False)[""]
    starts, found = rows.starts(groups, step=2)
    offsets = pick(parts.required_offsets, starts, machine)
    return with_valid(Vector(call.dtype, groups.count, parts.data, offsets=offsets), found, machine)


def with_separator(strings: Vector, separator: str, machine: Machine) -> Vector:
    """Return strings, and after them the separator and an empty string."""
    two = Frame({"": from_strings([separator, ""], machine)}, 2)
    below = concat([Frame({"": strings}, strings.rows), two], {"": STRING}, machine)
    return decoded(below.columns[""], machine)


def with_distinct(groups: Groups, call: Call) -> tuple[Groups, Call]:
    """Return groups with a column of the values, null where they repeat, and the call of that column."""
    machine, x = groups.machine, call.args[0]

    def make() -> Groups:
        runs = Runs.of(groups, groups.valid(x), [groups.key(x)])
        marks = machine.arrays.zeros(groups.frame.rows, "uint8")
        set_marks(marks, pick(runs.rows, numbers_where(runs.new, machine), machine), machine)
        column = canonical(groups.column(x), machine)
        column = with_valid(replace(column, valid=None, nulls=0), marks, machine)
        frame = groups.frame.updated({DISTINCT: column})
        return Groups(frame, groups.rows, groups.starts, machine, groups.table, {"codes": groups.codes})

    argument = Column(DISTINCT, x.dtype)
    return groups.once(("distinct", x), make), replace(call, args=(argument, *call.args[1:]))


def of_distinct(handler: Handler) -> dict[str, Handler]:
    """Return the handlers of aggregates of distinct values, by that of calls of all values."""

    def distinct(groups: Groups, call: Call, operation: Aggregate) -> Vector:
        own_groups, own = with_distinct(groups, call)
        own = replace(own, function=table_entry("aggregate", OF_DISTINCT[call.function.name]))
        name = next(name for name, each in operation.calls.items() if each == call)
        return handler(own_groups, own, replace(operation, calls={name: own}, orders={}))

    return dict.fromkeys(OF_DISTINCT, distinct)

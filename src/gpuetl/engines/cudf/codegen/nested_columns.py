"""Columns of structs and maps: fields, structs made of columns, keys and values, and elements that are nested.

None of these computes anything: columns share memory, and elements are gathered.  Kernels see flat columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from gpuetl.engines.cudf.codegen.functions import list_aggregates, list_edits, list_statistics
from gpuetl.engines.cudf.codegen.functions.nested import (
    LIST_INDEX,
    LIST_PLACE,
    LIST_PLACE_FROM_ONE,
    LIST_PLACE_OF_ANY,
    LIST_TAKE,
    MAP_UNION,
)
from gpuetl.engines.cudf.columns.arrays import iota, scan
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.kind import Kind
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.validity import list_offsets, null_where_any
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.list_edits import sort_order
from gpuetl.expressions.ir import Call, Column, Expr, Literal, transform
from gpuetl.expressions.nested_casts import without_nested_cast
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import INT64, NULL
from gpuetl.types.nested_types import field_names, is_nested

PLACES = {"list_get": LIST_PLACE, "list_extract": LIST_PLACE_FROM_ONE, "list_any_value": LIST_PLACE_OF_ANY}

TAKING_LISTS = frozenset(
    [
        *list_edits.FUNCTIONS,
        *list_aggregates.FUNCTIONS,
        *list_statistics.FUNCTIONS,
        "list_position",
        "list_has_any",
        "list_has_all",
        "map",
    ]
) - {"list_value"}
"""Functions whose kernels read lists, each of which is a column."""

Arguments = Sequence[Vector | Literal]


def in_flat_parts(expr: Expr) -> Expr:
    """Return an expression in which maps are lists, and nested elements of lists are gathered by their places."""
    if not isinstance(expr, Call):
        return expr
    if expr.function.expansion:
        expanded = transform(expr.function.expansion(expr), without_nested_cast)
        return transform(expanded, in_flat_parts)
    name, args = expr.function.name, expr.args
    if (of_nulls := without_null_lists(expr)) is not expr:
        return of_nulls
    if name in ("map_get", "struct_extract") and NULL in (arg.dtype for arg in args):
        return Literal(None, expr.dtype)
    if name == "map_concat":
        return in_parts(expr)
    if name == "map_get":
        m, key = args
        keys, values = keys_and_values(m)
        place = Call(LIST_INDEX, (keys, key), INT64)
        return in_flat_parts(Call(FUNCTIONS["scalar", "list_get"], (values, place), expr.dtype))
    if name in PLACES and is_nested(expr.dtype) and is_nested(args[0].dtype):
        place = Call(PLACES[name], args, INT64)
        row = Call(FUNCTIONS["scalar", "coalesce"], (place, Literal(-1, INT64)), INT64)
        return Call(LIST_TAKE, (args[0], row), expr.dtype)
    return expr


def keys_and_values(maps: Expr) -> tuple[Call, Call]:
    """Return the calls of the keys and of the values of maps."""
    parts = (("map_keys", maps.dtype.key_type), ("map_values", maps.dtype.item_type))
    keys, values = (Call(FUNCTIONS["scalar", name], (maps,), pa.list_(dtype)) for name, dtype in parts)
    return keys, values


def in_parts(union: Call) -> Expr:
    """Return `map_concat` of two maps as that of their keys and values."""
    maps = [arg for arg in union.args if not is_null_list(arg)]
    if len(maps) < 2:
        return maps[0] if maps else Literal(None, union.dtype)
    return Call(MAP_UNION, tuple(part for each in maps for part in keys_and_values(each)), union.dtype)


def without_null_lists(expr: Call) -> Expr:
    """Return a call without lists that are a constant null, which no column holds."""
    if expr.function.name not in TAKING_LISTS or not any(map(is_null_list, expr.args)):
        return expr
    if expr.function.name != "list_concat":
        return Literal(None, expr.dtype)
    rest = tuple(arg for arg in expr.args if not is_null_list(arg))
    return replace(expr, args=rest) if rest else Call(FUNCTIONS["scalar", "list_value"], (), expr.dtype)


def is_null_list(arg: Expr) -> bool:
    """Return whether an argument is the constant null of lists, or of no type."""
    return isinstance(arg, Literal) and arg.value is None and (is_nested(arg.dtype) or arg.dtype == NULL)


def as_column(argument: Vector | Literal, rows: int, machine: Machine) -> Vector:
    """Return an argument as a column; a constant repeats."""
    if isinstance(argument, Vector):
        return argument
    value = pa.scalar(argument.value, argument.dtype)
    return from_arrow(pa.repeat(value, rows) if rows else pa.nulls(0, argument.dtype), machine)


def field_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return a field of structs: null where the struct is."""
    struct, name = as_column(arguments[0], rows, machine), arguments[1]
    assert isinstance(name, Literal)
    field = struct.fields[field_names(struct.dtype).index(name.value)]
    return null_where_any(field, [field, struct], machine)


def struct_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return structs of columns."""
    fields = tuple(decoded(as_column(argument, rows, machine), machine) for argument in arguments)
    return Vector(call.dtype, rows, NO_DATA, fields=fields)


def entry_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return the keys, or the values, of maps as lists."""
    maps = as_column(arguments[0], rows, machine)
    assert maps.elements is not None
    return replace(maps, dtype=call.dtype, elements=maps.elements.fields[call.function.name == "map_values"])


def entries_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return the entries of maps as lists of structs."""
    return replace(as_column(arguments[0], rows, machine), dtype=call.dtype)


def element_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return nested elements of lists by their rows (int64), -1 where there is none."""
    lists, places = (as_column(argument, rows, machine) for argument in arguments)
    assert lists.elements is not None
    return take({"": lists.elements}, places.data, machine)[""]


def value_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return lists of the values of each row."""
    count, arrays = len(arguments), machine.arrays
    offsets = list_offsets(iota(rows + 1, machine, "int64", count), rows * count, machine)
    if not count or not rows:
        elements = from_arrow(pa.nulls(0, call.dtype.value_type), machine)
        return Vector(call.dtype, rows, NO_DATA, offsets=offsets, elements=elements)
    below = stacked([as_column(argument, rows, machine) for argument in arguments], machine)
    places = arrays.empty(rows * count, "int64")
    machine.launch(machine.closed("lists"), "interleave", rows * count, [rows * count, rows, count, places])
    elements = take({"": below}, places, machine, missing=False)[""]
    return Vector(call.dtype, rows, NO_DATA, offsets=offsets, elements=elements)


def zipped_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return lists of structs, of the elements of lists that are as long as each other in each row."""
    lists = [gathered_lists(as_column(argument, rows, machine), machine) for argument in arguments]
    fields = tuple(decoded(each.elements, machine) for each in lists if each.elements is not None)
    structs = Vector(call.dtype.value_type, fields[0].rows, NO_DATA, fields=fields)
    return replace(lists[0], dtype=call.dtype, elements=structs)


def gathered_lists(lists: Vector, machine: Machine) -> Vector:
    """Return lists whose elements are all in a row: none before the first, behind the last, or in a null."""
    assert lists.elements is not None
    if lists.valid is None and lists.elements.rows == int(lists.required_offsets[-1]) - int(lists.required_offsets[0]):
        return lists
    rows = arrays_of_rows(lists, machine)
    return take({"": lists}, rows, machine)[""]


def arrays_of_rows(lists: Vector, machine: Machine) -> Array:
    """Return the number of each row (int32), -1 of a null."""
    rows = machine.arrays.empty(lists.rows, "int32")
    words = 0 if lists.valid is None else lists.valid
    machine.launch(machine.closed("lists"), "number_valid", lists.rows, [lists.rows, words, rows])
    return rows


def element_rows(lists: Vector, machine: Machine) -> Array:
    """Return the row (int32) of each element of lists whose elements are all in a row."""
    assert lists.elements is not None
    numbers = machine.arrays.empty(lists.elements.rows, "int32")
    arguments = [lists.elements.rows, lists.rows, lists.required_offsets, numbers]
    machine.launch(machine.closed("lists"), "element_rows", lists.elements.rows, arguments)
    return numbers


def element_order(lists: Vector, descending: bool, nulls_first: bool, machine: Machine) -> tuple[Array | None, Array]:
    """Return the elements (int32) in the order of each list, None where they are, and where values begin there."""
    assert lists.elements is not None
    elements = lists.elements
    rows = Vector(pa.int32(), elements.rows, element_rows(lists, machine))
    keys = [SortKey("row"), SortKey("value", descending, nulls_first)]
    order = sort_rows(Frame({"row": rows, "value": elements}, elements.rows), keys, 1, False, machine)
    return order.rows, order.new_value


def sorted_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return lists in order."""
    lists = gathered_lists(as_column(arguments[0], rows, machine), machine)
    assert lists.elements is not None
    if not lists.elements.rows:
        return lists
    order, _ = element_order(lists, *sort_order(call), machine)
    if order is None:
        return lists
    return replace(lists, elements=take({"": lists.elements}, order, machine, permuted=True)[""])


def graded_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return the places from 1 of the elements of lists in order."""
    lists = gathered_lists(as_column(arguments[0], rows, machine), machine)
    elements = lists.elements
    assert elements is not None
    places = machine.arrays.empty(elements.rows, "int64")
    given = [elements.rows, element_rows(lists, machine), lists.required_offsets, places]
    machine.launch(machine.closed("lists"), "element_places", elements.rows, given)
    found = Vector(INT64, elements.rows, places)
    order = element_order(lists, *sort_order(call), machine)[0] if elements.rows else None
    if order is not None:
        found = take({"": found}, order, machine, permuted=True)[""]
    return replace(lists, dtype=call.dtype, elements=found)


def distinct_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return the first of equal elements of each list, without nulls."""
    lists, places, offsets = first_elements(arguments, rows, machine)
    if places is None:
        return lists
    assert lists.elements is not None
    return replace(lists, offsets=offsets, elements=take({"": lists.elements}, places, machine, missing=False)[""])


def first_places_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return the places from 1 of the first of equal elements of each list, without nulls."""
    lists, kept, offsets = first_elements(arguments, rows, machine)
    assert lists.elements is not None
    places = machine.arrays.empty(lists.elements.rows, "int64")
    given = [lists.elements.rows, element_rows(lists, machine), lists.required_offsets, places]
    machine.launch(machine.closed("lists"), "element_places", lists.elements.rows, given)
    found = Vector(INT64, lists.elements.rows, places)
    if kept is None:
        return replace(lists, dtype=call.dtype, elements=found)
    elements = take({"": found}, kept, machine, missing=False)[""]
    return replace(lists, dtype=call.dtype, offsets=offsets, elements=elements)


def first_elements(arguments: Arguments, rows: int, machine: Machine) -> tuple[Vector, Array | None, Array | None]:
    """Return lists, the first of equal elements (int32) that are not null, and the offsets of lists of these.

    Lists without elements have neither.
    """
    lists = gathered_lists(as_column(arguments[0], rows, machine), machine)
    elements = lists.elements
    assert elements is not None
    if not elements.rows:
        return lists, None, None
    order, new_value = element_order(lists, False, False, machine)
    arrays, module = machine.arrays, machine.closed("lists")
    kept = arrays.zeros(elements.rows + 1, "int64")
    words = 0 if elements.valid is None else elements.valid
    arguments_of_marks = [elements.rows, 0 if order is None else order, new_value, words, kept[1:]]
    machine.launch(module, "mark_first_values", elements.rows, arguments_of_marks)
    before = scan(kept, machine)
    total, places = int(before[-1]), arrays.empty(int(before[-1]), "int32")
    offsets = arrays.empty(rows + 1, "int64")
    machine.launch(module, "place_kept", elements.rows, [elements.rows, before, places])
    machine.launch(module, "kept_offsets", rows + 1, [rows + 1, lists.required_offsets, before, offsets])
    return lists, places, list_offsets(offsets, total, machine)


def kind_of(call: Call, input_columns: Mapping[str, Kind]) -> Kind:
    """Return the kind of what these give."""
    first = input_columns[call.args[0].name] if isinstance(call.args[0], Column) else Kind.of(call.args[0].dtype)
    name = call.function.name
    if name in ("list_sort", "list_distinct"):
        return first
    if name == "struct_extract":
        field = call.args[1]
        assert isinstance(field, Literal)
        return first.fields[field_names(first.dtype).index(field.value)] if first.fields else Kind.of(call.dtype)
    return Kind.of(call.dtype)

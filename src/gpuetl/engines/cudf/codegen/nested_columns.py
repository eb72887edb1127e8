"""Columns of structs and maps: fields, structs made of columns, keys and values, and elements that are nested.

None of these computes anything: columns share memory, and elements are gathered.  Kernels see flat columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from gpuetl.engines.cudf.codegen.functions.nested import LIST_PLACE, LIST_PLACE_FROM_ONE, LIST_POSITION, LIST_TAKE
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.kind import Kind
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.columns.validity import null_where_any
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.types.data_types import INT64, NULL
from gpuetl.types.nested_types import field_names, is_nested

PLACES = {"list_get": LIST_PLACE, "list_extract": LIST_PLACE_FROM_ONE}

Arguments = Sequence[Vector | Literal]


def in_flat_parts(expr: Expr) -> Expr:
    """Return an expression in which maps are lists, and nested elements of lists are gathered by their places."""
    if not isinstance(expr, Call):
        return expr
    name, args = expr.function.name, expr.args
    if name in ("map_get", "struct_extract") and NULL in (arg.dtype for arg in args):
        return Literal(None, expr.dtype)
    if name == "map_get":
        m, key = args
        keys, values = (
            Call(FUNCTIONS["scalar", function], (m,), pa.list_(dtype))
            for function, dtype in (("map_keys", m.dtype.key_type), ("map_values", m.dtype.item_type))
        )
        place = Call(LIST_POSITION, (keys, key), INT64)
        return in_flat_parts(Call(FUNCTIONS["scalar", "list_get"], (values, place), expr.dtype))
    if name in PLACES and is_nested(expr.dtype) and is_nested(args[0].dtype):
        place = Call(PLACES[name], args, INT64)
        row = Call(FUNCTIONS["scalar", "coalesce"], (place, Literal(-1, INT64)), INT64)
        return Call(LIST_TAKE, (args[0], row), expr.dtype)
    return expr


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


def element_column(call: Call, arguments: Arguments, rows: int, machine: Machine) -> Vector:
    """Return nested elements of lists by their rows (int64), -1 where there is none."""
    lists, places = (as_column(argument, rows, machine) for argument in arguments)
    assert lists.elements is not None
    return take({"": lists.elements}, places.data, machine)[""]


def kind_of(call: Call, input_columns: Mapping[str, Kind]) -> Kind:
    """Return the kind of what these give."""
    first = input_columns[call.args[0].name] if isinstance(call.args[0], Column) else Kind.of(call.args[0].dtype)
    name = call.function.name
    if name == "struct_extract":
        field = call.args[1]
        assert isinstance(field, Literal)
        return first.fields[field_names(first.dtype).index(field.value)] if first.fields else Kind.of(call.dtype)
    return Kind.of(call.dtype)

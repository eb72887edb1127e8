"""Structs and maps, and where elements of lists lie: whole columns, in `codegen/nested_columns.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.functions.function import ENTRIES, Function, anything
from gpuetl.expressions.ir import Call, Literal
from gpuetl.types.data_types import INT64

Compute = Callable[[Call, Sequence[Vector | Literal], int, Machine], Vector]


def deferred(name: str) -> Compute:
    """Return a function of `nested_columns`, whose writers import this table."""

    def compute(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
        from gpuetl.engines.cudf.codegen import nested_columns

        found: Compute = getattr(nested_columns, name)
        return found(call, arguments, rows, machine)

    return compute


OWN_FUNCTIONS = tuple(
    Function(name, parameters, anything(INT64), what, "", None)
    for name, parameters, what in (
        ("list_index", "x value", "The place of the first element that equals a value, from 0; null without one."),
        ("list_place", "x index", "The row of `list_get`'s element among those of all lists; null without one."),
        ("list_place_from_one", "x index", "The row of `list_extract`'s element among those of all lists."),
        ("list_place_of_any", "x", "The row of `list_any_value`'s element among those of all lists."),
        ("list_take", "x place", "The element in a row among those of all lists; null where that is -1."),
    )
)
LIST_INDEX, LIST_PLACE, LIST_PLACE_FROM_ONE, LIST_PLACE_OF_ANY, LIST_TAKE = OWN_FUNCTIONS
MAP_UNION = Function(
    "map_union", "keys values other_keys other_values", anything(), "`map_concat` of two maps.", "", None, nulls="own"
)
"""Functions of this engine, of which others are made."""
OWN_FUNCTION_NAMES = frozenset(each.name for each in (*OWN_FUNCTIONS, MAP_UNION))
"""Their names."""
ENTRIES.update({(each.kind, each.name): each for each in (*OWN_FUNCTIONS, MAP_UNION)})

HEADER = "lists.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "struct_extract": Library(deferred("field_column")),
    "struct_pack": Library(deferred("struct_column")),
    "map_keys": Library(deferred("entry_column")),
    "map_values": Library(deferred("entry_column")),
    "map_get": Library(deferred("element_column")),
    "list_take": Library(deferred("element_column")),
    "list_index": Device("list_index", result_form="maybe"),
    "list_place": Device("list_place", result_form="maybe"),
    "list_place_from_one": Device("list_place_from_one", result_form="maybe"),
}
"""`map_get` is computed by others: see `in_flat_parts`."""

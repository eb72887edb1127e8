"""Structs and maps, and where elements of lists lie: whole columns, in `codegen/nested_columns.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Literal

Compute = Callable[[Call, Sequence[Vector | Literal], int, Machine], Vector]


def deferred(name: str) -> Compute:
    """Return a function of `nested_columns`, whose writers import this table."""

    def compute(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
        from gpuetl.engines.cudf.codegen import nested_columns

        found: Compute = getattr(nested_columns, name)
        return found(call, arguments, rows, machine)

    return compute


HEADER = "lists.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "struct_extract": Library(deferred("field_column")),
    "struct_pack": Library(deferred("struct_column")),
    "map_keys": Library(deferred("entry_column")),
    "map_values": Library(deferred("entry_column")),
    "map_get": Library(deferred("element_column")),
    "list_take": Library(deferred("element_column")),
    "list_position": Device("list_position", gives="maybe"),
    "list_place": Device("list_place", gives="maybe"),
    "list_place_from_one": Device("list_place_from_one", gives="maybe"),
}
"""`map_get` is computed by others: see `in_flat_parts`."""

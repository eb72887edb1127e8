"""Lists; CASE and coalesce of them are in `codegen/list_columns.py`."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Literal


def split(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Cut strings at every separator, by kernels whose writers import this table."""
    from gpuetl.engines.cudf.codegen.list_columns import listed_strings

    return listed_strings(call, arguments, rows, machine)


HEADER = "lists.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "list_length": Device("list_length"),
    "list_contains": Device("list_contains"),
    "list_get": Device("list_get", result_form="maybe"),
    "list_extract": Device("list_extract", result_form="maybe"),
    "list_position": Device("list_position", result_form="maybe"),
    "list_has_any": Device("list_has_any"),
    "list_has_all": Device("list_has_all"),
    "list_reduce": Library(split),
    "split": Library(split),
}
"""`list_reduce` is computed in rounds: `codegen/list_reductions.py`."""

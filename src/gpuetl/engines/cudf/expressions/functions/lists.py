"""Lists; CASE and coalesce of them are in `expressions/lists.py`."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.expressions.functions.device import Device, Library
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Call, Literal


def split(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Cut texts at every separator, by kernels whose writers import this table."""
    from gpuetl.engines.cudf.expressions.split import split_texts

    return split_texts(arguments, rows, machine)


HEADER = "lists.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "list_length": Device("list_length"),
    "list_contains": Device("list_contains"),
    "list_get": Device("list_get", gives="maybe"),
    "split": Library(split),
}

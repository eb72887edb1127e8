"""Statistics of lists: aggregates of elements, which `relational/list_statistics.py` computes and registers here."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.nested import Compute
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.functions.list_statistics import OF_AGGREGATES
from gpuetl.expressions.ir import Call, Literal

COMPUTED: dict[str, Compute] = {}
"""What computes each function; the operations that it takes stand above this package."""


def statistic(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Return the aggregate of the elements of each list."""
    return COMPUTED[call.function.name](call, arguments, rows, machine)


HEADER = "lists.cuh"
FUNCTIONS: dict[str, Device | Library] = dict.fromkeys(OF_AGGREGATES, Library(statistic))

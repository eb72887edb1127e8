"""The sorted rows that window functions see, and kernels over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuetl.engines.cudf.columns.validity import empty_bits
from gpuetl.engines.cudf.columns.written import empty_values
from gpuetl.engines.cudf.device.columns import buffers_of, column_parameters
from gpuetl.engines.cudf.device.headers import headers_text
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.steps import Fold, Output, PerRow
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

HEADERS = ("reductions.cuh", "decay.cuh", "frames.cuh")
MARKS = ["const uint8_t* groups", "const uint8_t* runs"]


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Rows in the order of (by, order_by): their columns, and marks (uint8) of where groups and runs of ties begin."""

    columns: Mapping[str, Vector]
    rows: int
    new_group: Array
    new_value: Array
    machine: Machine

    def read_by(self, steps: Iterable[Fold | PerRow | Output]) -> dict[str, Vector]:
        """Return the columns that some steps and outputs read."""
        return {name: self.columns[name] for step in steps for name in step.columns}

    def empty(self, dtype: DataType, bits: bool = False) -> Vector:
        """Return a column to be written, without validity words unless they are to be, too."""
        valid = empty_bits(self.rows, self.machine) if bits else None
        return Vector(dtype, self.rows, empty_values(dtype, self.rows, self.machine), valid)

    def arguments(self, columns: Mapping[str, Vector]) -> list[Any]:
        """Return the arguments that go with `parameters`."""
        return [self.new_group, self.new_value, *buffers_of(columns)]


def parameters(columns: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of the marks and of columns."""
    return [*MARKS, *column_parameters(columns)]


def headers() -> str:
    """Return the device code of windows."""
    return f"{headers_text(HEADERS)}using namespace windows;\n"

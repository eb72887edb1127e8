"""The pandas backend as executors see it; the operations' handlers are imported here, its table of contents."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.allocators import release_free_memory, returned_when_freed
from gpuetl.engines.capabilities import Device
from gpuetl.engines.interface import ALONE, Share
from gpuetl.engines.no_result import check_array
from gpuetl.engines.pandas.columns.column import take_rows
from gpuetl.engines.pandas.io.read import read_row_groups
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational import (
    aggregate,  # noqa: F401  it registers its handler, as do those below
    asof_join,  # noqa: F401
    condition_join,  # noqa: F401
    insert_rows,  # noqa: F401
    join,  # noqa: F401
    kernel,  # noqa: F401
    python_kernel,  # noqa: F401
    row_operations,  # noqa: F401
    vocabulary,  # noqa: F401
    window,  # noqa: F401
)
from gpuetl.engines.pandas.relational.exchange import split_by_hash, split_by_order
from gpuetl.engines.pandas.spilled_table import SpilledTable, spilled
from gpuetl.io.data_file import RowGroup
from gpuetl.io.spill_space import SpillSpace
from gpuetl.memory_limits import host_memory
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.places.target import Target
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.memory_meter import MemoryMeter, MemoryUse, ResidentMemory, resident_set
from gpuetl.telemetry.trace import Trace
from gpuetl.types.schema import Schema


class PandasBackend:
    """Frames are `pyarrow.Table`s with the columns and types of the node that made them."""

    name = "pandas"
    device: Device = "CPU"

    def device_of(self, operation: Node) -> Device:
        """Run everything on the CPU."""
        return "CPU"

    def compile_ahead(self, physical: PhysicalPlan, plan: str, share: Share = ALONE) -> None:
        """Nothing is compiled."""

    def read(self, read: Read, groups: Sequence[RowGroup]) -> pa.Table:
        """Read the row groups, in order."""
        return read_row_groups(read, groups)

    def run(self, operation: Node, *frames: pa.Table) -> pa.Table:
        """Run one operation and check that the columns are those that the plan promised."""
        frame = run_operation(operation, *frames)
        expected = operation.schema.to_arrow()
        if not frame.schema.equals(expected):
            raise TypeError(f"{operation.describe()} gave {frame.schema}, planned was {expected}")
        return frame

    def split_by_hash(self, frame: pa.Table, keys: Sequence[str], count: int) -> list[pa.Table]:
        """Split rows by a hash of the keys that is the same in every process; rows keep their order."""
        return split_by_hash(frame, keys, count)

    def split_by_order(
        self, frame: pa.Table, by: Sequence[SortKey], before: pa.Table, after: pa.Table
    ) -> list[pa.Table]:
        """Sort rows stably, and cut before each boundary."""
        return split_by_order(frame, by, before, after)

    def take(self, frame: pa.Table, columns: Iterable[str], rows: NDArray[np.int64]) -> pa.Table:
        """Return some columns of the rows of these numbers."""
        return take_rows(frame.select(list(columns)), rows)

    def concat(self, frames: Sequence[pa.Table], schema: Schema) -> pa.Table:
        """Put frames below each other."""
        return pa.concat_tables(frames) if frames else schema.to_arrow().empty_table()

    def rows(self, frame: pa.Table) -> int:
        """Return the number of rows."""
        return int(frame.num_rows)

    def nbytes(self, frame: pa.Table, columns: Iterable[str]) -> int:
        """Return the bytes of columns, of slices what lies in them."""
        return int(frame.select(list(columns)).nbytes)

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Have what is freed go back to the system: NumPy and Arrow ask it, and the executor watches the limit."""
        return returned_when_freed()

    def thread_setup(self) -> Callable[[], None]:
        """Threads need nothing."""
        return nothing

    def spill(self, frame: pa.Table, space: SpillSpace) -> SpilledTable:
        """Write a table to a file, from which it is mapped."""
        return spilled(frame, space)

    def release(self) -> None:
        """Collect garbage, and give back what Arrow's pool keeps."""
        gc.collect()
        release_free_memory()

    def count_memory(self) -> None:
        """The system counts."""

    def memory_use(self) -> MemoryUse:
        """Return what the process has, and what it could have beside all others."""
        in_use = resident_set()
        return MemoryUse(in_use, in_use + host_memory().available)

    def traced(self, trace: Trace, timed: bool) -> PandasBackend:
        """Return the backend: there is no device."""
        return self

    def memory_meter(self) -> AbstractContextManager[MemoryMeter]:
        """Measure the process: NumPy's arrays are not in Arrow's pool."""
        return nullcontext(ResidentMemory())

    def to_arrow(self, frame: pa.Table) -> pa.Table:
        """Return the frame as it is."""
        return frame

    def head(self, frame: pa.Table, count: int) -> pa.Table:
        """Copy the first rows: a slice would hold the whole table in memory."""
        return frame.take(pa.array(range(min(count, frame.num_rows)), pa.int64()))

    def small_table(self, frame: pa.Table) -> None:
        """Return none: to copy the first rows costs less, and `to_arrow` nothing."""

    def file_writer(self, target: Target, schema: Schema) -> None:
        """Leave it to Arrow."""

    def from_arrow(self, table: pa.Table) -> pa.Table:
        """Return the table as it is."""
        return table

    def to_arrays(self, frame: pa.Table, columns: Sequence[str] | None = None) -> dict[str, np.ndarray[Any, Any]]:
        """Return columns as NumPy arrays, read-only and without a copy where they are in one piece."""
        frame = frame if columns is None else frame.select(list(columns))
        for field, column in zip(frame.schema, frame.columns, strict=True):
            check_array(field.name, field.type, column.null_count)
        return {field.name: frame.column(field.name).to_numpy() for field in frame.schema}

    def to_cudf(self, frame: pa.Table) -> None:
        """Return none: the frame is in host memory."""


def nothing() -> None:
    """Do nothing."""

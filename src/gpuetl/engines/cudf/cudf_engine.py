"""The cudf backend as executors see it; the operations' handlers are imported here, its table of contents."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.capabilities import Device
from gpuetl.engines.cudf import handlers  # noqa: F401  each operation's registers
from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame, check_rows
from gpuetl.engines.cudf.columns.gather import first_rows, take_rows
from gpuetl.engines.cudf.columns.interchange import from_arrow, is_small, to_table
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.io.parquet_writer import WRITERS
from gpuetl.engines.cudf.io.read import device_of, read_row_groups
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational.exchange import split_by_hash, split_by_order
from gpuetl.engines.cudf.runtime.spilled_frame import SpilledFrame, spilled
from gpuetl.engines.cudf.runtime.traced_machine import traced_machine
from gpuetl.engines.interface import ALONE, EngineBackend, Share
from gpuetl.engines.no_result import check_array
from gpuetl.formats.registry import format_named
from gpuetl.io.data_file import RowGroup
from gpuetl.io.spill_space import SpillSpace
from gpuetl.io.staging import FileWriter
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.places.target import Target
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import PythonKernel, Read
from gpuetl.telemetry.memory_meter import MemoryMeter, MemoryUse
from gpuetl.telemetry.trace import Trace
from gpuetl.types.data_types import BOOL
from gpuetl.types.schema import Schema


class CudfBackend(EngineBackend[Frame]):
    """Frames are `Frame`s in device memory, with the columns and types of the node that made them."""

    name = "cudf"
    device: Device = "GPU"

    def __init__(self, machine: Machine | None = None) -> None:
        if machine is None:
            from gpuetl.engines.cudf.runtime.gpu_machine import machine as gpu

            machine = gpu()
        self.machine = machine

    def device_of(self, operation: Node) -> Device:
        """Run everything on the GPU, but for formats without a reader there, and functions over frames of the host."""
        if isinstance(operation, PythonKernel) and not operation.on_device:
            return "CPU"
        return device_of(operation.dataset) if isinstance(operation, Read) else "GPU"

    def compile_ahead(self, physical: PhysicalPlan, plan: str, share: Share = ALONE) -> None:
        """List the plan's programs on a thread, and compile them on others, unless an earlier process did."""
        if chosen("compile_ahead") and self.machine.begin_plan(plan):
            from gpuetl.engines.cudf.programs.plan_listing import expect_programs

            expect_programs(physical, plan, self.machine, share)

    def read(self, read: Read, groups: Sequence[RowGroup]) -> Frame:
        """Read the row groups, in order."""
        with self.machine.stage(f"{read.origin}: read", "reading"):
            return read_row_groups(read, groups, self.machine)

    def run(self, operation: Node, *frames: Frame) -> Frame:
        """Run one operation and check that the columns are those that the plan promised."""
        with self.machine.stage(f"{operation.origin}: {type(operation).__name__}"):
            frame = run_operation(operation, self.machine, *frames)
        got = {name: vector.dtype for name, vector in frame.columns.items()}
        if got != dict(operation.schema) or list(got) != list(operation.schema):
            raise TypeError(f"{operation.describe()} gave {got}, planned was {dict(operation.schema)}")
        return frame

    def split_by_hash(self, frame: Frame, keys: Sequence[str], count: int) -> list[Frame]:
        """Split rows by the language's own hash of the keys; rows keep their order."""
        with self.machine.stage("split by hash"):
            return split_by_hash(frame, keys, count, self.machine)

    def split_by_order(self, frame: Frame, by: Sequence[SortKey], before: Frame, after: Frame) -> list[Frame]:
        """Sort rows stably, and cut before each boundary."""
        with self.machine.stage("split by order"):
            return split_by_order(frame, by, before, after, self.machine)

    def take(self, frame: Frame, columns: Iterable[str], rows: NDArray[np.int64]) -> Frame:
        """Return some columns of the rows of these numbers."""
        with self.machine.stage("take"):
            return take_rows(frame.select(tuple(columns)), self.machine.arrays.asarray(rows), self.machine)

    def concat(self, frames: Sequence[Frame], schema: Schema) -> Frame:
        """Put frames below each other."""
        with self.machine.stage("concat"):
            return concat(frames, schema, self.machine)

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""
        return frame.rows

    def nbytes(self, frame: Frame, columns: Iterable[str]) -> int:
        """Return the bytes of columns."""
        names = tuple(columns)
        return frame.nbytes if len(names) == len(frame.columns) else frame.select(names).nbytes

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Limit the machine's."""
        return self.machine.limited(memory)

    def thread_setup(self) -> Callable[[], None]:
        """Return what binds a thread to the device."""
        return self.machine.thread_setup()

    def spill(self, frame: Frame, space: SpillSpace) -> SpilledFrame:
        """Copy a frame to host memory, or to a file that is mapped."""
        with self.machine.stage("spill"):
            return spilled(frame, space, self.machine)

    def release(self) -> None:
        """Collect garbage, and let the device finish with what it holds."""
        gc.collect()
        self.machine.release()

    def count_memory(self) -> None:
        """Let the machine count."""
        self.machine.count_memory()

    def memory_use(self) -> MemoryUse:
        """Ask the machine."""
        return self.machine.memory_use()

    def traced(self, trace: Trace, timed: bool) -> CudfBackend:
        """Return the backend with a machine that is traced."""
        return type(self)(traced_machine(self.machine, trace, timed))

    def memory_meter(self) -> AbstractContextManager[MemoryMeter]:
        """Measure the machine's."""
        return self.machine.memory_meter()

    def to_arrow(self, frame: Frame) -> pa.Table:
        """Copy the frame to host memory."""
        with self.machine.stage("to Arrow"):
            return to_table(frame, self.machine)

    def head(self, frame: Frame, count: int) -> pa.Table:
        """Copy the first rows to host memory."""
        with self.machine.stage("head"):
            return to_table(first_rows(frame, count, self.machine), self.machine)

    def small_table(self, frame: Frame) -> pa.Table | None:
        """Copy a small frame to host memory in one copy."""
        return self.to_arrow(frame) if is_small(frame) else None

    def file_writer(self, target: Target, schema: Schema) -> FileWriter | None:
        """Encode large files of some formats on the GPU; small ones, other formats and types go by Arrow."""
        make = WRITERS.get(type(format_named(target.format)))
        return make(target, schema, self.machine) if make and chosen("encode_on_gpu") else None

    def from_arrow(self, table: pa.Table) -> Frame:
        """Copy a table of language types to device memory; raise `EvaluationError` where it has too many rows."""
        check_rows(table.num_rows)
        columns = zip(table.column_names, table.columns, strict=True)
        with self.machine.stage("from Arrow"):
            return Frame({name: from_arrow(column, self.machine) for name, column in columns}, table.num_rows)

    def to_arrays(self, frame: Frame, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """Return columns as they lie in device memory."""
        frame = frame if columns is None else frame.select(tuple(columns))
        for name, vector in frame.columns.items():
            check_array(name, vector.dtype, vector.nulls)
        return {n: v.data.view("bool") if v.dtype == BOOL else v.data for n, v in frame.columns.items()}

    def to_cudf(self, frame: Frame) -> Any:
        """Return a cuDF frame on the frame's memory; None of one with columns that cuDF has to take from Arrow."""
        from gpuetl.engines.cudf.runtime.dataframes import is_shared, to_dataframe

        return to_dataframe(frame) if all(is_shared(vector.dtype) for vector in frame.columns.values()) else None

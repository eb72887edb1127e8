"""Operations that an engine refuses, run on the pandas engine between two of the engine's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.interface import ALONE, Backend, Device, Frame, Share, Spilled
from gpuetl.errors import InvalidPipeline, Problem
from gpuetl.io.data_file import RowGroup
from gpuetl.io.spill_space import SpillSpace
from gpuetl.io.staging import FileWriter
from gpuetl.io.target import Target
from gpuetl.messages import coded
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Map, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.memory_meter import MemoryMeter, MemoryUse
from gpuetl.telemetry.recorder import note
from gpuetl.telemetry.trace import Trace
from gpuetl.types.schema import Schema


class FallbackBackend:
    """A backend whose refused operations another one runs; frames are handed over as Arrow tables."""

    def __init__(self, backend: Backend, aside: Backend) -> None:
        self.backend, self.aside, self.name = backend, aside, backend.name
        self.device = backend.device

    def refuses(self, operation: Node) -> str:
        """Refuse nothing."""
        return ""

    def device_of(self, operation: Node) -> Device:
        """Return where the backend runs that takes the operation."""
        return (self.aside if self.backend.refuses(operation) else self.backend).device_of(operation)

    def compile_ahead(self, physical: PhysicalPlan, plan: str, share: Share = ALONE) -> None:
        """Let the engine compile for all of it, also for what runs elsewhere."""
        self.backend.compile_ahead(physical, plan, share)

    def read(self, read: Read, groups: Sequence[RowGroup]) -> Frame:
        """Read by the backend that takes it."""
        if not self._falls_back(read):
            return self.backend.read(read, groups)
        return self.backend.from_arrow(self.aside.to_arrow(self.aside.read(read, groups)))

    def run(self, operation: Node, *frames: Frame) -> Frame:
        """Run one operation on the backend that takes it."""
        if not self._falls_back(operation):
            return self.backend.run(operation, *frames)
        given = (self.aside.from_arrow(self.backend.to_arrow(frame)) for frame in frames)
        return self.backend.from_arrow(self.aside.to_arrow(self.aside.run(operation, *given)))

    def _falls_back(self, operation: Node) -> bool:
        reason = self.backend.refuses(operation)
        if reason:
            note(f"{operation.origin}: {type(operation).__name__} ran on {self.aside.name}: {reason}")
        return bool(reason)

    def split_by_hash(self, frame: Frame, keys: Sequence[str], count: int) -> list[Frame]:
        """Split rows on the engine."""
        return self.backend.split_by_hash(frame, keys, count)

    def split_by_order(self, frame: Frame, by: Sequence[SortKey], before: Frame, after: Frame) -> list[Frame]:
        """Sort and split rows on the engine."""
        return self.backend.split_by_order(frame, by, before, after)

    def take(self, frame: Frame, columns: Iterable[str], rows: NDArray[np.int64]) -> Frame:
        """Return rows on the engine."""
        return self.backend.take(frame, columns, rows)

    def concat(self, frames: Sequence[Frame], schema: Schema) -> Frame:
        """Put frames below each other on the engine."""
        return self.backend.concat(frames, schema)

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""
        return self.backend.rows(frame)

    def nbytes(self, frame: Frame, columns: Iterable[str]) -> int:
        """Return the bytes of columns on the engine."""
        return self.backend.nbytes(frame, columns)

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Limit the engine's memory."""
        return self.backend.limited(memory)

    def thread_setup(self) -> Callable[[], None]:
        """Return what the engine needs; the other backend is not on a device."""
        return self.backend.thread_setup()

    def spill(self, frame: Frame, space: SpillSpace) -> Spilled:
        """Copy a frame out of the engine's memory."""
        return self.backend.spill(frame, space)

    def release(self) -> None:
        """Give back what neither uses."""
        self.aside.release()
        self.backend.release()

    def count_memory(self) -> None:
        """Count the engine's."""
        self.backend.count_memory()

    def memory_use(self) -> MemoryUse:
        """Return the engine's, where the frames are."""
        return self.backend.memory_use()

    def traced(self, trace: Trace, timed: bool) -> Backend:
        """Trace both."""
        return FallbackBackend(self.backend.traced(trace, timed), self.aside.traced(trace, timed))

    def memory_meter(self) -> AbstractContextManager[MemoryMeter]:
        """Measure the engine's memory, where the frames are; that of the other backend is not the engine's."""
        return self.backend.memory_meter()

    def head(self, frame: Frame, count: int) -> Any:
        """Return the first rows as a `pyarrow.Table`."""
        return self.backend.head(frame, count)

    def small_table(self, frame: Frame) -> Any:
        """Ask the engine."""
        return self.backend.small_table(frame)

    def file_writer(self, target: Target, schema: Schema) -> FileWriter | None:
        """Return what writes the engine's frames."""
        return self.backend.file_writer(target, schema)

    def to_arrow(self, frame: Frame) -> Any:
        """Return the frame as a `pyarrow.Table`."""
        return self.backend.to_arrow(frame)

    def from_arrow(self, table: Any) -> Frame:
        """Return a table as a frame."""
        return self.backend.from_arrow(table)

    def to_arrays(self, frame: Frame) -> dict[str, Any]:
        """Return the columns as arrays."""
        return self.backend.to_arrays(frame)


def check_refusals(backend: Backend, roots: Iterable[Physical]) -> None:
    """Raise `InvalidPipeline` with each operation that the backend refuses, and why."""
    hint = "Run with --fallback, which runs it on pandas and says so, or with --engine pandas."
    problems = {
        (
            str(operation.origin),
            coded("GE3001", f"{type(operation).__name__} cannot run on engine '{backend.name}': {reason}"),
        )
        for operation in map(operation_of, walk_graph(*roots))
        if operation is not None and (reason := backend.refuses(operation))
    }
    if problems:
        raise InvalidPipeline([Problem(message, hint, within=within) for within, message in sorted(problems)])


def operation_of(node: Physical) -> Node | None:
    """Return what a backend is asked to run for a physical node, if anything."""
    return node.operation if isinstance(node, Map) else node.read if isinstance(node, Scan) else None

"""A machine that writes what it is asked to do into a trace."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.codegen.device_headers import closed_source
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, CompressedChunks, Compressor, Machine, Module
from gpuetl.places.paths import FilePath
from gpuetl.telemetry.trace import Event, Trace, thread_track
from gpuetl.types.data_types import DataType
from gpuetl.user_kernels.triton_kernel import TritonKernel

ENTRY = re.compile(r"^KERNEL (\w+)", re.MULTILINE)
DEVICE = "device"


def traced_machine(machine: Machine, trace: Trace, timed: bool) -> Machine:
    """Return the machine, traced; `timed` also puts on a track of the device when it worked, which costs events."""
    return cast(Machine, TracedMachine(machine, trace, timed))


class TracedMachine:
    """Kernels of the engine and of users, and calls of libcudf; copies between arrays are not seen."""

    def __init__(self, machine: Machine, trace: Trace, timed: bool) -> None:
        self.machine, self.trace, self.timed = machine, trace, timed
        self.first = (machine.record_event(), time.perf_counter())
        self.loaded: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        """Return what is not traced."""
        return getattr(self.machine, name)

    @contextmanager
    def launched(self, name: str, category: str, **details: Any) -> Iterator[None]:
        """Trace a call, and what the device does for it."""
        start = self.machine.record_event() if self.timed else None
        with self.trace.span(name, category, **details):
            yield
        if self.timed:
            end, track = self.machine.record_event(), device_track()
            self.trace.later.append(lambda: self.on_device(track, name, category, start, end, details))

    def on_device(self, track: str, name: str, category: str, start: Any, end: Any, details: dict[str, Any]) -> Event:
        """Return what happened between two moments, on the host's clock."""
        first, at = self.first
        begun = at + self.machine.seconds_between(first, start)
        return Event(name, category, track, begun, self.machine.seconds_between(start, end), details)

    @contextmanager
    def loading(self, source: str, names: str) -> Iterator[None]:
        """Trace a text's first use in the run; where a span `compile` is inside, it was not in the cache."""
        if source in self.loaded:
            yield
            return
        self.loaded.add(source)
        with self.trace.span(f"load {names}", "load", characters=len(source)):
            yield

    def compiled(self, source: str) -> Module:
        """Trace the loading."""
        with self.loading(source, entries(source)):
            return self.machine.compiled(source)

    def closed(self, program: str) -> Module:
        """Trace the loading."""
        with self.loading(closed_source(program), program):
            return self.machine.closed(program)

    def user_module(self, source: str, kernel: str) -> Module:
        """Trace the loading."""
        with self.loading(source, kernel):
            return self.machine.user_module(source, kernel)

    def launch(self, module: Module, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Trace a launch."""
        with self.launched(entry, "kernel", rows=rows):
            self.machine.launch(module, entry, rows, arguments)

    def launch_blocks(self, module: Module, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Trace a launch."""
        with self.launched(entry, "kernel", blocks=blocks, threads=threads):
            self.machine.launch_blocks(module, entry, blocks, threads, arguments)

    def user_kernel(self, source: str, path: FilePath, entry: str) -> Callable[[int, int, Sequence[Any], int], None]:
        """Trace the loading, and each launch."""
        with self.loading(source, entry):
            kernel = self.machine.user_kernel(source, path, entry)

        def launch(blocks: int, threads: int, arguments: Sequence[Any], shared_bytes: int) -> None:
            with self.launched(entry, "kernel", blocks=blocks, threads=threads):
                kernel(blocks, threads, arguments, shared_bytes)

        return launch

    def triton_kernel(
        self, kernel: TritonKernel, types: Sequence[str], block: int
    ) -> Callable[[int, Sequence[Any]], None]:
        """Trace the loading, and each launch."""
        with self.loading(f"{kernel.source}{types}{block}", kernel.entry):
            run = self.machine.triton_kernel(kernel, types, block)

        def launch(blocks: int, arguments: Sequence[Any]) -> None:
            with self.launched(kernel.entry, "kernel", blocks=blocks, block=block):
                run(blocks, arguments)

        return launch

    def host(self, array: Array) -> Any:
        """Trace a copy to the host, which waits for the device."""
        with self.launched("copy to host", "copy", bytes=int(array.nbytes)):
            return self.machine.host(array)

    def to_host(self, arrays: Sequence[Array], memory: NDArray[Any]) -> None:
        """Trace a copy to the host by threads."""
        with self.launched("copy to host", "copy", bytes=len(memory)):
            self.machine.to_host(arrays, memory)

    def sorted_order(self, packed_keys: Sequence[Array]) -> Array:
        """Trace a sort."""
        with self.launched("sort", "libcudf", words=len(packed_keys), rows=len(packed_keys[0])):
            return self.machine.sorted_order(packed_keys)

    def string_ranks(self, strings: Vector) -> Array:
        """Trace the numbering of strings."""
        with self.launched("number strings", "libcudf", rows=strings.rows):
            return self.machine.string_ranks(strings)

    def read_parquet(
        self, files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType], fields: Container[str] = ()
    ) -> dict[str, Vector]:
        """Trace the reading of files."""
        groups = sum(map(len, files.values()))
        with self.launched(f"read {len(files)} files", "libcudf", row_groups=groups, columns=len(types)):
            return self.machine.read_parquet(files, types, fields)

    def read_orc(self, path: Path, stripes: Sequence[int], types: Mapping[str, DataType]) -> dict[str, Vector]:
        """Trace the reading of a file."""
        with self.launched("read 1 file", "libcudf", stripes=len(stripes), columns=len(types)):
            return self.machine.read_orc(path, stripes, types)

    def compressor(self, codec: str) -> Compressor | None:
        """Trace what compresses."""
        found = self.machine.compressor(codec)
        return TracedCompressor(found, codec, self) if found else None


class TracedCompressor:
    """A codec, whose calls are traced."""

    def __init__(self, compressor: Compressor, codec: str, machine: TracedMachine) -> None:
        self.compressor, self.codec, self.machine = compressor, codec, machine
        self.most_bytes = compressor.most_bytes

    def begin(self, data: Array, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> CompressedChunks:
        """Trace a call."""
        with self.machine.launched(f"compress by {self.codec}", "nvCOMP", chunks=len(sizes), bytes=int(np.sum(sizes))):
            return self.compressor.begin(data, starts, sizes)


def device_track() -> str:
    """Return the track of what the thread that runs asks of the device: what two threads ask for may overlap."""
    thread = thread_track()
    return DEVICE if thread == "run" else f"{DEVICE}, {thread}"


def entries(source: str) -> str:
    """Return the names of the kernels of a text."""
    return ", ".join(ENTRY.findall(source))

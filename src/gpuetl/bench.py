"""What each link of this machine carries, measured: `gpuetl bench device`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational import window  # noqa: F401  it registers its handler
from gpuetl.engines.cudf.runtime.start import KVIKIO_THREADS
from gpuetl.engines.measured_limits import machine_name, save_limits
from gpuetl.expressions.build import col
from gpuetl.pipeline import Pipeline
from gpuetl.plan.nodes import Window
from gpuetl.telemetry.hardware_limits import HardwareLimits, LinkLimit, best_seconds
from gpuetl.threads import thread_count

# What the host can carry: copies in memory, files in the page cache, by one and by many threads.


HOST_BYTES = 1 << 30
FILE_THREADS = (1, 4, 8, 16)
HOST_CHUNK_BYTES = 16 << 20

Piece = Any
"""A part of an array of bytes."""


def host_limits(folder: Path, size: int = HOST_BYTES) -> Iterator[LinkLimit]:
    """Measure copies of `size` bytes, and files of as many bytes in all below `folder`, which are removed again.

    Raises
    ------
    OSError
        Where the folder cannot be written, or has no room.
    """
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    for threads in sorted({1, thread_count()}):
        seconds = timed_on(threads, lambda piece: np.copyto(target[piece], source[piece]), size)
        yield LinkLimit("host memory", threads_text(threads), 2 * size, seconds)
    with TemporaryDirectory(dir=folder, prefix="gpuetl-bench-") as folder_name:
        for threads in FILE_THREADS:
            yield LinkLimit("host to file", threads_text(threads), size, written(Path(folder_name), threads, source))
        for threads in FILE_THREADS:  # each reads all pieces of the last way to write, which are in the page cache
            yield LinkLimit("file to host", threads_text(threads), size, read(Path(folder_name), threads, target))


def timed_on(
    threads: int, work: Callable[[slice], object], size: int, prepare: Callable[[], object] = lambda: None
) -> float:
    """Return the seconds that threads take for a number of bytes, one piece per thread."""
    pieces = slices(size, threads)
    with ThreadPoolExecutor(threads) as pool:
        return best_seconds(lambda: list(pool.map(work, pieces)), prepare)


def slices(size: int, count: int) -> Sequence[slice]:
    """Cut a number of bytes into about equal pieces."""
    bounds = [size * place // count for place in range(count + 1)]
    return [slice(*pair) for pair in pairwise(bounds)]


def written(folder: Path, threads: int, source: Piece) -> float:
    """Return the seconds in which fresh files are written, one a thread; they stay."""

    def write(piece: slice) -> None:
        with file_of(folder, piece).open("xb", buffering=0) as file:
            for start in range(piece.start, piece.stop, HOST_CHUNK_BYTES):
                file.write(source[start : min(start + HOST_CHUNK_BYTES, piece.stop)])

    def clear() -> None:
        for path in folder.iterdir():
            path.unlink()

    return timed_on(threads, write, len(source), clear)


def read(folder: Path, threads: int, target: Piece, files: int = FILE_THREADS[-1]) -> float:
    """Return the seconds in which threads read the folder's files; as many threads have written them."""
    pieces = slices(len(target), files)

    def read_some(numbers: slice) -> None:
        for piece in pieces[numbers]:
            with file_of(folder, piece).open("rb", buffering=0) as file:
                view = memoryview(target[piece])
                done = 0
                while done < len(view):
                    done += file.readinto(view[done : done + HOST_CHUNK_BYTES])

    return timed_on(threads, read_some, len(pieces))


def file_of(folder: Path, piece: slice) -> Path:
    """Return the file of a piece."""
    return folder / f"{piece.start}"


def threads_text(count: int) -> str:
    """Return a number of threads in words."""
    return "1 thread" if count == 1 else f"{count} threads"


# What the device's memory can carry, by plain passes over it and by the engine's own kernels.


DEVICE_BYTES = 1 << 30
SHARE = 16
"""An array takes no more than this part of the memory."""
CALLS = 10
"""How many calls are waited for at once: waiting takes as long as a pass over some megabytes."""
GROUP_ROWS = 100


def memory_limits(machine: Machine, size: int = DEVICE_BYTES) -> Iterator[LinkLimit]:
    """Measure passes over arrays of `size` bytes, or of less where the memory is small."""
    arrays: Any = machine.arrays  # all of CuPy or NumPy
    rows = min(size, machine.memory // SHARE) // 8
    x, y, z = (arrays.ones(rows, "float64") for _ in range(3))

    def measured(way: str, columns: int, work: Callable[[], object]) -> LinkLimit:
        return LinkLimit("device memory", way, columns * 8 * rows, device_seconds(machine, work))

    yield measured("copy", 2, lambda: arrays.copyto(y, x))
    yield measured("vector add", 3, lambda: arrays.add(x, y, out=z))
    yield measured("reduction", 1, x.sum)
    module = machine.closed("stencil")
    yield measured("stencil", 2, lambda: machine.launch(module, "stencil", rows, [rows, x, y]))
    cumulative, frame = running_sum(), in_groups(x, machine)
    yield measured("segmented scan", 4, lambda: run_operation(cumulative, machine, frame))


def device_seconds(machine: Machine, work: Callable[[], object]) -> float:
    """Return the seconds of a call, on the device."""

    def calls() -> None:
        with machine.stage("bench"):
            for _ in range(CALLS):
                work()

    return best_seconds(calls) / CALLS


def running_sum() -> Window:
    """Return a window step over rows that are in order: it reads two keys and a value, and writes one."""
    types = {"key": pa.int64(), "place": pa.int64(), "value": pa.float64()}
    pipeline = Pipeline("bench")
    rows = pipeline.from_frame("rows", pa.schema(types).empty_table())
    rows.window(by="key", order_by="place", total=col("value").cum_sum()).stage("result")
    node: Any = pipeline.plan().stages["result"]
    while not isinstance(node, Window):
        (node,) = node.inputs
    return replace(node, presorted=True)


def in_groups(values: Any, machine: Machine) -> Frame:
    """Return the frame that `running_sum` takes."""
    rows = len(values)
    arrays: Any = machine.arrays
    place = arrays.arange(rows, dtype="int64")
    columns = {"key": (pa.int64(), place // GROUP_ROWS), "place": (pa.int64(), place), "value": (pa.float64(), values)}
    return Frame({name: Vector(dtype, rows, data) for name, (dtype, data) in columns.items()}, rows)


# What the links between host, files and device can carry: measured where there is a GPU.


TRANSFER_BYTES = 1 << 30
TRANSFER_CHUNK_BYTES = 8 << 20


def copy_limits(machine: Machine, size: int = TRANSFER_BYTES) -> Iterator[LinkLimit]:
    """Measure copies between device memory and host memory that is pinned, or is not."""
    cupy: Any = machine.arrays
    pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.uint8, size)
    device = cupy.empty(size, "uint8")

    def seconds(copy: Callable[[], object]) -> float:
        def waited() -> None:
            with machine.stage("bench"):  # copies from pinned memory return before they are done
                copy()

        return best_seconds(waited)

    for way, host in (("pinned", pinned), ("pageable", np.ones(size, np.uint8))):
        yield LinkLimit("host to device", way, size, seconds(partial(device.set, host)))
        yield LinkLimit("device to host", way, size, seconds(partial(device.get, out=host)))


def file_limit(machine: Machine, folder: Path, size: int = TRANSFER_BYTES) -> LinkLimit:
    """Measure how KvikIO brings a file from the page cache to the device, with the engine's number of threads."""
    with TemporaryDirectory(dir=folder, prefix="gpuetl-bench-") as folder_name:
        path = Path(folder_name) / "file"
        np.ones(size, np.uint8).tofile(path)
        return LinkLimit("file to device", threads_text(int(KVIKIO_THREADS)), size, file_seconds(machine, path, size))


def file_seconds(machine: Machine, path: Path, size: int) -> float:
    """Return the seconds in which libcudf brings a file into device memory, a range as large as a column chunk each."""
    from pylibcudf.io import parquet_io_utils
    from pylibcudf.io.text import ByteRangeInfo
    from pylibcudf.io.types import SourceInfo

    ranges = [
        ByteRangeInfo(start, min(TRANSFER_CHUNK_BYTES, size - start)) for start in range(0, size, TRANSFER_CHUNK_BYTES)
    ]

    def fetch() -> Any:
        with machine.stage("bench"):
            policy = parquet_io_utils.IOSubmissionPolicy.INTERLEAVE
            cupy: Any = machine.arrays
            stream = cupy.cuda.get_current_stream()
            return parquet_io_utils.fetch_byte_ranges_to_device(SourceInfo([str(path)]), ranges, policy, stream)

    return best_seconds(fetch)


# Measures this machine: the host's part, and the GPU's where there is one.


def measure(folder: Path, gpu: bool, size: int = HOST_BYTES) -> HardwareLimits:
    """Measure this machine's links, with files below `folder`, and keep what was found.

    Raises
    ------
    OSError
        Where the folder or the cache cannot be written.
    """
    host = HardwareLimits(machine_name("CPU"), tuple(host_limits(folder, size)))
    save_limits(host)  # what runs on the pandas engine look for
    if not gpu:
        return host
    found = HardwareLimits(machine_name("GPU"), (*host.measured, *gpu_limits(folder)))
    save_limits(found)
    return found


def gpu_limits(folder: Path) -> Iterator[LinkLimit]:
    """Measure what the GPU is part of."""
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    yield from copy_limits(machine())
    yield file_limit(machine(), folder)
    yield from memory_limits(machine())

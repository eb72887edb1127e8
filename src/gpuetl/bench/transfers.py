"""What the links between host, files and device can carry: measured where there is a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gpuetl.bench.host import threads_text
from gpuetl.engines.cudf.gpu.settings import KVIKIO_THREADS
from gpuetl.engines.cudf.machine import Machine
from gpuetl.telemetry.hardware_limits import Ceiling, best_seconds

TRANSFER_BYTES = 1 << 30
CHUNK_BYTES = 8 << 20


def copy_ceilings(machine: Machine, size: int = TRANSFER_BYTES) -> Iterator[Ceiling]:
    """Measure copies between device memory and host memory that is pinned, or is not."""
    cupy = machine.arrays
    pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.uint8, size)
    device = cupy.empty(size, "uint8")

    def seconds(copy: Callable[[], object]) -> float:
        def waited() -> None:
            with machine.stage("bench"):  # copies from pinned memory return before they are done
                copy()

        return best_seconds(waited)

    for way, host in (("pinned", pinned), ("pageable", np.ones(size, np.uint8))):
        yield Ceiling("host to device", way, size, seconds(partial(device.set, host)))
        yield Ceiling("device to host", way, size, seconds(partial(device.get, out=host)))


def file_ceiling(machine: Machine, folder: Path, size: int = TRANSFER_BYTES) -> Ceiling:
    """Measure how KvikIO brings a file from the page cache to the device, with the engine's number of threads."""
    with TemporaryDirectory(dir=folder, prefix="gpuetl-bench-") as made:
        path = Path(made) / "file"
        np.ones(size, np.uint8).tofile(path)
        return Ceiling("file to device", threads_text(int(KVIKIO_THREADS)), size, file_seconds(machine, path, size))


def file_seconds(machine: Machine, path: Path, size: int) -> float:
    """Return the seconds in which libcudf brings a file into device memory, a range as large as a column chunk each."""
    from pylibcudf.io import parquet_io_utils
    from pylibcudf.io.text import ByteRangeInfo
    from pylibcudf.io.types import SourceInfo

    ranges = [ByteRangeInfo(start, min(CHUNK_BYTES, size - start)) for start in range(0, size, CHUNK_BYTES)]

    def fetch() -> Any:
        with machine.stage("bench"):
            policy = parquet_io_utils.IOSubmissionPolicy.INTERLEAVE
            stream = machine.arrays.cuda.get_current_stream()
            return parquet_io_utils.fetch_byte_ranges_to_device(SourceInfo([str(path)]), ranges, policy, stream)

    return best_seconds(fetch)

"""What the links between host, files and device can carry: measured where there is a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gpuetl.backends.cudf.machine import Machine
from gpuetl.ceilings.ceiling import Ceiling, best_seconds
from gpuetl.ceilings.host import threads_text

TRANSFER_BYTES = 1 << 30
KVIKIO_THREADS = (4, 8, 16)


def copy_ceilings(machine: Machine, size: int = TRANSFER_BYTES) -> Iterator[Ceiling]:
    """Measure copies between device memory and host memory that is pinned, or is not."""
    cupy = machine.arrays
    pinned = np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.uint8, size)
    device = cupy.empty(size, "uint8")
    for way, host in (("pinned", pinned), ("pageable", np.ones(size, np.uint8))):
        yield Ceiling("host to device", way, size, best_seconds(partial(device.set, host)))
        yield Ceiling("device to host", way, size, best_seconds(partial(device.get, out=host)))


def file_ceilings(machine: Machine, folder: Path, size: int = TRANSFER_BYTES) -> Iterator[Ceiling]:
    """Measure how KvikIO brings a file from the page cache to the device; its threads are left as the engine's."""
    from pylibcudf.utils import _set_up_kvikio

    with TemporaryDirectory(dir=folder, prefix="gpuetl-bench-") as made:
        path = Path(made) / "file"
        np.ones(size, np.uint8).tofile(path)
        for threads in KVIKIO_THREADS:  # the last is what the engine sets
            _set_up_kvikio(threads)
            yield Ceiling("file to device", threads_text(threads), size, file_seconds(machine, path, size))


def file_seconds(machine: Machine, path: Path, size: int) -> float:
    """Return the seconds in which libcudf reads a file into device memory."""
    from pylibcudf.io import parquet_io_utils
    from pylibcudf.io.text import ByteRangeInfo
    from pylibcudf.io.types import SourceInfo

    def fetch() -> Any:
        with machine.stage("bench"):
            policy = parquet_io_utils.IOSubmissionPolicy.INTERLEAVE
            return parquet_io_utils.fetch_byte_ranges_to_device(
                SourceInfo([str(path)]), [ByteRangeInfo(0, size)], policy
            )

    return best_seconds(fetch)

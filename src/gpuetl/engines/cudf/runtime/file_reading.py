"""Parts of a local file brought to the device by KvikIO, whose threads do not need the interpreter.

Threads of our own do: while they read, the thread that launches kernels waits for the interpreter after each call.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import cupy
from cupy.cuda import runtime
from pylibcudf.io import parquet_io_utils
from pylibcudf.io.text import ByteRangeInfo
from pylibcudf.io.types import SourceInfo

from gpuetl.engines.cudf.runtime.device_files import recorded_event
from gpuetl.places.local.local_file import LocalFile


class FileRead:
    """Bytes of a file on their way to the device: see `PendingCopy`."""

    def __init__(self, future: Future[None]) -> None:
        self.future = future

    def wait(self) -> None:
        """Wait until all bytes are there."""
        self.future.result()

    def abandon(self) -> None:
        """Wait for the thread, whatever it finds."""
        self.future.cancel()
        wait([self.future])


def begin_reading(source: LocalFile, start: int, array: Any) -> FileRead:
    """Begin to fill a contiguous array with the bytes of a file from a place on."""
    return FileRead(reader(cupy.cuda.Device().id).submit(read, source, start, array, recorded_event()))


@cache
def reader(device: int) -> ThreadPoolExecutor:
    """Return a thread that hands reads to KvikIO; the device is current in it."""
    return ThreadPoolExecutor(1, "gpuetl-read", cupy.cuda.Device(device).use)


def read(source: LocalFile, start: int, array: Any, event: Any) -> None:
    """Read bytes, when the device has come to an event, and wait for them.

    libcudf reads into memory of its own, from which they are copied: that takes a hundredth of the time.

    Raises
    ------
    OSError
        For a file that cannot be read.
    """
    stream, size = cupy.cuda.Stream(non_blocking=True), int(array.nbytes)
    stream.wait_event(event)
    of = SourceInfo([f"/proc/self/fd/{source.descriptor}"])  # the file that is open, whatever its path names now
    policy = parquet_io_utils.IOSubmissionPolicy.INTERLEAVE
    try:
        (found,) = parquet_io_utils.fetch_byte_ranges_to_device(of, [ByteRangeInfo(start, size)], policy, stream)
    except RuntimeError as error:
        raise OSError(str(error)) from error
    runtime.memcpyAsync(array.data.ptr, found.ptr, size, runtime.memcpyDeviceToDevice, stream.ptr)
    stream.synchronize()

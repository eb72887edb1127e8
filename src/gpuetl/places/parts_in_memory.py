"""Parts of a file of a store in memory, as a file that Arrow reads without copies."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.places.filesystem import OpenFile
from gpuetl.places.objects.ranges import Range, read_all, requests_of, runs_of


class PartsInMemory:
    """A file of `size` bytes. Parts of it are there, by their offsets; the rest reads as zeros.

    Arrow finds the methods by their names, as those of a Python file, and `read_buffer`, which copies nothing where a
    read is within one part.  Memory is that of the parts, of Arrow's pool, which gives the same pages again: new pages
    are what costs most in reading objects.
    """

    def __init__(self, size: int, parts: Mapping[int, Any]) -> None:
        self.size, self.place, self.closed = size, 0, False
        self.starts = sorted(parts)
        self.parts = [memoryview(parts[start]) for start in self.starts]

    @classmethod
    def of_ranges(cls, file: OpenFile, ranges: Iterable[Range], known: Mapping[int, bytes]) -> PartsInMemory:
        """Read ranges of a file; `known` are bytes that need no request, by their offsets.

        Raises
        ------
        DatasetError
            For a file that has changed since it was opened.
        OSError
            Where it cannot be read.
        """
        parts: dict[int, Any] = dict(known)
        requests: dict[Range, memoryview] = {}
        for run in runs_of(requests_of(ranges)):
            start, end = run[0].start, run[-1].end
            parts[start] = pa.allocate_buffer(end - start)
            memory = memoryview(parts[start])
            requests |= {one: memory[one.start - start : one.end - start] for one in run}
        read_all(list(requests), lambda one: file.read_into(requests[one], one.start))
        return cls(file.state.size, parts)

    def for_arrow(self) -> Any:
        """Return the file as a `pyarrow.NativeFile`."""
        return pa.PythonFile(self, "r")

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self.place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a place."""
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.size}[whence]
        return self.place

    def read_buffer(self, size: int) -> Any:
        """Return up to `size` bytes as a buffer of Arrow."""
        start, end = self.place, min(self.place + size, self.size)
        self.place = max(start, end)
        number = bisect_right(self.starts, start) - 1
        offset = start - self.starts[number] if number >= 0 else 0
        if number >= 0 and offset + end - start <= len(self.parts[number]):
            return pa.py_buffer(self.parts[number][offset : offset + end - start])
        return self._joined(start, end)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes."""
        data: bytes = self.read_buffer(self.size if size < 0 else size).to_pybytes()
        return data

    def _joined(self, start: int, end: int) -> Any:
        buffer = pa.allocate_buffer(max(0, end - start))
        data = np.frombuffer(buffer, np.uint8)
        data[:] = 0
        for first, part in zip(self.starts, self.parts, strict=True):
            low, high = max(start, first), min(end, first + len(part))
            if low < high:
                data[low - start : high - start] = np.frombuffer(part[low - first : high - first], np.uint8)
        return buffer

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Let go of the parts."""
        self.closed, self.starts, self.parts = True, [], []

"""Bytes of objects that a look at a file has read, kept for who reads the file next, so that they are asked for once.

Planning a CSV file finds where its records begin, by all of its bytes, and the run reads them again.  They are kept in
files without a name, whose pages the system may take back, unlike memory of the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

MOST_BYTES = 2 << 30
"""Bytes that are kept, of all objects: of a larger object its first ones."""
MOST_OF_DISK = 4
"""The part of the free disk space that they take at most."""


class KeptObject:
    """Ranges of one object, in their places in a file without a name."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(prefix="gpuetl-reads-")  # noqa: SIM115
        self.starts: list[int] = []
        self.ends: list[int] = []

    def __del__(self) -> None:
        self.file.close()

    def write(self, start: int, data: bytes) -> None:
        """Write bytes to their place."""
        view, place = memoryview(data), start
        while view:
            written = os.pwrite(self.file.fileno(), view, place)
            view, place = view[written:], place + written
        self._add(start, start + len(data))

    def _add(self, start: int, end: int) -> None:
        """Note a range; ranges that touch become one."""
        low = bisect_right(self.ends, start - 1)
        high = bisect_right(self.starts, end)
        if low < high:
            start, end = min(start, self.starts[low]), max(end, self.ends[high - 1])
        self.starts[low:high], self.ends[low:high] = [start], [end]

    def end_of(self, start: int) -> int:
        """Return to which place the bytes from a place on are there."""
        number = bisect_right(self.starts, start) - 1
        return max(start, self.ends[number]) if number >= 0 else start


class KeptReads:
    """What was read of objects, by their states; threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.bytes, self.lock = most_bytes, 0, Lock()
        self.kept: OrderedDict[Hashable, KeptObject] = OrderedDict()
        self.sizes: dict[Hashable, int] = {}

    def keep(self, state: Hashable, start: int, data: bytes) -> None:
        """Keep bytes of an object, in place of those of objects that were read longest ago, where there is room."""
        with self.lock:
            while self.bytes + len(data) > self.most_bytes and self.kept and next(iter(self.kept)) != state:
                self._drop(next(iter(self.kept)))
            try:
                free = shutil.disk_usage(tempfile.gettempdir()).free
                if self.bytes + len(data) > min(self.most_bytes, (free + self.bytes) // MOST_OF_DISK):
                    return
                if state not in self.kept:
                    self.kept[state], self.sizes[state] = KeptObject(), 0
                self.kept.move_to_end(state)
                self.kept[state].write(start, data)
            except OSError:  # no room after all: they are asked for again
                return
            self.bytes += len(data)
            self.sizes[state] += len(data)

    def _drop(self, state: Hashable) -> None:
        del self.kept[state]
        self.bytes -= self.sizes.pop(state)

    def find(self, state: Hashable, start: int, end: int) -> bytes:
        """Return the bytes that are kept from a place on, up to `end`; none where the first one is not kept."""
        if not self.kept:
            return b""
        with self.lock:
            kept = self.kept.get(state)
            stop = min(end, kept.end_of(start)) if kept else start
        return os.pread(kept.file.fileno(), stop - start, start) if kept and stop > start else b""


KEPT_READS = KeptReads(MOST_BYTES)

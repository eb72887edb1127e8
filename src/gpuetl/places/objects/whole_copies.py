"""Files of servers that send no ranges: read whole by one request, and kept in a file without a name."""

from __future__ import annotations

import os
import tempfile
from threading import Lock
from typing import TYPE_CHECKING

import obstore

from gpuetl.telemetry.recorder import note

if TYPE_CHECKING:
    from collections.abc import Hashable

    from obstore.store import ObjectStore

CHUNK_BYTES = 8 << 20


class WholeCopy:
    """The bytes of a file, on local disk; the system removes them when nothing refers to this."""

    def __init__(self, store: ObjectStore, key: str) -> None:
        self._file = tempfile.TemporaryFile(prefix="gpuetl-copy-")  # noqa: SIM115
        self.size = 0
        for chunk in obstore.get(store, key).stream(CHUNK_BYTES):
            self.size += self._file.write(chunk)
        self._file.flush()

    def __del__(self) -> None:
        self._file.close()

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from a place to before another; threads may read at the same time."""
        return os.pread(self._file.fileno(), end - start, start)


class WholeCopies:
    """The copies of this process, by the states of their files: at most `most` of them, the latest ones."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._kept: dict[Hashable, WholeCopy] = {}

    def copy_of(self, state: Hashable, path: str, store: ObjectStore, key: str) -> WholeCopy:
        """Return the copy of a file in a state, which is read where there is none; one file at a time.

        Raises
        ------
        BaseError
            Of obstore, where the server does not send it.
        """
        with self._lock:
            if state not in self._kept:
                self._kept[state] = WholeCopy(store, key)
                while len(self._kept) > self._most:
                    del self._kept[next(iter(self._kept))]
            copy = self._kept[state]
        self.remark(state, path)
        return copy

    def remark(self, state: Hashable, path: str) -> None:
        """Leave a note for the user where a file was read whole."""
        if state in self._kept:
            note(f"{path} was read whole: its server sends no ranges of files")


COPIES = WholeCopies(most=16)

"""Room for frames outside of an engine's memory: in host memory, and in files beyond that.

A file has no name: it is gone when nothing maps it any more, however the process ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO, Any, NamedTuple

import numpy as np

from gpuetl.memory_limits import host_memory
from gpuetl.records import dataclass

KEPT_SHARE = 0.25
"""Of the host's memory: what frames leave to everybody else."""
RECENT_S = 0.1
"""How long what the host said of its memory holds: to ask takes longer than to copy a megabyte."""


class HostRoom:
    """What frames may take of the host's memory, where what they took counts until it is asked again.

    Threads share it.
    """

    def __init__(self) -> None:
        self.lock, self.asked, self.left = Lock(), -inf, 0

    def take(self, size: int) -> bool:
        """Tell whether there is room for so many bytes; before it is denied, the host is asked."""
        with self.lock:
            if size > self.left or monotonic() - self.asked > RECENT_S:
                host, self.asked = host_memory(), monotonic()
                self.left = host.available - int(KEPT_SHARE * host.total)
            if size > self.left:
                return False
            self.left -= size
            return True


HOST = HostRoom()


class Room(NamedTuple):
    """Memory to be filled, as bytes; that of a file is its mapping."""

    memory: np.ndarray[Any, Any]
    in_file: bool


@dataclass(frozen=True)
class SpillSpace:
    """Gives room away; it is given back where nobody holds it any more.

    Parameters
    ----------
    folder
        Of the files; None is the system's folder for temporary files.
    """

    folder: Path | None = None

    def room(self, size: int) -> Room:
        """Return room for so many bytes.

        Raises
        ------
        OSError
            Where it would be a file, and the folder cannot be written or its disk is full.
        MemoryError
            Where the system gives less memory than it told of.
        """
        if HOST.take(size):
            return Room(np.empty(size, np.uint8), in_file=False)
        with self.file() as file:
            os.posix_fallocate(file.fileno(), 0, max(size, 1))  # a full disk is an error here, and a signal later
            return Room(np.frombuffer(mmap.mmap(file.fileno(), max(size, 1)), np.uint8)[:size], in_file=True)

    def file(self) -> IO[bytes]:
        """Open a file without a name."""
        return tempfile.TemporaryFile(dir=self.folder)

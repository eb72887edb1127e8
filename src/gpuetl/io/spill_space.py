"""Room for frames outside of an engine's memory: in host memory, and in files beyond that.

A file has no name: it is gone when nothing maps it any more, however the process ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from gpuetl.io.host_memory import host_memory

KEPT_SHARE = 0.25
"""Of the host's memory: what frames leave to everybody else."""


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
        host = host_memory()
        if host.available - size >= KEPT_SHARE * host.total:
            return Room(np.empty(size, np.uint8), in_file=False)
        with self.file() as file:
            os.posix_fallocate(file.fileno(), 0, max(size, 1))  # a full disk is an error here, and a signal later
            return Room(np.frombuffer(mmap.mmap(file.fileno(), max(size, 1)), np.uint8)[:size], in_file=True)

    def file(self) -> IO[bytes]:
        """Open a file without a name."""
        return tempfile.TemporaryFile(dir=self.folder)

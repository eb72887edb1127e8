"""Frames of a GPU that wait on a worker as results of tasks: they are spilled where its memory is short.

Dask holds results for as long as a task wants them.  dask-cuda moves some to the host beyond a fixed share of a GPU;
here all are spilled where a step finds no memory, and some beyond the limit that a run may set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Protocol
from weakref import WeakSet

from gpuetl.engines.interface import Backend
from gpuetl.errors import first_line
from gpuetl.io.spill_space import SpillSpace
from gpuetl.telemetry.hardware_limits import Link


class Spillable(Protocol):
    """A result that holds a frame, in the engine's memory or elsewhere."""

    nbytes: int

    @property
    def is_resident(self) -> bool:
        """Whether it takes its bytes of the engine's memory."""

    def spill(self, backend: Backend, space: SpillSpace) -> int:
        """Copy the frame out of the engine's memory; return the bytes that it took there."""


class SpillRegistry:
    """All results of this process that hold frames, whichever run they are of.

    `use` says how to spill; until then nothing is.
    """

    def __init__(self) -> None:
        self.frames: WeakSet[Spillable] = WeakSet()
        self.backend: Backend | None = None
        self.space, self.limit = SpillSpace(), -1
        self.link_bytes: Counter[Link] = Counter()
        self.lock = Lock()

    def add(self, frame: Spillable) -> None:
        """Take note of a result, from any thread."""
        with self.lock:
            self.frames.add(frame)

    def count_bytes(self, link_bytes: Mapping[Link, int]) -> None:
        """Take note of bytes that crossed links."""
        with self.lock:
            self.link_bytes.update(link_bytes)

    def use(self, backend: Backend, folder: str | None, limit: int | None) -> None:
        """Spill by a backend, to files of a folder; with a limit, also what takes more bytes than that."""
        self.backend, self.space = backend, SpillSpace(Path(folder) if folder else None)
        self.limit = -1 if limit is None else limit

    def enforce_limit(self) -> None:
        """Spill what exceeds the limit, if there is one."""
        if self.limit >= 0:
            self.spill(self.limit)

    def spill_all(self) -> str:
        """Spill everything; return what hindered that, or nothing."""
        return self.spill(0)

    def spill(self, most: int) -> str:
        """Spill frames until the others take at most `most` bytes; return why that failed, or nothing."""
        with self.lock:
            waiting = [frame for frame in self.frames if frame.is_resident]
        size = sum(frame.nbytes for frame in waiting)
        for frame in waiting:
            if size <= most or self.backend is None:
                break
            try:
                size -= frame.spill(self.backend, self.space)
            except (OSError, MemoryError) as error:
                return f"frames that wait cannot be spilled: {first_line(error)}"
        return ""

    def drain_link_bytes(self) -> dict[Link, int]:
        """Return the bytes that were spilled and came back since this was asked last, by link."""
        with self.lock:
            link_bytes, self.link_bytes = self.link_bytes, Counter()
        return dict(link_bytes)


SPILL_REGISTRY = SpillRegistry()

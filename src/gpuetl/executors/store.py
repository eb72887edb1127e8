"""Frames that wait for their readers.  The oldest are spilled when frames take too much memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from threading import RLock

from gpuetl.engines.interface import Backend, Frame, Spilled
from gpuetl.errors import first_line
from gpuetl.io.spill_space import SpillSpace
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import Recorder
from gpuetl.telemetry.trace import span

Key = Hashable
EVERYTHING = 1 << 62


@dataclass(eq=False)
class StoredFrame:
    """A frame, or where it is kept instead; `size` is what it takes in the engine's memory."""

    frame: Frame
    size: int
    spilled: Spilled | None = None


class Store:
    """Holds frames by key, several under one in the order in which they were added.

    What is spilled stays so: each reader gets a frame of its own.  The writers' threads may ask for memory, too, so
    that a lock is held.

    Parameters
    ----------
    limit
        The bytes that frames take in the engine's memory before the oldest are spilled.
    """

    def __init__(
        self, backend: Backend, recorder: Recorder, limit: int = EVERYTHING, space: SpillSpace | None = None
    ) -> None:
        self.backend, self.recorder, self.limit, self.space = backend, recorder, limit, space or SpillSpace()
        self.waiting: dict[Key, list[StoredFrame]] = {}
        self.resident: dict[StoredFrame, None] = {}
        self.size = 0
        self.lock = RLock()

    def __contains__(self, key: Key) -> bool:
        return key in self.waiting

    def add(self, key: Key, frame: Frame, columns: Iterable[str]) -> None:
        """Hold one more frame under a key.  Where the limit is met and there is no room elsewhere, it is exceeded."""
        waiting = StoredFrame(frame, self.backend.nbytes(frame, columns))
        with self.lock:
            self.waiting.setdefault(key, []).append(waiting)
            self.resident[waiting] = None
            self.size += waiting.size
            self.spill(self.limit)

    def read(self, key: Key) -> list[Frame]:
        """Return the frames of a key, which stay; none where there is no such key.

        Raises
        ------
        MemoryError
            Where there is no room for what was spilled.
        """
        with self.lock:
            return [self.frame(waiting) for waiting in self.waiting.get(key, ())]

    def take(self, key: Key) -> list[Frame]:
        """Return the frames of a key, and hold them no more; raise as `read` does, then they stay."""
        with self.lock:
            frames = self.read(key)
            self.drop(key)
            return frames

    def drop(self, key: Key) -> None:
        """Hold the frames of a key no more, if there are any."""
        with self.lock:
            for waiting in self.waiting.pop(key, ()):
                self.forget(waiting)

    def spill_all(self) -> str:
        """Spill all frames; return why that was not possible, or nothing."""
        with self.lock:
            return self.spill(0)

    def spill(self, most: int) -> str:
        """Spill the oldest frames until the others take at most `most` bytes; return why that failed."""
        while self.size > most:
            waiting = next(iter(self.resident))
            try:
                with span("spill", "memory", bytes=waiting.size):
                    waiting.spilled = self.backend.spill(waiting.frame, self.space)
            except (OSError, MemoryError) as error:
                return f"frames that wait cannot be spilled: {first_line(error)}"
            self.forget(waiting)
            self.recorder.spilled.update(waiting.spilled.spill_traffic)
        return ""

    def spill_oldest(self, size: int = 1) -> bool:
        """Spill the oldest frames that take so many bytes, or all; tell whether there were some to spill."""
        with self.lock:
            return self.size > 0 and not self.spill(max(0, self.size - size))

    def forget(self, waiting: StoredFrame) -> None:
        """Let go of a frame in the engine's memory."""
        if waiting in self.resident:
            del self.resident[waiting]
            self.size -= waiting.size
            waiting.frame = None

    def frame(self, waiting: StoredFrame) -> Frame:
        """Return a frame from wherever it is."""
        if waiting.spilled is None:
            return waiting.frame
        with span("read back", "memory", bytes=waiting.size):
            frame = waiting.spilled.restored()
        self.recorder.spilled.update(waiting.spilled.restore_traffic)
        return frame

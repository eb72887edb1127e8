"""The memory of a run over time: a thread looks at it again and again, ever more rarely in a long run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

from gpuetl.records import dataclass
from gpuetl.telemetry.memory_meter import MemoryUse

FIRST_PERIOD_S = 0.02
MOST_SAMPLES = 400
"""Beyond that every second one is left out, and the thread looks half as often."""
Sample = tuple[float, int]
"""Seconds since the run began, and the bytes in use then."""


@dataclass(frozen=True)
class MemoryCurve:
    """The memory in use over time in one process.

    `where` is the engine's memory, such as `GPU` or `CPU`, or a worker's address.  `limit` is what could be used in
    all; 0 if that is not known.
    """

    where: str
    samples: tuple[Sample, ...]
    limit: int = 0

    @property
    def peak(self) -> int:
        """The most of all samples: what came and went between two of them does not count."""
        return max((count for _, count in self.samples), default=0)


def thinned(samples: list[Sample]) -> list[Sample]:
    """Return every second sample, of two that follow each other the larger one."""
    pairs = (samples[place : place + 2] for place in range(0, len(samples), 2))
    return [max(pair, key=lambda sample: sample[1]) for pair in pairs]


@dataclass
class MemorySampler:
    """Samples memory while a block lasts.

    Parameters
    ----------
    use
        Asks what is in use; an error ends the samples.
    start_s
        When the run began, by `time.perf_counter`.
    """

    use: Callable[[], MemoryUse]
    start_s: float
    samples: list[Sample] = field(default_factory=list)
    limit: int = 0
    period_s: float = FIRST_PERIOD_S
    stop: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)
    thread: Thread | None = None

    def look(self) -> None:
        """Take a sample."""
        use = self.use()
        with self.lock:
            self.limit = max(self.limit, use.limit)
            self.samples.append((time.perf_counter() - self.start_s, use.in_use))
            if len(self.samples) > MOST_SAMPLES:
                self.samples, self.period_s = thinned(self.samples), 2 * self.period_s

    def work(self) -> None:
        """Take samples until the block ends, or memory cannot be asked for: that must not fail the run."""
        with suppress(Exception):
            while not self.stop.wait(self.period_s):
                self.look()

    def curve(self, where: str) -> MemoryCurve | None:
        """Return the samples so far; None without any."""
        with self.lock:
            return MemoryCurve(where, tuple(self.samples), self.limit) if self.samples else None

    def __enter__(self) -> Self:
        """Begin."""
        with suppress(Exception):
            self.look()
        self.thread = Thread(target=self.work, name="gpuetl-memory", daemon=True)
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End, with a last sample unless the run failed, whose device may not answer."""
        self.stop.set()
        if error is None and self.thread is not None:
            self.thread.join()
            with suppress(Exception):
                self.look()

"""The progress of a run where no terminal is: a line now and then, so that the log of a long run shows what it does."""

from __future__ import annotations

import time
from collections.abc import Callable

from gpuetl.messages import printable, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.units import duration

EVERY_S = 30.0


@dataclass
class ProgressLines:
    """Prints the latest progress every `EVERY_S` seconds; a shorter run prints nothing.

    Threads may call it at the same time; the worst that follows is a second line.
    """

    print_line: Callable[[str], None]
    begun_s: float = 0.0
    printed_s: float = 0.0

    def __post_init__(self) -> None:
        self.begun_s = self.printed_s = time.monotonic()

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        """Take note of progress."""
        now = time.monotonic()
        if now - self.printed_s < EVERY_S:
            return
        self.printed_s = now
        parts = f": {done:,} of {of:,} partitions" if of > 1 else ""
        self.print_line(
            f"  after {duration(now - self.begun_s)}: " + printable(redacted(origin.kind + " " + origin.name)) + parts
        )

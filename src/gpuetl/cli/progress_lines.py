"""The progress of a run where no terminal is: a line now and then, so that the log of a long run shows what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread

from gpuetl.records import dataclass
from gpuetl.telemetry.run_progress import RunProgress
from gpuetl.units import duration

EVERY_S = 30.0
SAMPLE_S = 1.0
"""How often estimates are brought up to date."""


@dataclass
class ProgressLines(RunProgress):
    """Prints the latest progress every `EVERY_S` seconds; a shorter run prints nothing."""

    print_line: Callable[[str], None] = print
    printed_s: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.printed_s = self.begun_s

    def tick(self) -> None:
        """Bring estimates up to date, and print a line if it is time."""
        summary, now = self.summary(), self.clock()
        if now - self.printed_s < EVERY_S:
            return
        self.printed_s += EVERY_S * ((now - self.printed_s) // EVERY_S)
        what = "; ".join(filter(None, (summary, self.latest_line()))) or self.title
        self.print_line(f"  after {duration(self.printed_s - self.begun_s)}: {what}")


@contextmanager
def progress_lines(print_line: Callable[[str], None], title: str) -> Iterator[ProgressLines]:
    """Print progress while the block lasts, from a thread that wakes once a second."""
    lines, ended = ProgressLines(title, print_line=print_line), Event()

    def work() -> None:
        while not ended.wait(SAMPLE_S):
            lines.tick()

    thread = Thread(target=copy_context().run, args=(work,), name="gpuetl-progress", daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        ended.set()
        thread.join()

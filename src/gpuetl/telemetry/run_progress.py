"""What a view of a run shows: a line for each source, stage and sink, and one for the whole run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field
from math import exp
from threading import Lock

from gpuetl.messages import one_line, printable, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.run_totals import RunTotals
from gpuetl.telemetry.time_left import TimeLeft
from gpuetl.units import rate, short_count, size, size_of

TOTALS_AFTER_S = 1.0
"""A shorter run is not asked for its totals."""
RATE_S = 5.0
"""The rate is that of about the last five seconds."""
LEAST_RATE_S = 0.2


@dataclass
class Line:
    """One source, stage or sink: the partitions that its last step has done, and when it began and ended."""

    title: str
    begun_s: float
    step: int = 0
    done: int = 0
    of: int = 0
    ended_s: float | None = None

    @property
    def is_done(self) -> bool:
        """Whether all partitions have left its last step so far."""
        return self.done >= self.of

    def update(self, step: int, done: int, of: int, now_s: float) -> None:
        """Take note of progress; of several steps the last one counts."""
        if step >= self.step:
            self.step, self.done, self.of = step, done, of
        self.ended_s = now_s if self.is_done else None


@dataclass
class ReadRate:
    """The rate at which a run reads, smoothed; in bytes of files, or in rows where it reads none."""

    at_s: float
    count: int = 0
    per_s: float = 0.0

    def update(self, count: int, now_s: float) -> None:
        """Take note of what was read until now."""
        if (step_s := now_s - self.at_s) < LEAST_RATE_S:
            return
        latest, old = max(0, count - self.count) / step_s, exp(-step_s / RATE_S)
        self.per_s = old * self.per_s + (1 - old) * latest if self.per_s else latest
        self.at_s, self.count = now_s, count


@dataclass
class RunProgress:
    """Collects the progress of a run, which calls it from any thread; `clock` gives seconds that never go back."""

    title: str = "running"
    clock: Callable[[], float] = time.monotonic
    lines: dict[tuple[str, str], Line] = field(default_factory=dict)
    latest: tuple[str, str] | None = None
    totals: Callable[[], RunTotals] | None = None
    lock: Lock = field(default_factory=Lock)
    totals_lock: Lock = field(default_factory=Lock)
    begun_s: float = 0.0

    def __post_init__(self) -> None:
        self.begun_s = self.clock()
        self.begin_estimates()

    def begin_estimates(self) -> None:
        """Forget what was measured."""
        now = self.clock()
        self.time_left, self.read_rate, self.shown_share = TimeLeft(now), ReadRate(now), 0.0

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        """Take note of progress."""
        now = self.clock()
        with self.lock:
            if origin.relation not in self.lines:
                title = one_line(printable(redacted(f"{origin.kind} {origin.name}")))
                self.lines[origin.relation] = Line(title, now)
            self.lines[origin.relation].update(origin.step, done, of, now)
            self.latest = origin.relation

    def follow(self, totals: Callable[[], RunTotals]) -> None:
        """Ask this for the totals from now on: a run begins to execute its plan, or begins again."""
        with self.totals_lock:
            self.totals = totals
            self.begin_estimates()

    @property
    def elapsed_s(self) -> float:
        """The seconds since the start."""
        return self.clock() - self.begun_s

    def summary(self) -> str:
        """Say how far the whole run is: `31 %, read 12.3 M rows, 1.2 of 4.0 GB at 210 MB/s, about 2 min left`.

        Nothing is said while nothing is known.  A view asks for it about once a second or more often: the estimates go
        by what it was then.
        """
        now = self.clock()
        with self.totals_lock:
            if self.totals is None or now - self.begun_s < TOTALS_AFTER_S:
                return ""
            totals = self.totals()
            self.time_left.update(totals.share, now)
            self.read_rate.update(totals.file_bytes or totals.rows, now)
            self.shown_share = max(self.shown_share, totals.share or 0.0)
            left = self.time_left.text(now)
            parts = [share_text(self.shown_share), read_text(totals, self.read_rate.per_s), left]
        return ", ".join(filter(None, parts))

    def latest_line(self) -> str:
        """Return the line of what has made progress last: `stage clean: 60 of 100 partitions`."""
        with self.lock:
            if self.latest is None:
                return ""
            line = self.lines[self.latest]
            return line.title + (f": {line.done:,} of {line.of:,} partitions" if line.of > 1 else "")


def share_text(share: float) -> str:
    """Return a share in whole percents; nothing for less than one."""
    return f"{int(100 * share)} %" if share >= 0.01 else ""


def read_text(totals: RunTotals, per_s: float) -> str:
    """Say what was read of how much, and how fast, until all is read."""
    if not totals.rows:
        return ""
    text = f"read {short_count(totals.rows)} row{'s' * (totals.rows != 1)}"
    if not totals.planned_bytes:
        return text
    if totals.file_bytes >= totals.planned_bytes:
        return f"{text}, {size(totals.file_bytes)}"
    return f"{text}, {size_of(totals.file_bytes, totals.planned_bytes)}" + (f" at {rate(per_s)}" if per_s else "")

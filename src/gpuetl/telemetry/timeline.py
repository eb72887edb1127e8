"""When what was at work during a run: a few hundred intervals a track, however many partitions there were."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from threading import Lock
from typing import Literal, NamedTuple

from gpuetl.records import dataclass

TrackKind = Literal["phase", "source", "stage", "expect", "sink", "write", "compilation", "spill", "worker"]
MOST_INTERVALS = 256
"""Of a track; beyond that, intervals that are near each other become one."""
FIRST_GAP_S = 1e-4


class Track(NamedTuple):
    """A row of the timeline: `phase` plan, `stage` clean, `write` of a sink's files, `compilation` of kernels."""

    kind: str
    name: str


Interval = tuple[float, float]
"""Start and end, in seconds."""


@dataclass(frozen=True)
class TrackReport:
    """When a track was at work: intervals in seconds since the run began, in order, which do not overlap."""

    kind: str
    name: str
    intervals: tuple[Interval, ...]

    @property
    def busy_s(self) -> float:
        """The seconds in which it was at work, however many threads were."""
        return sum(end - start for start, end in self.intervals)


@dataclass
class Intervals:
    """The intervals of one track, in the order in which they ended; those nearer than `gap_s` are one."""

    found: list[Interval] = field(default_factory=list)
    gap_s: float = FIRST_GAP_S

    def add(self, start: float, end: float) -> None:
        """Add an interval."""
        last = self.found[-1] if self.found else None
        if last and last[0] <= start <= last[1] + self.gap_s:
            self.found[-1] = (last[0], max(last[1], end))
            return
        self.found.append((start, end))
        while len(self.found) > MOST_INTERVALS:
            self.gap_s *= 2
            self.found = joined(self.found, self.gap_s)


def joined(intervals: list[Interval], gap_s: float) -> list[Interval]:
    """Return intervals in order, those that overlap or are at most `gap_s` apart as one."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1] + gap_s:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


@dataclass
class Timeline:
    """Collects intervals by track, from any thread; times are those of `time.perf_counter`.

    `start_unix` is the time of `start_s` in seconds since 1970, by which timelines of other processes are laid over it.
    """

    start_s: float = field(default_factory=time.perf_counter)
    start_unix: float = field(default_factory=time.time)
    tracks: dict[Track, Intervals] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def add(self, track: Track, start: float, end: float) -> None:
        """Add an interval of a track."""
        with self.lock:
            if track not in self.tracks:
                self.tracks[track] = Intervals()
            self.tracks[track].add(start, end)

    def report(self) -> tuple[TrackReport, ...]:
        """Return what was at work when, in seconds since the start, in the order in which tracks began."""
        with self.lock:
            tracks = {track: joined(found.found, 0.0) for track, found in self.tracks.items()}
        reports = (
            TrackReport(*track, tuple((start - self.start_s, end - self.start_s) for start, end in found))
            for track, found in tracks.items()
        )
        return tuple(sorted(reports, key=lambda one: one.intervals[0]))

    def add_reports(self, tracks: tuple[TrackReport, ...], start_unix: float) -> None:
        """Add what another process reported, which began at `start_unix`; clocks of hosts may differ."""
        shift = self.start_s + start_unix - self.start_unix
        for track in tracks:
            for start, end in track.intervals:
                self.add(Track(track.kind, track.name), start + shift, end + shift)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Have `record` in the block, in this thread, add to this timeline."""
        token = _TIMELINE.set(self)
        try:
            yield
        finally:
            _TIMELINE.reset(token)

    def unix(self, seconds: float) -> float:
        """Return a time of `time.perf_counter` in seconds since 1970."""
        return self.start_unix + seconds - self.start_s

    def now(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.start_s


_TIMELINE: ContextVar[Timeline | None] = ContextVar("timeline", default=None)


def active_timeline() -> Timeline | None:
    """Return the timeline of the run that is under way in this thread, if there is one."""
    return _TIMELINE.get()

"""A timeline of a run as Chrome's trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

A track is a thread, a stage or the device, these two for each thread apart that works for them.  Events are "complete"
ones (`ph` X, times in microseconds), as described in Google's "Trace Event Format"; those of one track lie beside or
inside each other.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import Any, TypeVar, cast

from gpuetl.errors import first_line
from gpuetl.output_files import write_whole
from gpuetl.records import dataclass
from gpuetl.telemetry.timeline import Timeline, Track, active_timeline


@dataclass(frozen=True)
class Event:
    """What was done from `start` on, in seconds of `time.perf_counter`."""

    name: str
    category: str
    track: str
    start: float
    seconds: float
    details: dict[str, Any]


@dataclass
class Trace:
    """The events of a run; threads may add to it.

    `later` gives events when the trace is written: of work of which only then is known how long it took.
    """

    start_s: float = field(default_factory=time.perf_counter)
    events: list[Event] = field(default_factory=list)
    later: list[Callable[[], Event]] = field(default_factory=list)

    @contextmanager
    def span(self, name: str, category: str, track: str = "", **details: Any) -> Iterator[None]:
        """Add what the block does, also where it fails; the track is by default that of the thread."""
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self.events.append(Event(name, category, track or thread_track(), start, seconds, details))

    def stages(self) -> Iterator[Event]:
        """Yield a span around all operations of a source, stage or sink; others may run in between."""
        tracks: dict[str, list[Event]] = {}
        for event in self.events:
            if event.category == "operation":
                tracks.setdefault(event.track, []).append(event)
        for track, events in tracks.items():
            start = min(event.start for event in events)
            seconds = max(event.start + event.seconds for event in events) - start
            yield Event(track, "stage", track, start, seconds, {"operations": len(events)})

    def to_dict(self) -> dict[str, Any]:
        """Return the events in the order of their beginning, outer ones first, and the names of the tracks."""
        events = [*self.stages(), *self.events, *(event() for event in self.later)]
        events.sort(key=lambda event: (event.start, -event.seconds))
        tracks = {track: place for place, track in enumerate(dict.fromkeys(event.track for event in events))}
        process = os.getpid()
        names = [
            {"ph": "M", "name": "thread_name", "pid": process, "tid": tid, "args": {"name": track}}
            for track, tid in tracks.items()
        ]
        complete = [
            {
                "ph": "X", "name": event.name, "cat": event.category, "pid": process, "tid": tracks[event.track],
                "ts": (event.start - self.start_s) * 1e6, "dur": event.seconds * 1e6, "args": event.details,
            }
            for event in events
        ]  # fmt: skip
        return {"traceEvents": [*names, *complete], "displayTimeUnit": "ms"}

    def write(self, path: Path) -> None:
        """Write JSON."""
        write_whole(path, json.dumps(self.to_dict()).encode())


def thread_track() -> str:
    """Return the track of the thread that runs."""
    thread = threading.current_thread()
    return "run" if thread is threading.main_thread() else thread.name


Function = TypeVar("Function", bound=Callable[..., Any])
_TRACE: ContextVar[Trace | None] = ContextVar("trace", default=None)


@contextmanager
def tracing(path: Path | None, unwritten: Callable[[OSError], None] | None = None) -> Iterator[Trace | None]:
    """Trace what the block does, and write it where it ends, also by an error; without a path there is no trace.

    `unwritten` is called where the file cannot be written; without it, the error is raised.
    """
    if path is None:
        yield None
        return
    trace = Trace()
    token = _TRACE.set(trace)
    try:
        yield trace
    except BaseException:
        trace.later.clear()  # a device that failed is not asked
        raise
    finally:
        _TRACE.reset(token)
        try:
            trace.write(path)
        except OSError as error:
            if unwritten is None:
                raise
            unwritten(error)


@contextmanager
def span(name: str, category: str, track: str = "", **details: Any) -> Iterator[None]:
    """Add what the block does to the trace of the run that is under way, and to the timeline of its report."""
    trace, timeline = _TRACE.get(), active_timeline()
    with (
        trace.span(name, category, track, **details) if trace else nullcontext(),
        on_timeline(timeline, name, category) if timeline else nullcontext(),
    ):
        yield


def track_of(name: str, category: str) -> Track | None:
    """Return the track of the timeline for a span; None for operations, which are recorded with their stage."""
    if category == "operation":
        return None
    if category == "file":
        return Track("write", name.removeprefix("write "))
    return Track(category, name) if category == "phase" else Track("spill" if category == "memory" else category, "")


@contextmanager
def on_timeline(timeline: Timeline, name: str, category: str) -> Iterator[None]:
    """Add the time of the block to a timeline."""
    track, start = track_of(name, category), time.perf_counter()
    try:
        yield
    finally:
        if track is not None:
            timeline.add(track, start, time.perf_counter())


@contextmanager
def best_effort(action: str, category: str) -> Iterator[None]:
    """Do something whose failure costs time alone; a trace shows the error, after `what` has failed."""
    try:
        yield
    except Exception as error:
        with span(action, category, error=f"{type(error).__name__}: {first_line(error)}"):
            pass


def spanned(function: Function, name: str, category: str) -> Function:
    """Return the function; the trace and the timeline of this run show each of its calls, in any thread."""
    trace, timeline = _TRACE.get(), active_timeline()
    if trace is None and timeline is None:
        return function

    def call(*arguments: Any) -> Any:
        with (
            trace.span(name, category) if trace else nullcontext(),
            on_timeline(timeline, name, category) if timeline else nullcontext(),
        ):
            return function(*arguments)

    return cast(Function, call)


@contextmanager
def timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    """Keep the wall time of a phase."""
    start = time.perf_counter()
    with span(phase, "phase"):
        yield
    seconds[phase] = time.perf_counter() - start

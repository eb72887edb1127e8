"""Collect the work of each operation during a run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import cache
from threading import RLock, current_thread, get_ident
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from gpuetl import messages
from gpuetl.messages import one_line, printable, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.counted_warning import CountedWarning
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.telemetry.memory_meter import MemoryMeter
from gpuetl.telemetry.memory_samples import MemoryCurve
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.run_totals import PlannedWork, RunTotals
from gpuetl.telemetry.timeline import Timeline, Track
from gpuetl.telemetry.trace import span

LONG_S = 1.0
"""A wait for kernels that is longer is reported."""


class Progress(Protocol):
    """Receive the progress of a run."""

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        """Report that `done` of `of` partitions have left this operation, or that the run waits for a cluster.

        If it takes long to list the files of a source, the origin is `folders below` its path, `done` counts the
        folders that were listed, and `of` those that are known so far.  If it takes long to read the metadata of its
        files, the origin is `metadata of` its path, and files are counted.
        """


WantedProgress: TypeAlias = Progress | Literal[False] | None
"""What a user wants to receive the progress: None is the default of the place, False is nothing."""


@runtime_checkable
class FollowsTotals(Protocol):
    """A receiver of progress that also asks how far the whole run is, as often as it shows that."""

    def follow(self, totals: Callable[[], RunTotals]) -> None:
        """Ask `totals` from now on, from any thread; called when a plan begins to run, again where it begins anew."""


def silent(origin: Origin, done: int, of: int) -> None:
    """Show nothing."""


@dataclass
class Work:
    """The work of one operation, named by its kind, over all its partitions.

    `device` is where the engine ran it, GPU or CPU.  It is empty for sinks, and for operations that only move rows.
    `waited` is the part of `seconds` that the run waited for.  The rest passed in a thread, in parallel with other
    work.  `peak_bytes` is the most memory in use meanwhile, if measured.  `moved` has the bytes that crossed each link.
    `exchanged_bytes` are those of rows that an exchange has brought to their partition.  `began_unix` and `ended_unix`
    are when it was at work first and last, in seconds since 1970; 0 where it was not.
    """

    name: str
    origin: Origin
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0
    waited: float | None = None
    file_bytes: int = 0
    partitions: int = 0
    device: str = ""
    peak_bytes: int | None = None
    moved: Counter[Link] = field(default_factory=Counter)
    exchanged_bytes: int = 0
    began_unix: float = 0.0
    ended_unix: float = 0.0

    def add(self, other: Work) -> None:
        """Add the work of the same operation elsewhere."""
        for name in ("rows_in", "rows_out", "seconds", "file_bytes", "partitions", "exchanged_bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.device = other.device or self.device
        self.moved.update(other.moved)
        if other.began_unix:
            self.began_unix = min(self.began_unix or other.began_unix, other.began_unix)
            self.ended_unix = max(self.ended_unix, other.ended_unix)
        if other.peak_bytes is not None:
            self.peak_bytes = max(other.peak_bytes, self.peak_bytes or 0)


@dataclass
class WorkerWork:
    """What one worker of a cluster did in a run.

    `seconds` are those of its tasks.  `received_bytes` and `received_rows` came to it by exchanges, also from itself.
    `spilled` has the bytes that crossed each link because frames were spilled.
    """

    address: str
    tasks: int = 0
    seconds: float = 0.0
    file_bytes: int = 0
    received_rows: int = 0
    received_bytes: int = 0
    spilled: Counter[Link] = field(default_factory=Counter)


@dataclass
class Recorder:
    """The work of a run by operation, in the order of last execution, with its notes and warnings.

    `meter`, if any, measures the memory of timed work in the run's own thread.  `peaks` has what workers measured.
    `spilled` has the bytes that crossed each link when frames were spilled, and when they came back.  `compiled` counts
    the kernels that were in no cache, for which the run waited `compile_seconds`.  Threads that read ahead add to work
    under `lock`.  `timeline` has when what was at work.  `workers` and `memory_curves` are those of a cluster, by
    address.  `reported` has what workers have reported so far: it joins `work` when all have ended.
    """

    progress: Progress = silent
    meter: MemoryMeter | None = None
    work: dict[int, Work] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    spilled: Counter[Link] = field(default_factory=Counter)
    peaks: dict[str, int] = field(default_factory=dict)
    committing: bool = False
    committed: bool = False
    thread: int = field(default_factory=get_ident)
    lock: RLock = field(default_factory=RLock)
    compiled: int = 0
    compile_seconds: float = 0.0
    timeline: Timeline = field(default_factory=Timeline)
    workers: dict[str, WorkerWork] = field(default_factory=dict)
    memory_curves: dict[str, MemoryCurve] = field(default_factory=dict)
    reported: dict[int, Work] = field(default_factory=dict)
    follower: FollowsTotals | None = None

    def __post_init__(self) -> None:
        if isinstance(self.progress, FollowsTotals):
            self.follower = self.progress

    def begin_plan(self, planned: Callable[[], PlannedWork]) -> None:
        """Let who shows the progress ask for the totals; `planned` is called once, at the first question."""
        self.reported.clear()
        if self.follower is not None:
            work = cache(planned)
            self.follower.follow(lambda: work().totals(self.recorded()))

    def report_work(self, key: object, work: Work) -> None:
        """Take note of an operation's work elsewhere, where somebody follows the run."""
        if self.follower is not None:
            with self.lock:
                self.reported.setdefault(id(key), Work(work.name, work.origin)).add(work)

    def recorded(self) -> dict[int, Work]:
        """Return the work until now, on a cluster what workers have reported."""
        with self.lock:
            return dict(self.reported or self.work)

    def of(self, key: object, origin: Origin) -> Work:
        """Return the record of an operation; the first call begins it."""
        with self.lock:
            work = self.work.pop(id(key)) if id(key) in self.work else Work(type(key).__name__, origin)
            self.work[id(key)] = work  # at the end: what ran last gave the stage's rows
            return work

    def rename(self, key: object, new: object) -> None:
        """Move a record from `key` to `new`; `key` may die, and another object could get its identity."""
        with self.lock:
            self.work[id(new)] = self.work.pop(id(key))

    @contextmanager
    def timed(self, work: Work) -> Iterator[None]:
        """Add the seconds of the block to `work`, and look at its memory where there is a meter."""
        alone = get_ident() == self.thread
        meter, track = (
            self.meter if alone else None,
            f"{work.origin.kind} {work.origin.name}{'' if alone else f', {current_thread().name}'}",
        )
        if meter:
            meter.begin()
        start = time.perf_counter()
        try:
            with span(work.name, "operation", track, step=work.origin.step):
                yield
        finally:
            end = time.perf_counter()
            with self.lock:
                work.seconds += end - start
                work.began_unix = work.began_unix or self.timeline.unix(start)
                work.ended_unix = self.timeline.unix(end)
            self.timeline.add(Track(*work.origin.relation), start, end)
            if meter and (peak := meter.end()) is not None:
                work.peak_bytes = max(peak, work.peak_bytes or 0)

    def begin_again(self, reason: str) -> None:
        """Forget what was done, which was in vain, and note why."""
        self.work.clear()
        self.reported.clear()
        self.spilled.clear()
        self.workers.clear()
        self.note(reason)

    def begin_commit(self) -> None:
        """Keep that sinks may change from now on."""
        self.committing = True

    def commit(self) -> None:
        """Keep that all sinks are in place."""
        self.committed = True

    def outcome(self) -> str:
        """Say what became of the sinks, where the run is broken off."""
        return "all sinks are written" if self.committed else "no sink has changed"

    def note_compilation(self, seconds: dict[str, float]) -> None:
        """Take the waiting for kernels out of the seconds of the run, and say where it was long that it is over."""
        if self.compiled:
            waited = min(self.compile_seconds, seconds["run"])
            seconds |= {"run": seconds["run"] - waited, "compile": waited}
            if waited > LONG_S:
                kernels = f"{self.compiled} kernels were compiled, for which the run waited {waited:.1f} s"
                self.note(f"{kernels}; later runs take them from the cache")

    def note(self, message: str) -> None:
        """Keep a remark for the user, once."""
        if message not in self.notes:
            self.notes.append(message)

    def warn(self, message: str) -> None:
        """Keep a warning for the user, once; one that counts adds to another one of the same thing."""
        with self.lock:
            if isinstance(message, CountedWarning):
                for place, other in enumerate(self.warnings):
                    if merged := message.merged(other):
                        self.warnings[place] = merged
                        return
            if message not in self.warnings:
                self.warnings.append(message)

    @property
    def shown_warnings(self) -> tuple[str, ...]:
        """The warnings as users see them, with their codes."""
        return tuple(printable(redacted(messages.with_code(warning, warning))) for warning in self.warnings)

    @property
    def shown_notes(self) -> tuple[str, ...]:
        """The remarks as users see them."""
        return tuple(one_line(redacted(note)) for note in self.notes)


_NOTED: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Make `recorder` the one that `note` writes to."""
    token = _NOTED.set(recorder)
    try:
        yield recorder
    finally:
        _NOTED.reset(token)


@contextmanager
def compiling() -> Iterator[None]:
    """Count a kernel that the run needs, and the seconds of the block, for which it waits."""
    recorder, start = _NOTED.get(), time.perf_counter()
    try:
        yield
    finally:
        if recorder is not None:
            recorder.compiled += 1
            recorder.compile_seconds += time.perf_counter() - start


def show_progress(origin: Origin, done: int, of: int) -> None:
    """Show what the run that is under way is at, if there is one."""
    recorder = _NOTED.get()
    if recorder is not None:
        recorder.progress(origin, done, of)


def note(message: str) -> None:
    """Leave a remark for the user of the run that is under way, if there is one."""
    recorder = _NOTED.get()
    if recorder is not None:
        recorder.note(message)


def warn(message: str) -> None:
    """Leave a warning for the user of the run that is under way, if there is one."""
    recorder = _NOTED.get()
    if recorder is not None:
        recorder.warn(message)

"""Partitions of sources read ahead: while one is computed, a thread reads the one that will be asked for next."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from gpuetl.backends.backend import Frame
from gpuetl.errors import OutOfMemory
from gpuetl.executors.runner import Runner
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, matching
from gpuetl.plan.graph import walk_graph


@dataclass(frozen=True)
class _Reading:
    """A partition that is being read, or was; its frame is None where there was not enough memory."""

    place: int
    frame: Future[Frame | None]


class ReadAhead:
    """Reads the partitions of a plan's sources: what is asked for, and then the next one, before it is asked for.

    At most one partition is there that nobody has asked for yet.  An error is raised when its partition is asked for.
    Where memory runs out, what was read is let go of, and read again when it is asked for; no more is read ahead.

    Parameters
    ----------
    runner
        Reads what was not read ahead.
    roots
        The roots of the plan, in the order in which they are computed.
    """

    def __init__(self, runner: Runner, roots: Sequence[Physical]) -> None:
        self.runner = runner
        self.runner.guard.frees.append(self.let_go)
        self.in_thread = Runner(runner.backend, runner.recorder)  # the other's guard spills what the run works with
        self.order = list(scans_in_order(roots))
        self.places = {(id(scan), index): place for place, (scan, index) in enumerate(self.order)}
        self.threads = ThreadPoolExecutor(1, "gpuetl-reader", runner.backend.thread_setup())
        self.reading: _Reading | None = None
        self.enough = True

    def scan(self, scan: Scan, index: int) -> Frame:
        """Return one partition of a source, and begin to read the next one."""
        place = self.places.get((id(scan), index))
        if place is None:
            return self.runner.scan(scan, index)
        frame = self.taken(place)
        if frame is None:
            frame = self.runner.scan(scan, index)
        self.begin(place + 1)
        return frame

    def taken(self, place: int) -> Frame | None:
        """Return a partition if it was read ahead, and wait for it; another one that was is not wanted any more."""
        reading, self.reading = self.reading, None
        if reading is None or reading.place != place:
            return None
        start = time.perf_counter()
        try:
            return reading.frame.result()
        finally:
            scan, _ = self.order[place]
            work = self.runner.recorder.of(scan.read, scan.origin, None)
            work.waited = (work.waited or 0.0) + time.perf_counter() - start

    def begin(self, place: int) -> None:
        """Begin to read a partition, if there is one, for the run that is under way in this thread."""
        if place < len(self.order) and self.enough:
            self.reading = _Reading(place, self.threads.submit(copy_context().run, self.read, place))

    def read(self, place: int) -> Frame | None:
        """Read a partition."""
        try:
            return self.in_thread.scan(*self.order[place])
        except OutOfMemory:
            self.enough = False
            return None

    def let_go(self) -> str:
        """Hold nothing that was read ahead, nor what is being read; nothing hinders that."""
        reading, self.reading, self.enough = self.reading, None, False
        if reading is not None and not reading.frame.cancel():
            wait([reading.frame])
        return ""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of what was read, and end the thread."""
        self.let_go()
        self.threads.shutdown()


def scans_in_order(roots: Sequence[Physical]) -> Iterator[tuple[Scan, int]]:
    """Yield the partitions of sources that have several, in the order in which the local executor asks for them.

    Those of which an exchange takes no more rows than it wants are left out: they may never be asked for.
    """
    seen: set[tuple[int, int]] = set()
    for root in roots:
        for node in walk_graph(root):
            if isinstance(node, Exchange):
                found = scans_below(node.source, seen)
                yield from found if node.limit is None else ()
        yield from scans_below(root, seen)


def scans_below(root: Physical, seen: set[tuple[int, int]]) -> list[tuple[Scan, int]]:
    """Return the partitions of sources that a fragment reads for all of its own, but for those `seen` before."""
    found: list[tuple[Scan, int]] = []
    for at in range(root.partitions):
        stack: list[tuple[Physical, int]] = [(root, at)]
        while stack:
            node, index = stack.pop()
            if (id(node), index) in seen:
                continue
            seen.add((id(node), index))
            if isinstance(node, Scan):
                found += [(node, index)] if node.partitions > 1 else []
            elif isinstance(node, Concat):
                stack.append(node.part(index))
            elif isinstance(node, Map):
                stack += [(child, matching(child, index)) for child in reversed(node.inputs)]
    return found

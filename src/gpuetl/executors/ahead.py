"""Partitions of sources read ahead: while one is computed, threads read those that will be asked for next."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from types import TracebackType
from typing import Self

from gpuetl.engines.interface import Frame
from gpuetl.errors import OutOfMemory
from gpuetl.executors.runner import Runner
from gpuetl.lost_device import is_lost
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, matching
from gpuetl.plan.graph import walk_graph

THREADS = 4
"""Read at a time: more would wait for the same link."""


class ReadAhead:
    """Reads the partitions of a plan's sources: what is asked for, and those that come next, before they are asked for.

    An error is raised when its partition is asked for.  Where memory runs out, what was read is let go of, and read
    again when it is asked for; no more is read ahead.

    Parameters
    ----------
    runner
        Reads what was not read ahead.
    roots
        The roots of the plan, in the order in which they are computed.
    most
        So many partitions may be there that nobody has asked for yet.  With one, sources of one partition are left to
        who asks for them, and nothing is read before the first is asked for; with more, reading begins at once.
    """

    def __init__(self, runner: Runner, roots: Sequence[Physical], most: int = 1) -> None:
        self.runner, self.most = runner, most
        self.runner.guard.frees.append(self.let_go)
        self.in_thread = Runner(runner.backend, runner.recorder)  # the other's guard spills what the run works with
        self.order = [found for found in scans_in_order(roots) if most > 1 or found[0].partitions > 1]
        self.places = {(id(scan), index): place for place, (scan, index) in enumerate(self.order)}
        self.setup = runner.backend.thread_setup()
        self.reading: dict[int, Future[Frame | None]] = {}
        self.next = 0
        self.enough = True

    def scan(self, scan: Scan, index: int) -> Frame:
        """Return one partition of a source, and begin to read those that come next."""
        place = self.places.get((id(scan), index))
        if place is None:
            return self.runner.scan(scan, index)
        self.next = max(self.next, place + 1)
        start = time.perf_counter()
        frame = self.take(place)
        if frame is None:
            frame = self.runner.scan(scan, index)
        work = self.runner.recorder.of(scan.read, scan.origin)
        work.waited = (work.waited or 0.0) + time.perf_counter() - start
        self.begin(place + 1 + self.most)
        return frame

    def take(self, place: int) -> Frame | None:
        """Return a partition if it was read ahead, and wait for it."""
        reading = self.reading.pop(place, None)
        return None if reading is None else reading.result()

    def begin(self, end: int) -> None:
        """Begin to read what comes before a place, for the run that is under way in this thread."""
        while self.enough and self.next < min(end, len(self.order)):
            place, self.next = self.next, self.next + 1
            self.reading[place] = readers().submit(copy_context().run, self.read, place)

    def read(self, place: int) -> Frame | None:
        """Read a partition; None where there is not enough memory."""
        if not self.enough:
            return None
        self.setup()
        try:
            return self.read_within_limit(*self.order[place])
        except OutOfMemory:
            self.enough = False
            return None

    def read_within_limit(self, scan: Scan, index: int) -> Frame | None:
        """Read a partition; None where a limit leaves no room for it now."""
        if (budget := self.runner.budget) is None:
            return self.in_thread.scan(scan, index)
        with budget.room(id(scan)) as fits:
            return self.in_thread.scan(scan, index) if fits else None

    def let_go(self) -> str:
        """Hold nothing that was read ahead, nor what is being read; nothing hinders that."""
        reading, self.reading, self.enough = self.reading, {}, False
        if is_lost():  # who reads may wait for ever
            return ""
        wait([future for future in reading.values() if not future.cancel()])
        return ""

    def __enter__(self) -> Self:
        """Begin to read, where all sources may be read at once; return itself."""
        if self.most > 1:
            self.begin(self.most)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of what was read, and wait for what is being read."""
        self.let_go()


@cache
def readers() -> ThreadPoolExecutor:
    """Return the threads that read ahead for all runs of the process: to begin and end some takes as long as a step."""
    return ThreadPoolExecutor(THREADS, "gpuetl-reader")


os.register_at_fork(after_in_child=readers.cache_clear)


def scans_in_order(roots: Sequence[Physical]) -> Iterator[tuple[Scan, int]]:
    """Yield the partitions of sources in the order in which the local executor asks for them.

    Sources below an exchange that takes a limited number of rows are left out: their partitions may never be needed.
    """
    seen_scans: set[tuple[int, int]] = set()
    for root in roots:
        for node in walk_graph(root):
            if isinstance(node, Exchange):
                found = scans_below(node.source, seen_scans)
                yield from found if node.limit is None else ()
        yield from scans_below(root, seen_scans)


def scans_below(root: Physical, seen_scans: set[tuple[int, int]]) -> list[tuple[Scan, int]]:
    """Return the partitions of sources that a fragment reads for all of its own, but for those `seen` before."""
    found: list[tuple[Scan, int]] = []
    for at in range(root.partitions):
        stack: list[tuple[Physical, int]] = [(root, at)]
        while stack:
            node, index = stack.pop()
            if (id(node), index) in seen_scans:
                continue
            seen_scans.add((id(node), index))
            if isinstance(node, Scan):
                found.append((node, index))
            elif isinstance(node, Concat):
                stack.append(node.part(index))
            elif isinstance(node, Map):
                stack += [(child, matching(child, index)) for child in reversed(node.inputs)]
    return found

"""The memory of a run: its capacity, its budget, and what is done when it runs out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Protocol, TypeVar

from gpuetl.engines.interface import Backend
from gpuetl.errors import OutOfMemory
from gpuetl.memory_limits import allocation_text, done_again, is_out_of_memory, let_go
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder
from gpuetl.units import size

# A limit of memory that no allocator keeps: before each step, room is made for what the step is expected to take.


class Meter(Protocol):
    """Measures what a run takes."""

    def __call__(self) -> int:
        """Return the bytes that it takes now."""

    def highest(self) -> int:
        """Return the most bytes that it took so far."""


Free = Callable[[], bool]
"""Frees some memory; tells whether there may be more to free."""


AIMED_SHARE = 0.9
"""Of a limit, what is aimed at: some steps take more than is expected of them."""


class Budget:
    """Makes room for steps under a limit.  It is asked before a step and never refuses one: planning did what it could.

    Threads may reserve what they are about to take.

    Parameters
    ----------
    limit
        The bytes that the run may take.
    meter
        Tells what it takes.
    needs
        What each step is expected to take beside its inputs, by the identity of its node.
    """

    def __init__(self, limit: int, meter: Meter, needs: Mapping[int, int]) -> None:
        self.limit, self.meter, self.needs = limit, meter, needs
        self.frees: list[Free] = []
        self.reserved = 0
        self.lock = Lock()

    def lacks(self, size: int) -> int:
        """Return by how many bytes the limit would be exceeded with these bytes more."""
        return max(0, self.meter() + self.reserved + size - int(self.limit * AIMED_SHARE))

    def highest(self) -> int:
        """Return the most bytes that the run took so far."""
        return self.meter.highest()

    @contextmanager
    def freed_for(self, step: int) -> Iterator[None]:
        """Free memory until a step fits, or nothing is left to free; reserve what it takes while the block lasts.

        Threads that begin meanwhile would else take the same room.  What the step has taken already counts twice then,
        so they wait rather than exceed the limit.
        """
        size = self.needs.get(step, 0)
        self.make_room(size)
        with self.reserving(size):
            yield

    def make_room(self, size: int) -> None:
        """Free memory until these bytes fit, or nothing is left to free."""
        for free in self.frees:
            while self.lacks(size):
                if not free():
                    break

    @contextmanager
    def room(self, step: int) -> Iterator[bool]:
        """Reserve what a thread's step is expected to take while the block lasts; give whether there is room."""
        size = self.needs.get(step, 0)
        with self.lock:
            fits = not self.lacks(size)
            self.reserved += size * fits
        try:
            yield fits
        finally:
            with self.lock:
                self.reserved -= size * fits

    @contextmanager
    def reserving(self, size: int) -> Iterator[None]:
        """Reserve bytes while the block lasts, even beyond the limit."""
        with self.lock:
            self.reserved += size
        try:
            yield
        finally:
            with self.lock:
                self.reserved -= size


# Out of memory: what waits is spilled, what idles is freed, and the step is done once more.


Result = TypeVar("Result")


class Guard:
    """Does steps, which may be done again.

    Parameters
    ----------
    backend
        The one that does the steps.
    frees
        Give memory back; they return what hindered them from it, if anything.
    """

    def __init__(self, backend: Backend, *frees: Callable[[], str]) -> None:
        self.backend, self.frees = backend, list(frees)

    def run(self, origin: Origin, step: Callable[[], Result], rows: int = 0) -> Result:
        """Return what a step gives; do it again where memory runs out the first time.

        Raises
        ------
        OutOfMemory
            With the step and what was asked for, where it did not suffice the second time either; `rows` tell whether
            smaller partitions gave the step fewer.
        """
        hindered: list[str] = []
        try:
            return done_again(step, lambda: hindered.append(self.free()))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            described_error = ";  ".join(filter(None, (self.described(error), *hindered)))
            let_go(error)
        raise OutOfMemory.during(origin, described_error, rows)

    def free(self) -> str:
        """Free what can be freed; return what hindered that."""
        hindered = [free() for free in self.frees]
        self.backend.release()
        return ";  ".join(filter(None, hindered))

    def described(self, error: BaseException) -> str:
        """Say what was asked for, where the error tells, and what was in use then."""
        use = self.backend.memory_use()
        return f"{allocation_text(error)}{size(use.in_use)} in use of {size(use.limit)}"


# A run that is out of memory begins again, with smaller partitions.


SHARE = 4
"""Partitions get a quarter of the rows: half would be nearer to what fits, and take twice as many attempts."""


def run_until_fit(
    physical: PhysicalPlan,
    lowered: Callable[[int], PhysicalPlan],
    execute: Callable[[PhysicalPlan], Result],
    recorder: Recorder,
    seconds: dict[str, float],
) -> tuple[PhysicalPlan, Result]:
    """Execute a plan, again with smaller partitions where memory runs out; return the plan that fitted, and its result.

    Nothing was committed, and operations are functions of their rows: another plan for the same rows does what one
    operation in smaller parts could not do, since it aggregates in phases and exchanges what must meet.

    Parameters
    ----------
    physical
        The first plan to try.
    lowered
        Gives the plan in which partitions of sources have at most so many rows.
    execute
        Leaves nothing behind where it fails.
    recorder
        Begins anew with each attempt, but for its notes.
    seconds
        Gets the wall time of the attempts that were in vain.

    Raises
    ------
    OutOfMemory
        Where the step that it was raised in would get as many rows of smaller partitions, or there are none.
    """
    before: OutOfMemory | None = None
    while True:
        start = time.perf_counter()
        try:
            return physical, execute(physical)
        except Exception as error:
            if not (isinstance(error, OutOfMemory) or is_out_of_memory(error)):
                raise
            let_go(error)
            failed = error if isinstance(error, OutOfMemory) else OutOfMemory.during("run", str(error))
        seconds["out of memory"] = seconds.get("out of memory", 0.0) + time.perf_counter() - start
        rows = fewer_rows(physical, failed, before)
        recorder.begin_again(f"{failed.what}: begun again with partitions of at most {rows:,} rows of a source")
        before, physical = failed, lowered(rows)


def fewer_rows(physical: PhysicalPlan, failed: OutOfMemory, before: OutOfMemory | None) -> int:
    """Return how many rows partitions shall have; raise the error, with what to do, where fewer do not help."""
    if failed.gathered or (before and before.where == failed.where and 0 < before.rows <= failed.rows):
        raise failed.advised("Smaller partitions give this step no fewer rows.  Give it fewer before, or fewer columns")
    scans = (node for node in walk_graph(*physical.roots) if isinstance(node, Scan))
    parts = [part for scan in scans for part in scan.parts if len(part) > 1]
    if not parts:
        raise failed.advised(
            "Partitions are single row groups.  Write the sources in smaller row groups, or read fewer columns"
        )
    return max(1, max(sum(max(group.rows, 0) for group in part) for part in parts) // SHARE)

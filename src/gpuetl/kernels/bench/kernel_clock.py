"""Clocks: how long calls take on the host, and a user's kernels on the device."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from gpuetl.engines.cudf.machine import Machine, Module
from gpuetl.records import dataclass

REPEATS = 7
LEAST_REPEATS = 3
LONGEST_FIRST = 20
"""Budgets that a first call may take, which compiles kernels: a longer one is not repeated."""


@dataclass(frozen=True)
class Seconds:
    """The times of some calls."""

    all: tuple[float, ...]

    @property
    def least(self) -> float:
        """The shortest one."""
        return min(self.all)

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.all)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"min_s": self.least, "median_s": self.median, "runs": len(self.all)}


def timed(work: Callable[[], object], budget_s: float, warm: bool = False) -> Seconds:
    """Time a call `REPEATS` times, or `LEAST_REPEATS` times where the budget is used up; the first call does not count.

    After a first call that takes more than the budget there is one more.  After one that takes 20 times the budget
    there is none, and the first one counts.  So does a first call that takes more than the budget where all is `warm`:
    the same was called before on as many rows.
    """
    found, first = list[float](), seconds_of(work)
    if first > (budget_s if warm else LONGEST_FIRST * budget_s):
        return Seconds((first,))
    least = LEAST_REPEATS if first <= budget_s else 1
    while len(found) < least or (len(found) < REPEATS and sum(found) + first < budget_s):
        found.append(seconds_of(work))
    return Seconds(tuple(found))


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall time of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class ClockedMachine:
    """A machine that measures on the device what users' kernels take, as long as `on` is set."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.on = machine, False
        self.users: list[Module] = []
        self.spans: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        """Return what is not measured."""
        return getattr(self.machine, name)

    @contextmanager
    def launched(self, user: bool) -> Iterator[None]:
        """Mark the device's work for a launch in the block."""
        if not (user and self.on):
            yield
            return
        start = self.machine.record_event()
        yield
        self.spans.append((start, self.machine.record_event()))

    def user_module(self, source: str, kernel: str) -> Module:
        """Remember the module: its launches are the user's."""
        module = self.machine.user_module(source, kernel)
        if not any(module is known for known in self.users):
            self.users.append(module)
        return module

    def launch(self, module: Module, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Measure a launch."""
        with self.launched(any(module is known for known in self.users)):
            self.machine.launch(module, entry, rows, arguments)

    def launch_blocks(self, module: Module, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Measure a launch."""
        with self.launched(any(module is known for known in self.users)):
            self.machine.launch_blocks(module, entry, blocks, threads, arguments)

    def user_kernel(self, *program: Any) -> Callable[..., None]:
        """Measure each launch of a kernel in a file."""
        kernel = self.machine.user_kernel(*program)

        def launch(*arguments: Any) -> None:
            with self.launched(user=True):
                kernel(*arguments)

        return launch

    def triton_kernel(self, *program: Any) -> Callable[..., None]:
        """Measure each launch of a Triton kernel."""
        kernel = self.machine.triton_kernel(*program)

        def launch(*arguments: Any) -> None:
            with self.launched(user=True):
                kernel(*arguments)

        return launch

    def device_seconds(self) -> float | None:
        """Return what the kernels took since the last call; None where none was launched."""
        spans, self.spans = self.spans, []
        return sum(self.machine.seconds_between(*span) for span in spans) if spans else None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Measure in the block."""
        self.on, self.spans = True, []
        try:
            yield
        finally:
            self.on = False


def clocked(machine: Machine) -> tuple[Machine, ClockedMachine]:
    """Return a machine that measures users' kernels, and the same as what is asked for the times."""
    clock = ClockedMachine(machine)
    return cast(Machine, clock), clock

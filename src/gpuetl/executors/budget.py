"""A limit of memory that no allocator keeps: before each step, room is made for what the step is expected to take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Protocol


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
        """Return how many bytes too many would be taken with so many more."""
        return max(0, self.meter() + self.reserved + size - int(self.limit * AIMED_SHARE))

    def highest(self) -> int:
        """Return the most bytes that the run took so far."""
        return self.meter.highest()

    @contextmanager
    def making_room_for(self, step: int) -> Iterator[None]:
        """Free memory until a step fits, or nothing is left to free; reserve what it takes while the block lasts.

        Threads that begin meanwhile would else take the same room.  What the step has taken already counts twice then,
        so they wait rather than exceed the limit.
        """
        size = self.needs.get(step, 0)
        self.make_room(size)
        with self.reserving(size):
            yield

    def make_room(self, size: int) -> None:
        """Free memory until so many bytes more fit, or nothing is left to free."""
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
        """Reserve so many bytes while the block lasts, whether there is room or not."""
        with self.lock:
            self.reserved += size
        try:
            yield
        finally:
            with self.lock:
                self.reserved -= size

"""Admission control for the tasks of a worker with a GPU: one reads, one computes, and two write files.

Dask gives such a worker one thread.  A task hands the thread to the next one when it begins to read or to write.  It
acquires its next slot before it releases the one that it has.  So there are never more tasks than slots, and a task
waits only for tasks in later slots.
"""

from __future__ import annotations

from collections import Counter
from threading import Condition
from types import TracebackType
from typing import Literal, Self

from distributed import secede
from distributed.threadpoolexecutor import thread_state

from gpuetl.io.staging import TABLES_IN_FLIGHT

Kind = Literal["reading", "computing", "writing"]
MOST: dict[Kind, int] = {"reading": 1, "computing": 1, "writing": TABLES_IN_FLIGHT}


class SlotCounts:
    """How many slots of each kind are in use in this process, and the task that must run without others."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.in_use: Counter[Kind] = Counter()
        self.exclusive: TaskSlot | None = None

    def acquire(self, kind: Kind, slot: TaskSlot) -> None:
        """Wait until there is room for one more task, and count it."""
        with self.changed:
            self.changed.wait_for(lambda: self.in_use[kind] < MOST[kind] and self.exclusive in (None, slot))
            self.in_use[kind] += 1

    def release(self, kind: Kind, slot: TaskSlot) -> None:
        """Make room for another task."""
        with self.changed:
            self.in_use[kind] -= 1
            if self.exclusive is slot:
                self.exclusive = None
            self.changed.notify_all()

    def run_alone(self, slot: TaskSlot) -> None:
        """Let no other task begin to read or to write, until this one has computed; wait for files that are written."""
        with self.changed:
            self.exclusive = slot
            self.changed.wait_for(lambda: not self.in_use["writing"])


SLOTS = SlotCounts()


class TaskSlot:
    """The slot that a task has: first none, then those to read, to compute and to write; a task may skip some.

    Parameters
    ----------
    shares
        Whether other tasks run at the same time; if not, the task keeps its thread, and never waits.
    reads_ahead
        Whether there is memory for what one task reads while another one computes.
    """

    def __init__(self, is_concurrent: bool, reads_ahead: bool) -> None:
        self.is_concurrent, self.reads_ahead = is_concurrent, reads_ahead
        self.kind: Kind | None = None
        self.has_thread = True

    def read(self) -> None:
        """Read, and leave the thread to the next task; once it computes, a task reads as a part of that."""
        if not self.reads_ahead:
            self.compute()
        elif self.kind is None:
            self.move_to("reading")
            self.free_thread()

    def compute(self) -> None:
        """Compute, when no other task does."""
        if self.kind in (None, "reading"):
            self.move_to("computing")

    def write(self) -> None:
        """Write, and leave the thread to the next task."""
        self.move_to("writing")
        self.free_thread()

    def make_room(self) -> str:
        """Wait until no other task needs more memory than it has, and hold those up that would; return nothing.

        A task that reads waits for the computing slot.  A task that writes does not wait.
        """
        if self.is_concurrent and self.kind != "writing":
            self.compute()
            SLOTS.run_alone(self)
        return ""

    def move_to(self, kind: Kind | None) -> None:
        """Acquire a slot, and then release the one before."""
        if not self.is_concurrent:
            return
        if kind is not None:
            SLOTS.acquire(kind, self)
        before, self.kind = self.kind, kind
        if before is not None:
            SLOTS.release(before, self)

    def free_thread(self) -> None:
        """Let the worker begin its next task, where its threads are dask's own."""
        if self.is_concurrent and self.has_thread and hasattr(thread_state, "executor"):
            self.has_thread = False
            secede()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Release the slot that the task has."""
        self.move_to(None)

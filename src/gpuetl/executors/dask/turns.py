"""What tasks of a worker with a GPU do side by side: one reads, one computes, and files of two are written.

Dask gives such a worker one thread, which a task leaves to the next one when it begins to read, or to write.  It takes
the next turn before it gives up the one that it has: so no more tasks have begun than there are turns, and each waits
for those alone that are further on.
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


class Turns:
    """How many tasks of this process have which turn, and the one that computes where no other may begin anything."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.taken: Counter[Kind] = Counter()
        self.alone: Turn | None = None

    def take(self, kind: Kind, turn: Turn) -> None:
        """Wait until there is room for one more task, and count it."""
        with self.changed:
            self.changed.wait_for(lambda: self.taken[kind] < MOST[kind] and self.alone in (None, turn))
            self.taken[kind] += 1

    def give_up(self, kind: Kind, turn: Turn) -> None:
        """Make room for another task."""
        with self.changed:
            self.taken[kind] -= 1
            if self.alone is turn:
                self.alone = None
            self.changed.notify_all()

    def leave_alone(self, turn: Turn) -> None:
        """Let no other task begin to read or to write, until this one has computed; wait for files that are written."""
        with self.changed:
            self.alone = turn
            self.changed.wait_for(lambda: not self.taken["writing"])


TURNS = Turns()


class Turn:
    """The turn that a task has: first none, then to read, to compute and to write; some it may do without.

    Parameters
    ----------
    shares
        Whether it is one of several tasks side by side; else it keeps its thread, and waits for nobody.
    reads_ahead
        Whether there is memory for what one task reads while another one computes.
    """

    def __init__(self, shares: bool, reads_ahead: bool) -> None:
        self.shares, self.reads_ahead = shares, reads_ahead
        self.kind: Kind | None = None
        self.has_thread = True

    def read(self) -> None:
        """Read, and leave the thread to the next task; once it computes, a task reads as a part of that."""
        if not self.reads_ahead:
            self.compute()
        elif self.kind is None:
            self.go_on("reading")
            self.leave_thread()

    def compute(self) -> None:
        """Compute, when no other task does."""
        if self.kind in (None, "reading"):
            self.go_on("computing")

    def write(self) -> None:
        """Write, and leave the thread to the next task."""
        self.go_on("writing")
        self.leave_thread()

    def make_room(self) -> str:
        """Wait until no other task needs more memory than it has, and hold those up that would; return nothing.

        Who reads waits for the one that computes, and goes on as that one.  Who writes waits for nobody.
        """
        if self.shares and self.kind != "writing":
            self.compute()
            TURNS.leave_alone(self)
        return ""

    def go_on(self, kind: Kind | None) -> None:
        """Take a turn, and then give up the one before."""
        if not self.shares:
            return
        if kind is not None:
            TURNS.take(kind, self)
        before, self.kind = self.kind, kind
        if before is not None:
            TURNS.give_up(before, self)

    def leave_thread(self) -> None:
        """Let the worker begin its next task, where its threads are dask's own."""
        if self.shares and self.has_thread and hasattr(thread_state, "executor"):
            self.has_thread = False
            secede()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give up whatever turn it has."""
        self.go_on(None)

"""Sinks that one plan of a run has written, and that are committed together with those of its next plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import field
from types import TracebackType

from gpuetl.io.staging import SinkWriter, close_writers
from gpuetl.places.publishing import StagedSink
from gpuetl.records import dataclass


@dataclass
class DeferredSinks:
    """Writers of sinks that are written and not committed; what they staged is removed at the end of the block.

    Parameters
    ----------
    writers
        All of them, in the order in which the plans have written them.
    state
        What the pipeline remembers, which is committed with the sinks.
    others
        Those whose files a later plan reads.
    threads
        Threads of writers, which have ended.
    """

    writers: dict[str, SinkWriter] = field(default_factory=dict)
    state: list[StagedSink] = field(default_factory=list)
    others: list[SinkWriter] = field(default_factory=list)
    threads: Executor | None = None

    def take(self, writers: Mapping[str, SinkWriter], state: Sequence[StagedSink], threads: Executor) -> None:
        """Take over what a plan has written."""
        self.writers |= writers
        self.state += state
        self.threads = threads

    def set_aside(self, names: Iterable[str]) -> dict[str, SinkWriter]:
        """Return writers whose files are read by a later plan, and not committed."""
        found = {name: self.writers.pop(name) for name in names}
        self.others += found.values()
        return found

    def reorder(self, names: Sequence[str]) -> dict[str, SinkWriter]:
        """Return the writers in the order in which the pipeline has them, which is that of the commit."""
        self.writers = {name: self.writers[name] for name in names}
        return self.writers

    def __enter__(self) -> DeferredSinks:
        """Begin to take over."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Remove what is not committed."""
        if self.threads is not None:
            close_writers(self.others, self.threads)
            close_writers([*self.writers.values(), *self.state], self.threads)

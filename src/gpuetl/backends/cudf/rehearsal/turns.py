"""Kernels that several processes expect, which share a cache: each begins with some of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from gpuetl.backends.backend import Share
from gpuetl.backends.cudf.rehearsal.expected import Expected


class InTurns:
    """Expected kernels of which each process tells the own ones at once, others' at the end.

    These are in the cache then; those that are not, because another process is slow or gone, are compiled here.
    Processes rehearse the same plan over the same rows, so that they number kernels alike; where they do not, some are
    compiled twice.
    """

    def __init__(self, expected: Expected, share: Share) -> None:
        self.expected, self.share = expected, share
        self.sources: set[str] = set()
        self.named = 0
        self.later: list[Callable[[], None]] = []

    def source(self, source: str) -> None:
        """Expect a text."""
        if source not in self.sources:
            self.sources.add(source)
            self.name(partial(self.expected.source, source))

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        """Expect a user's kernel."""
        self.name(partial(self.expected.user_kernel, source, path, entry))

    def name(self, expect: Callable[[], None]) -> None:
        """Number a kernel; it is expected now or at the end."""
        if self.named % self.share.of == self.share.place:
            expect()
        else:
            self.later.append(expect)
        self.named += 1

    def end(self) -> None:
        """Expect the others' kernels, and wait for all."""
        for expect in self.later:
            expect()
        self.expected.end()

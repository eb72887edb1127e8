"""How far a long look at the files of a source is: at its folders, at the metadata of its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

EVERY_S = 0.2
"""How often a look reports how far it is."""
Report = Callable[[str, str, int, int], None]
"""Takes what is looked at, the source's path, how many are done, and all that are known so far."""
_REPORT: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def watching(report: Report) -> Iterator[None]:
    """Call `report` while the block looks at files: every `EVERY_S`, and at the end of a look that took longer."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


class Look:
    """One look at `what` of a source, such as `folders below` its path, which began when this was made."""

    def __init__(self, what: str, path: str) -> None:
        self.what, self.path = what, path
        self._reported, self._is_shown = time.monotonic(), False

    def at(self, done: int, of: int) -> None:
        """Report how many are done if it is time."""
        if time.monotonic() - self._reported > EVERY_S:
            self._reported, self._is_shown = time.monotonic(), True
            self._report(done, of)

    def end(self, count: int) -> None:
        """Report that all are done, if that some are was reported."""
        if self._is_shown:
            self._report(count, count)

    def _report(self, done: int, of: int) -> None:
        if report := _REPORT.get():
            report(self.what, self.path, done, of)

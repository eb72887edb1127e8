"""A terminal line with the progress of a long scan of files, for commands that run nothing."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gpuetl.messages import printable, redacted
from gpuetl.places.watching import watching

AFTER_S = 2.0
"""The line appears when the command has taken this long."""
CLEAR_LINE = "\r\x1b[K"


@contextmanager
def scan_progress() -> Iterator[None]:
    """Show the progress of scans of files in the block on stderr, if that is a terminal; remove it at the end."""
    if not sys.stderr.isatty():
        yield
        return
    line = _Line()
    try:
        with watching(line):
            yield
    finally:
        line.clear()


class _Line:
    """Draws the line, and removes it when the scan ends."""

    def __init__(self) -> None:
        self.started, self.is_drawn = time.monotonic(), False

    def __call__(self, what: str, path: str, done: int, of: int) -> None:
        if done == of:
            self.clear()
        elif time.monotonic() - self.started > AFTER_S:
            text = printable(redacted(f"  {what} {path}: {done:,} of {of:,}"))
            draw(text[: shutil.get_terminal_size().columns - 1])
            self.is_drawn = True

    def clear(self) -> None:
        """Take the line away."""
        if self.is_drawn:
            draw("")
            self.is_drawn = False


def draw(text: str) -> None:
    """Put a text in place of the terminal's line, past the stream that shows control characters as escapes."""
    write = getattr(sys.stderr, "write_raw", sys.stderr.write)
    write(CLEAR_LINE + text)
    sys.stderr.flush()

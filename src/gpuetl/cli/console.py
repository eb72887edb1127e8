"""Where a command prints: to a terminal by rich, elsewhere without it where that gives the same text.

To import rich and to draw four tables takes 0.05 s, a twentieth of a short run.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property
from sys import maxsize
from typing import TYPE_CHECKING

from gpuetl.cli.output import raw_stream
from gpuetl.cli.tables import Table
from gpuetl.messages import printable

if TYPE_CHECKING:
    from gpuetl.cli.rich_console import PlainConsole

PLAIN_WIDTH = 160
"""Of lines where there is no terminal."""
TERMINAL_VARIABLES = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""By these, users tell rich what the output is."""


class Console:
    """stdout or stderr of a command; a quiet one prints nothing."""

    def __init__(self, quiet: bool = False, stderr: bool = False) -> None:
        self.quiet = quiet
        self.stream = raw_stream(sys.stderr if stderr else sys.stdout)
        self.may_be_terminal = self.stream.isatty() or any(map(os.environ.get, TERMINAL_VARIABLES))

    @cached_property
    def rich(self) -> PlainConsole:
        """The console of rich for the same stream."""
        from gpuetl.cli.rich_console import PlainConsole

        console = PlainConsole(file=self.stream, quiet=self.quiet)
        if not console.is_terminal:
            console.width = PLAIN_WIDTH
        return console

    @property
    def is_terminal(self) -> bool:
        """Whether bars and colours can be drawn."""
        return self.may_be_terminal and not self.quiet and self.rich.is_terminal

    def print(self, what: str | Table, style: str | None = None, soft_wrap: bool = False) -> None:
        """Print lines or a table; without `soft_wrap`, longer lines than the terminal's are broken between words."""
        if self.quiet:
            return
        text = None if self.may_be_terminal else self.plain_text(what, PLAIN_WIDTH if not soft_wrap else maxsize)
        if text is not None:
            self.stream.write(text + "\n")
            self.stream.flush()
        elif isinstance(what, Table):
            from gpuetl.cli.rich_console import rich_table

            self.rich.print(rich_table(what))
        else:
            self.rich.print(what, style=style, soft_wrap=soft_wrap)

    def plain_text(self, what: str | Table, width: int = PLAIN_WIDTH) -> str | None:
        """Return the text that rich would write where there is no terminal; None where only rich knows."""
        if (getattr(self.stream, "encoding", "") or "").lower().replace("-", "") != "utf8":
            return None
        text = what.plain() if isinstance(what, Table) else printable(what)
        if text is None or not all(is_narrow(line, width) for line in text.split("\n")):
            return None
        return text


def is_narrow(line: str, width: int) -> bool:
    """Return whether a line fits, each of its characters as wide as any other."""
    known = line.isascii() or all(sign.isascii() or sign in "…─×–’µ" for sign in line)
    return known and len(line) <= width and "\t" not in line

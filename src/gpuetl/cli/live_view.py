"""The live view of a run on a terminal: a line for each source, stage and sink that has begun, redrawn in place."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from threading import Lock
from typing import TYPE_CHECKING

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gpuetl.cli.tables import cut
from gpuetl.messages import printable, redacted
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.units import duration

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

REFRESHES_PER_S = 8
NAME_WIDTH, BAR_WIDTH = 40, 24
MARGIN_LINES = 4
"""Of the terminal, for the title, and some that the view leaves alone."""


@dataclass
class Line:
    """One source, stage or sink: the partitions that its last step has done, and when it began and ended."""

    title: str
    begun_s: float
    step: int = 0
    done: int = 0
    of: int = 0
    ended_s: float | None = None

    @property
    def is_done(self) -> bool:
        """Whether all partitions have left its last step so far."""
        return self.done >= self.of

    def update(self, step: int, done: int, of: int, now_s: float) -> None:
        """Take note of progress; of several steps the last one counts."""
        if step >= self.step:
            self.step, self.done, self.of = step, done, of
        self.ended_s = now_s if self.is_done else None


@dataclass
class LiveView:
    """Draws the lines below the time since the start; called with the progress of a run, from any thread."""

    title: str = "running"
    lines: dict[tuple[str, str], Line] = field(default_factory=dict)
    spinner: Spinner = field(default_factory=lambda: Spinner("dots"))
    lock: Lock = field(default_factory=Lock)
    begun_s: float = field(default_factory=time.monotonic)

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        """Take note of progress."""
        now = time.monotonic()
        with self.lock:
            if origin.relation not in self.lines:
                title = printable(redacted(f"{origin.kind} {origin.name}"))
                self.lines[origin.relation] = Line(cut(title, NAME_WIDTH), now)
            self.lines[origin.relation].update(origin.step, done, of, now)

    def shown_lines(self, most: int) -> tuple[list[Line], int]:
        """Return the lines that there is room for, unfinished ones first, and how many others there are."""
        with self.lock:
            lines = list(self.lines.values())
        if len(lines) <= most:
            return lines, 0
        wanted = sorted(range(len(lines)), key=lambda place: (lines[place].is_done, -place))[: most - 1]
        return [lines[place] for place in sorted(wanted)], len(lines) - len(wanted)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the view."""
        now = time.monotonic()
        lines, hidden = self.shown_lines(max(2, console.size.height - MARGIN_LINES))
        table = Table.grid(padding=(0, 2))
        for side in ("left", "left", "left", "right", "right"):
            table.add_column(justify="right" if side == "right" else "left", no_wrap=True)
        spinner = self.spinner.render(console.get_time())
        table.add_row(spinner, cut(printable(self.title), NAME_WIDTH), "", "", duration(now - self.begun_s))
        for line in lines:
            mark = Text("✓", style="green") if line.is_done else spinner
            bar = ProgressBar(max(line.of, 1), line.done if line.of else 1, width=BAR_WIDTH)
            seconds = (line.ended_s or now) - line.begun_s
            time_text = duration(seconds) if seconds else ""  # it was done when it was first heard of
            table.add_row(mark, line.title, bar, f"{line.done:,}/{line.of:,}", time_text)
        if hidden:
            table.add_row("", f"… and {hidden:,} more")
        yield table


@contextmanager
def live_view(console: Console, title: str) -> Iterator[LiveView]:
    """Show a view of a run while the block lasts, and take it away at the end."""
    view = LiveView(title)
    with Live(view, console=console, refresh_per_second=REFRESHES_PER_S, transient=True):
        yield view

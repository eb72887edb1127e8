"""The live view of a run on a terminal: the whole run, and a line for each source, stage and sink, redrawn in place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gpuetl.cli.tables import cut
from gpuetl.messages import printable
from gpuetl.records import dataclass
from gpuetl.telemetry.run_progress import Line, RunProgress
from gpuetl.units import duration

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

REFRESHES_PER_S = 8
NAME_WIDTH, BAR_WIDTH = 40, 24
NARROW, NARROW_NAME_WIDTH, NARROW_BAR_WIDTH = 100, 32, 14
"""Below this width names and bars are shorter, so that 80 columns have room for counts and times."""
MARGIN_LINES = 5
"""Of the terminal, for the whole run, and some that the view leaves alone."""


@dataclass
class LiveView(RunProgress):
    """Draws the lines below what is known of the whole run."""

    spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

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
        now = self.clock()
        is_narrow = options.max_width < NARROW
        name_width, bar_width = (NARROW_NAME_WIDTH, NARROW_BAR_WIDTH) if is_narrow else (NAME_WIDTH, BAR_WIDTH)
        lines, hidden = self.shown_lines(max(2, console.size.height - MARGIN_LINES))
        spinner = self.spinner.render(console.get_time())
        title = grid("left", "left", "left")
        title.add_row(spinner, cut(printable(self.title), name_width), duration(now - self.begun_s))
        parts: list[RenderableType] = [title]
        if summary := self.summary():
            parts.append(Padding(Text(summary, no_wrap=True, overflow="ellipsis"), (0, 0, 0, 3)))
        table = grid("left", "left", "left", "right", "right")
        for line in lines:
            mark = Text("✓", style="green") if line.is_done else spinner
            bar = ProgressBar(max(line.of, 1), line.done if line.of else 1, width=bar_width)
            seconds = (line.ended_s or now) - line.begun_s
            time_text = duration(seconds) if seconds else ""  # it was done when it was first heard of
            table.add_row(mark, cut(line.title, name_width), bar, f"{line.done:,}/{line.of:,}", time_text)
        if hidden:
            table.add_row("", f"… and {hidden:,} more")
        if lines:
            parts.append(table)
        yield Group(*parts)


def grid(*sides: str) -> Table:
    """Return a table without lines, two spaces between its columns."""
    table = Table.grid(padding=(0, 2))
    for side in sides:
        table.add_column(justify="right" if side == "right" else "left", no_wrap=True)
    return table


@contextmanager
def live_view(console: Console, title: str) -> Iterator[LiveView]:
    """Show a view of a run while the block lasts, and take it away at the end."""
    view = LiveView(title)
    with Live(view, console=console, refresh_per_second=REFRESHES_PER_S, transient=True):
        yield view

"""The progress of a run in a notebook: a few lines of HTML below the cell, brought up to date while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from importlib import import_module
from threading import Event, Thread
from typing import Any

from gpuetl.messages import cut
from gpuetl.records import dataclass
from gpuetl.report.notebook_pages import page, text
from gpuetl.telemetry.recorder import Progress, WantedProgress
from gpuetl.telemetry.run_progress import Line, RunProgress
from gpuetl.units import duration

EVERY_S = 0.5
FIRST_S = 1.0
"""A shorter run shows nothing."""
NAME_CHARACTERS = 60
MOST_LINES = 12
TRACK = "display:inline-block;width:10em;height:.55em;border-radius:.3em;background:rgba(128,128,128,.25)"
BAR = "display:block;height:100%;border-radius:.3em;background:#57a62b"
Show = Callable[[str, str], None]
"""Shows HTML, and the same as text, in place of what it has shown before."""


@dataclass
class NotebookProgress(RunProgress):
    """Makes the HTML of the lines, the unfinished ones first, below what is known of the whole run."""

    def html(self) -> str:
        """Return the view of a run that goes on."""
        with self.lock:
            lines = list(self.lines.values())
        shown = sorted(lines, key=lambda line: line.is_done)[:MOST_LINES]
        shown = [line for line in lines if line in shown]
        hidden = len(lines) - len(shown)
        more = f'<p class="faint">… and {hidden:,} more</p>' if hidden else ""
        table = f"<table><tbody>{''.join(map(self.row, shown))}</tbody></table>" if shown else ""
        return page(f"<p><b>{text(self.title)}</b>, {duration(self.elapsed_s)}</p>", self.whole(), table, more)

    def whole(self) -> str:
        """Return what is known of the whole run."""
        summary = self.summary()
        return f'<p style="font-variant-numeric:tabular-nums">{text(summary)}</p>' if summary else ""

    def row(self, line: Line) -> str:
        """Return the line of a source, stage or sink."""
        share = 100 * line.done / line.of if line.of else 100
        bar = f'<span style="{TRACK}"><span style="{BAR};width:{share:.0f}%"></span></span>'
        seconds = (line.ended_s or self.clock()) - line.begun_s
        cells = (
            ("", "✓" if line.is_done else ""),
            ("", text(cut(line.title, NAME_CHARACTERS))),
            ("", bar),
            (' class="number"', f"{line.done:,}/{line.of:,}"),
            (' class="number"', duration(seconds) if seconds else ""),
        )
        return f"<tr>{''.join(f'<td{kind}>{cell}</td>' for kind, cell in cells)}</tr>"

    def plain(self) -> str:
        """Return the view as one line of text, for notebooks without HTML."""
        return ", ".join(filter(None, (f"{self.title}: {duration(self.elapsed_s)}", self.summary())))

    def end(self, word: str) -> str:
        """Return what stays of the view: `run of sales: done in 12.4 s`."""
        return f"{self.title}: {word} {duration(self.elapsed_s)}"


@contextmanager
def shown_progress(wanted: WantedProgress, title: str) -> Iterator[Progress | None]:
    """Give what receives the progress of a run: what the user wants, in a Jupyter notebook by default a view."""
    if wanted is None and in_jupyter():
        with notebook_progress(title) as progress:
            yield progress
    else:
        yield wanted or None


def in_jupyter() -> bool:
    """Tell whether a kernel of a notebook runs this; IPython in a terminal cannot draw HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def notebook_progress(title: str, show: Show | None = None) -> Iterator[NotebookProgress]:
    """Show progress below the cell while the block lasts, from a thread; a line stays at the end."""
    progress, ended, update = NotebookProgress(title), Event(), show or new_display()
    shown = False

    def work() -> None:
        nonlocal shown
        wait_s = FIRST_S
        while not ended.wait(wait_s):
            update(progress.html(), progress.plain())
            shown, wait_s = True, EVERY_S

    thread = Thread(target=copy_context().run, args=(work,), name="gpuetl-progress", daemon=True)
    thread.start()
    word = "failed after"
    try:
        yield progress
        word = "done in"
    finally:
        ended.set()
        thread.join()
        if shown:
            line = progress.end(word)
            update(page(f'<p class="faint">{text(line)}</p>'), line)


def new_display() -> Show:
    """Return what shows HTML below the cell that runs now, each time in place of the last."""
    display: Any = import_module("IPython.display").display
    handles: list[Any] = []

    def show(html: str, plain: str) -> None:
        data = {"text/html": html, "text/plain": plain}
        if handles:
            handles[0].update(data, raw=True)
        else:
            handles.append(display(data, raw=True, display_id=True))

    return show

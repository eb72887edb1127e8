"""Terminals drawn by rich: colours, bars, and lines that are broken between words."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console as RichConsole
from rich.table import Table as RichTable
from rich.text import Text

from gpuetl.cli.tables import Table
from gpuetl.messages import printable


class PlainConsole(RichConsole):
    """A terminal that shows each text as it is: no markup, no emoji, and escapes for control characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return what is drawn of a text, also of one in a table."""
        return super().render_str(printable(text), **options)


def rich_table(table: Table) -> RichTable:
    """Return a table as rich draws it."""
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for name, side in table.columns:
        drawn.add_column(name, justify=side, overflow="fold")
    for cells, style in table.rows:
        drawn.add_row(*cells, style=style)
    return drawn

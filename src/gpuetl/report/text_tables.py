"""Rows and schemas as aligned lines of text: what tables and results show in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

import pyarrow as pa

from gpuetl.messages import cut, one_line
from gpuetl.types.data_types import is_number, type_name
from gpuetl.types.schema import Schema
from gpuetl.value_texts import values_of

CELL_CHARACTERS = 32
LINE_CHARACTERS = 120
NULL = "null"


def rows_text(table: pa.Table, total: int) -> str:
    """Return rows as text, with names and types above them and the number of all rows below."""
    columns = [column_cells(table, number) for number in range(table.num_columns)]
    shown = columns[: columns_in(columns, LINE_CHARACTERS)]
    lines = aligned(shown, [is_number(field.type) for field in table.schema])
    return "\n".join([*lines, count_text(table.num_rows, total, len(columns) - len(shown))]).strip("\n")


def column_cells(table: pa.Table, number: int) -> list[str]:
    """Return the cells of a column below each other: its name, its type, its values."""
    field = table.schema.field(number)
    return [
        shown_cell(field.name),
        shown_cell(type_name(field.type)),
        *map(value_text, values_of(table.column(number))),
    ]


def value_text(value: object) -> str:
    """Return a value as a cell shows it."""
    if value is None:
        return NULL
    return shown_cell(f"{value:.6g}" if isinstance(value, float) else str(value))


def shown_cell(text: str) -> str:
    """Return a text on one line, not too long."""
    return cut(one_line(text), CELL_CHARACTERS)


def width(text: str) -> int:
    """Return how many characters of a terminal a text takes."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def columns_in(columns: Sequence[Sequence[str]], most: int) -> int:
    """Return how many columns fit beside each other; at least one."""
    used = 0
    for number, cells in enumerate(columns):
        used += max(map(width, cells)) + 2
        if used > most + 2:
            return max(number, 1)
    return len(columns)


def aligned(columns: Sequence[Sequence[str]], right: Iterable[bool]) -> list[str]:
    """Return lines of columns, numbers at the right."""
    placed = []
    for cells, at_right in zip(columns, right, strict=False):
        widest = max(map(width, cells))
        pad = [" " * (widest - width(cell)) for cell in cells]
        placed.append([p + c if at_right else c + p for p, c in zip(pad, cells, strict=True)])
    return ["  ".join(line).rstrip() for line in zip(*placed, strict=True)]


def count_text(shown: int, total: int, hidden: int = 0) -> str:
    """Say how many rows there are, and what is not shown."""
    rows = f"{total:,} row{'s' * (total != 1)}" if shown == total else f"{shown:,} of {total:,} rows"
    more = f", {hidden} more column{'s' * (hidden != 1)}" if hidden else ""
    return f"({rows}{more})"


def schema_text(schema: Schema) -> str:
    """Return a line for each column: its name and type."""
    names = [one_line(name) for name in schema]
    widest = max(map(width, names), default=0)
    return "\n".join(
        f"{name}{' ' * (widest - width(name))}  {type_name(dtype)}"
        for name, dtype in zip(names, schema.values(), strict=True)
    )

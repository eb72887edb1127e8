"""A difference as text: what differs in a sentence, then a small table of the first rows that do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl.file_tests.case import Expected
from gpuetl.file_tests.compare import Difference
from gpuetl.types.data_types import is_list
from gpuetl.verify.compare import plain

SHOWN_ROWS = 10
SHOWN_COLUMNS = 8
CELL_WIDTH = 40


class Line(NamedTuple):
    """A row of the table: what it is, its cells, and the columns that are marked below it."""

    label: str
    cells: tuple[str, ...]
    marked: frozenset[int] = frozenset()


def difference_text(name: str, actual: pa.Table, expected: Expected, difference: Difference) -> str:
    """Return how a relation's rows differ from those expected, for people."""
    head = f"{name}: {summary(actual.num_rows, expected.rows.num_rows, difference)}"
    shown = shown_columns(expected, difference) or actual.column_names[:SHOWN_COLUMNS]
    left_out = [n for n in expected.rows.column_names if n not in shown]
    lines = [head, *table_lines(shown, rows(shown, actual, expected.rows, difference))]
    if left_out:
        lines.append(f"  columns left out: {', '.join(left_out)}")
    return "\n".join([*lines, *(f"  … and {more}" for more in beyond(difference))])


def summary(actual: int, expected: int, difference: Difference) -> str:
    """Say in a sentence what differs."""
    came = f"{counted(expected, 'row')} expected, {actual} found"
    if difference.moved:
        place = difference.moved[0] + 1
        return f"{came}: the same rows in another order of {', '.join(difference.columns)}, from row {place} on"
    changed, missing, unexpected = map(len, (difference.changed, difference.missing, difference.unexpected))
    one_or_more = "another value" if len(difference.columns) == 1 else "other values"
    parts = [
        f"{changed} with {one_or_more} in {', '.join(difference.columns)}",
        f"{missing} missing",
        f"{unexpected} unexpected",
    ]
    return f"{came}: {', '.join(p for p, count in zip(parts, (changed, missing, unexpected), strict=True) if count)}"


def counted(count: int, what: str) -> str:
    """Return a number of things."""
    return f"{count} {what}{'s' * (count != 1)}"


def shown_columns(expected: Expected, difference: Difference) -> list[str]:
    """Return the columns to show: all, or if these are many, the keys, those that differ, and the first others."""
    names = expected.rows.column_names
    first = [*expected.keys, *difference.columns, *names]
    chosen = set(list(dict.fromkeys(first))[:SHOWN_COLUMNS])
    return [name for name in names if name in chosen]


def rows(shown: Sequence[str], actual: pa.Table, expected: pa.Table, difference: Difference) -> Iterator[Line]:
    """Yield the lines of the table."""
    for row, other in [*difference.changed, *((r, r) for r in difference.moved)][:SHOWN_ROWS]:
        pairs = [(plain(expected.column(n)[row]), plain(actual.column(n)[other])) for n in shown]
        marked = frozenset(
            place for place, (name, (a, b)) in enumerate(zip(shown, pairs, strict=True))
            if name in difference.columns and not (a == b or (a != a and b != b))
        )  # fmt: skip
        cells = [both(pair, expected.schema.field(n).type) for n, pair in zip(shown, pairs, strict=True)]
        place = f" {row + 1}" if difference.moved else ""
        yield Line(f"expected{place}", tuple(a for a, _ in cells))
        yield Line(f"actual{place}", tuple(b for _, b in cells), marked)
    for label, numbers, table in (
        ("missing", difference.missing, expected),
        ("unexpected", difference.unexpected, actual),
    ):
        for row in numbers[:SHOWN_ROWS]:
            yield Line(label, tuple(cut(cell_text(table.column(n)[row])) for n in shown))


def beyond(difference: Difference) -> Iterator[str]:
    """Say how many rows are not shown."""
    kinds = {"with other values": difference.changed, "missing": difference.missing,
             "unexpected": difference.unexpected, "in another place": difference.moved}  # fmt: skip
    yield from (f"{len(n) - SHOWN_ROWS} more {what}" for what, n in kinds.items() if len(n) > SHOWN_ROWS)


def table_lines(names: Sequence[str], lines: Iterable[Line]) -> Iterator[str]:
    """Lay lines out below the columns' names, with carets below what differs."""
    body = list(lines)
    if not names or not body:
        return
    table = [Line("", tuple(names)), *body]
    margin = max(len(line.label) for line in table)
    widths = [max(len(line.cells[place]) for line in table) for place in range(len(names))]
    for line in table:
        yield laid_out(line.label, margin, line.cells, widths)
        if line.marked:
            marks = ["^" * max(1, len(cell)) if place in line.marked else "" for place, cell in enumerate(line.cells)]
            yield laid_out("", margin, marks, widths)


def laid_out(label: str, margin: int, cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return one line of the table."""
    columns = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(["", label.ljust(margin), *columns]).rstrip()


def both(pair: tuple[Any, Any], dtype: pa.DataType) -> tuple[str, str]:
    """Return two values of a column as text; long ones around the first character that differs."""
    a, b = (value_text(value, dtype) for value in pair)
    if max(len(a), len(b)) <= CELL_WIDTH or a == b:
        return cut(a), cut(b)
    common = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, common - CELL_WIDTH // 2)
    dots = "…" if start else ""
    return cut(dots + a[start:]), cut(dots + b[start:])


def cut(text: str) -> str:
    """Shorten a long text."""
    return text if len(text) <= CELL_WIDTH else f"{text[: CELL_WIDTH - 1]}…"


def cell_text(value: pa.Scalar) -> str:
    """Return a value as text."""
    return value_text(plain(value), value.type)


def value_text(value: Any, dtype: pa.DataType) -> str:
    """Return a plain value as text; texts that would look like something else are quoted."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    if pa.types.is_string(dtype) and not is_list(dtype):
        odd = not text or text != text.strip() or not text.isprintable() or text in ("null", "true", "false")
        return repr(text) if odd else text
    return text

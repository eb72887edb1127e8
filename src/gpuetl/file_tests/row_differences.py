"""Rows of a relation against those that a test expects, and the difference as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl.file_tests.case import ExpectedRows
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, is_floating
from gpuetl.types.nested_types import is_list
from gpuetl.verify.compare import plain, tolerance_of
from gpuetl.verify.tolerance import Tolerance

# Rows of a relation against those that a test expects: which are missing, unexpected, or have other values or order.
#
# Rows pair first where they are equal: in every exact column, and in floats within the tolerance.  Of the others those
# pair that have the same keys, or, where no keys are known, agree in half of their columns: they are one row with
# other
# values.


MOST_PAIRED = 200
"""Rows without a partner that are looked at for one with other values: each is compared with each."""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Difference:
    """How rows differ from those expected, by their numbers in either table.

    Parameters
    ----------
    changed
        Pairs of an expected and an actual row with other values.
    missing, unexpected
        Expected rows that did not come, and rows that are not expected.
    moved
        Where all rows came: the places at which another one was expected.
    columns
        The columns with other values, or those of the order.
    """

    changed: tuple[tuple[int, int], ...] = ()
    missing: tuple[int, ...] = ()
    unexpected: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()


def compare_rows(actual: pa.Table, expected: ExpectedRows) -> Difference | None:
    """Return how rows, which have the expected columns, differ from those expected; None where they do not."""
    columns = _Columns(expected)
    got, wanted = columns.rows(actual), columns.rows(expected.rows)
    missing, unexpected = columns.unmatched(got, wanted)
    if missing or unexpected:
        changed = columns.changed(got, wanted, missing, unexpected)
        names = [name for place, name in enumerate(columns.names)
                 if any(not columns.same(place, wanted[w][place], got[g][place]) for w, g in changed)]  # fmt: skip
        pairs = [{pair[side] for pair in changed} for side in (0, 1)]
        return Difference(
            tuple(changed),
            tuple(row for row in missing if row not in pairs[0]),
            tuple(row for row in unexpected if row not in pairs[1]),
            columns=tuple(names),
        )
    places = [columns.names.index(name) for name in expected.order]
    moved = [row for row, (a, b) in enumerate(zip(got, wanted, strict=True))
             if not all(columns.same(place, b[place], a[place]) for place in places)]  # fmt: skip
    return Difference(moved=tuple(moved), columns=expected.order) if moved else None


class _Columns:
    """The columns of a comparison: which are exact, and how far the others may differ."""

    def __init__(self, expected: ExpectedRows) -> None:
        self.names = expected.rows.column_names
        self.types = expected.rows.schema.types
        self.keys = [self.names.index(name) for name in expected.keys]
        self.tolerances = [tolerance_for(column, expected.tolerance) for column in expected.rows.columns]
        self.exact = [place for place, dtype in enumerate(self.types) if not holds_floats(dtype)]
        self.floats = [place for place in range(len(self.types)) if place not in self.exact]

    def rows(self, table: pa.Table) -> list[Row]:
        """Return the rows as tuples of what can be compared: times as numbers, since Python has not all of them."""
        columns = [comparable(table.column(name)) for name in self.names]
        return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows

    def same(self, place: int, expected: Any, got: Any) -> bool:
        """Return whether two values of a column are equal."""
        return equal(expected, got, self.tolerances[place])

    def unmatched(self, got: Sequence[Row], wanted: Sequence[Row]) -> tuple[list[int], list[int]]:
        """Return the rows of either side that have no partner, each as often as it has none."""
        groups: dict[Row, list[int]] = {}
        for number in sorted(range(len(got)), key=lambda n: self.float_order(got[n])):
            groups.setdefault(self.exact_part(got[number]), []).append(number)
        missing = []
        for number in sorted(range(len(wanted)), key=lambda n: self.float_order(wanted[n])):
            row = wanted[number]
            group = groups.get(self.exact_part(row), [])
            for place, other in enumerate(group):
                if all(self.same(column, row[column], got[other][column]) for column in self.floats):
                    del group[place]
                    break
            else:
                missing.append(number)
        return sorted(missing), sorted(number for group in groups.values() for number in group)

    def exact_part(self, row: Row) -> Row:
        return tuple(row[place] for place in self.exact)

    def float_order(self, row: Row) -> list[tuple[bool, float]]:
        """Return a key that brings rows with near floats together, so that partners are found at once."""
        numbers = (row[place] for place in self.floats)
        return [(False, n) if isinstance(n, float) and n == n else (True, 0.0) for n in numbers]

    def changed(
        self, got: Sequence[Row], wanted: Sequence[Row], missing: Sequence[int], unexpected: Sequence[int]
    ) -> list[tuple[int, int]]:
        """Return the pairs of rows without a partner that are one row with other values."""
        left, pairs = list(unexpected[:MOST_PAIRED]), []
        for row in missing[:MOST_PAIRED]:
            scores = [self.likeness(wanted[row], got[other]) for other in left]
            if scores and (best := max(scores)) > 0:
                pairs.append((row, left.pop(scores.index(best))))
        return pairs

    def likeness(self, expected: Row, got: Row) -> int:
        """Return in how many columns two rows agree; 0 where their keys differ, or most of their columns."""
        same = [self.same(place, a, b) for place, (a, b) in enumerate(zip(expected, got, strict=True))]
        if self.keys:
            return 1 + sum(same) if all(same[place] for place in self.keys) else 0
        return sum(same) if 2 * sum(same) >= len(same) else 0


def holds_floats(dtype: pa.DataType) -> bool:
    """Return whether a column holds floats, alone or in lists."""
    return is_floating(dtype.value_type if is_list(dtype) else dtype)


def tolerance_for(column: Any, given: float | None) -> Tolerance | None:
    """Return how far the floats of a column may differ: by rounding, or also by what the test gives."""
    if not holds_floats(column.type):
        return None
    values = pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type) \
        if is_list(column.type) else column  # fmt: skip
    rounding = tolerance_of(values)
    return rounding if given is None else replace(rounding, atol=given)


def comparable(column: Any) -> list[Any]:
    """Return a column's values as Python objects that can be compared and hashed."""
    dtype = column.type
    kind = dtype.value_type if is_list(dtype) else dtype
    if pa.types.is_temporal(kind):
        number = pa.int32() if pa.types.is_date(kind) else INT64
        column = column.cast(pa.list_(number) if is_list(dtype) else number)
    return list(map(hashed, column.to_pylist()))


def hashed(value: Any) -> Any:
    """Return a value with tuples in the place of lists and dictionaries, which have no hash."""
    if isinstance(value, dict):
        return tuple((name, hashed(each)) for name, each in value.items())
    return tuple(map(hashed, value)) if isinstance(value, list) else value


def equal(expected: Any, got: Any, tolerance: Tolerance | None) -> bool:
    """Return whether two values are equal, floats within the tolerance; null is null alone, and NaN is NaN."""
    if expected is None or got is None:
        return expected is got
    if tolerance is None:
        return bool(expected == got)
    if isinstance(expected, tuple):
        return len(expected) == len(got) and all(equal(a, b, tolerance) for a, b in zip(expected, got, strict=True))
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    far = abs(expected - got) > tolerance.rtol * abs(expected) + float(tolerance.atol)
    return bool(expected == got or not (far or math.isinf(expected) or math.isinf(got)))


# A difference as text: what differs in a sentence, then a small table of the first rows that do.


SHOWN_ROWS = 10
SHOWN_COLUMNS = 8
CELL_WIDTH = 40


class Line(NamedTuple):
    """A row of the table: what it is, its cells, and the columns that are marked below it."""

    label: str
    cells: tuple[str, ...]
    marked: frozenset[int] = frozenset()


def difference_text(name: str, actual: pa.Table, expected: ExpectedRows, difference: Difference) -> str:
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


def shown_columns(expected: ExpectedRows, difference: Difference) -> list[str]:
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
    """Return a plain value as text; strings that would look like something else are quoted."""
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

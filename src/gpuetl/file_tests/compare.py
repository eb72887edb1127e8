"""Rows of a relation against those that a test expects: which are missing, unexpected, or have other values or order.

Rows pair first where they are equal: in every exact column, and in floats within the tolerance.  Of the others those
pair that have the same keys, or, where no keys are known, agree in half of their columns: they are one row with other
values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.file_tests.case import Expected
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, is_floating, is_list
from gpuetl.verify.compare import tolerance_of
from gpuetl.verify.tolerance import Tolerance

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


def compare_rows(actual: pa.Table, expected: Expected) -> Difference | None:
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

    def __init__(self, expected: Expected) -> None:
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
        """Tell whether two values of a column are equal."""
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
    """Tell whether a column holds floats, alone or in lists."""
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
    values = column.to_pylist()
    return [None if value is None else tuple(value) for value in values] if is_list(dtype) else values


def equal(expected: Any, got: Any, tolerance: Tolerance | None) -> bool:
    """Tell whether two values are equal, floats within the tolerance; null is null alone, and NaN is NaN."""
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

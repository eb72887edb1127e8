"""The right side of an as-of join, read in partitions that go with the left ones: no row is exchanged.

A left partition needs the right rows whose times are near its own.  File metadata bounds the times of every row group.
Where both files are written in the order of time, few row groups are near a partition.  Row groups that are near
several are read for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from gpuetl.io.data_file import RowGroup
from gpuetl.physical.column_statistics import UNKNOWN, traced
from gpuetl.physical.nodes import Map, Physical, Scan
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import AsofJoin, Filter, Project
from gpuetl.types.data_types import DataType, is_integer, is_temporal

MOST_REPEATED = 2
"""The right rows may be read so often on average; beyond that an exchange moves fewer."""
EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)


class Span(NamedTuple):
    """The least and the greatest value of some rows, in the integers that hold the type."""

    least: int
    greatest: int


def read_near(node: AsofJoin, left: Physical, right: Physical) -> Physical | None:
    """Return the right side in a partition for each left one, of the row groups with rows that may match.

    None where metadata does not bound the times, or the row groups near all partitions are too many.  Without a
    tolerance, the row that is nearest must be in a row group that is known to have rows of each key: there are no keys
    then, and no filter.
    """
    dtypes = node.left.schema[node.left_asof], node.right.schema[node.right_asof]
    if node.unique_right or left.partitions == 1 or not all(map(has_exact_limits, dtypes)):
        return None
    left_scan, left_column = traced(left, node.left_asof)
    found = rows_of_scan(right, node.right_asof)
    if left_scan is None or found is None or found.scan.read.limit is not None:
        return None
    complete = not node.left_on and not any(isinstance(operation, Filter) for operation in found.operations)
    if node.tolerance is None and not complete:
        return None
    groups = [group for part in found.scan.parts for group in part]
    spans = spans_of(found.scan, found.column, groups)
    wanted = [spans_of(left_scan, left_column, part) for part in left_scan.parts]
    if spans is None or None in wanted:
        return None
    known = [pair for pair in zip(groups, spans, strict=True) if pair[1] is not None]
    parts = []
    for part in wanted:
        near = span_near(node, [span for span in part or () if span is not None], known, complete)
        parts.append(tuple(g for g, own in known if near and own and overlap(own, near)))
    if sum(map(count_rows, parts)) > MOST_REPEATED * count_rows(groups):
        return None
    aligned: Physical = Scan(replace(found.scan.read), tuple(parts), found.scan.skipped)
    for operation in reversed(found.operations):
        aligned = Map(replace(operation), (aligned,))
    return aligned


def has_exact_limits(dtype: DataType) -> bool:
    """Return whether statistics bound all values of a type that match, as integers: not so floats, and nanoseconds."""
    return is_integer(dtype) or is_temporal(dtype)


class ScannedRows(NamedTuple):
    """Rows of a source after operations on each row, the last one first; `column` is the source's."""

    scan: Scan
    column: str
    operations: list[Node]


def rows_of_scan(source: Physical, column: str) -> ScannedRows | None:
    """Return the source of rows that are filtered and projected alone; None where a column is computed."""
    operations = list[Node]()
    while isinstance(source, Map) and type(source.operation) in (Project, Filter):
        operation = source.operation
        operations.append(operation)
        if isinstance(operation, Project):
            if column not in operation.passed:
                return None
            column = operation.passed[column]
        source = source.inputs[0]
    return ScannedRows(source, column, operations) if isinstance(source, Scan) else None


def spans_of(scan: Scan, column: str, groups: Iterable[RowGroup]) -> list[Span | None] | None:
    """Return the limits of each row group, None for one without values; None where some are unknown."""
    spans = list[Span | None]()
    for group in groups:
        least, greatest, nulls = scan.ranges[group.file.path, group.index].get(column, UNKNOWN)
        if group.rows == 0 or (group.rows > 0 and nulls == group.rows):
            spans.append(None)
        elif least is None or greatest is None:
            return None
        else:
            spans.append(Span(stored(least), stored(greatest)))
    return spans


def stored(value: Any) -> int:
    """Return a value of statistics as the integer that holds it: days, or microseconds."""
    if isinstance(value, datetime):
        return ((value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value) - EPOCH) // MICROSECOND
    return value.toordinal() if isinstance(value, date) else int(value)


def span_near(
    node: AsofJoin, own: Sequence[Span], known: Sequence[tuple[RowGroup, Span | None]], complete: bool
) -> Span | None:
    """Return between which values right rows may match those of a partition; None where it has no values.

    Where the right rows are `complete`, the nearest one before a partition is no earlier than the rows of any row group
    before it, and the one after it no later.
    """
    if not own:
        return None
    least, greatest = min(span.least for span in own), max(span.greatest for span in own)
    before, after = list[int](), list[int]()
    if node.tolerance is not None:
        before, after = [least - int(node.tolerance)], [greatest + int(node.tolerance)]
    if complete:
        others = [span for _, span in known if span is not None]
        before.append(max((span.least for span in others if span.greatest < least), default=least))
        after.append(min((span.greatest for span in others if span.least > greatest), default=greatest))
    first = least if node.direction == "forward" else max(before)
    return Span(first, greatest if node.direction == "backward" else min(after))


def overlap(one: Span, other: Span) -> bool:
    """Return whether there may be a value in both."""
    return one.least <= other.greatest and other.least <= one.greatest


def count_rows(groups: Iterable[RowGroup]) -> int:
    """Return the rows of row groups."""
    return sum(max(group.rows, 0) for group in groups)

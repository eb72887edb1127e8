"""What file metadata says of a source's columns: order across partitions, limits, distinct values."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from math import inf, prod
from typing import Any, Protocol

from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal
from gpuetl.physical.nodes import Map, Physical, Scan
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Aggregate, AsofJoin, Distinct, Filter, Grouped, Join, KernelReduction, Project
from gpuetl.types.data_types import BOOL, DataType, integer_limits, is_floating, is_integer

# What footers say of the values in a source's partitions: whether these follow each other in an order, or are apart.
#
# Files are often written in the order of time: to sort such rows takes no exchange, each partition is sorted alone.


Limits = tuple[Any, Any]
UNKNOWN = (None, None, 1)
"""Of a column that states nothing: there may be a null."""


def follow_each_other(source: Physical, by: tuple[SortKey, ...]) -> bool:
    """Return whether the first key of an order ascends, or descends, from partition to partition.

    Where a value is in two partitions, rows that tie in one key are in the input's order still; those of several keys
    may not be.
    """
    scan, column = traced(source, by[0].column)
    if scan is None or is_floating(scan.schema[column]):  # NaN is not in the statistics
        return False
    before: Limits | tuple[()] = ()
    try:
        for limits in partition_limits(scan, column):
            if limits is None or (limits and before and not follows(before, limits, by)):
                return False
            before = limits or before
    except TypeError:  # values of different types in different files
        return False
    return True


def follows(before: Limits, limits: Limits, by: tuple[SortKey, ...]) -> bool:
    """Return whether a partition's values come after those of the one before it, or may tie with them."""
    (_, end), (start, _) = (limits, before) if by[0].descending else (before, limits)
    return bool(end < start or (end == start and len(by) == 1))


def are_apart(source: Physical, column: str) -> bool:
    """Return whether no value of a column is in two partitions: folders by day are so, files sorted by a key may be."""
    scan, column = traced(source, column)
    if scan is None or is_floating(scan.schema[column]):
        return False
    found: list[Limits] = []  # in order, without overlap
    try:
        for limits in partition_limits(scan, column):
            place = bisect(found, limits) if limits else 0
            if limits is None or (limits and overlaps(limits, found[max(0, place - 1) : place + 1])):
                return False
            found[place:place] = [limits] if limits else []
    except TypeError:  # values of different types in different files
        return False
    return True


def overlaps(limits: Limits, others: Iterable[Limits]) -> bool:
    """Return whether there may be a value that is in others, too."""
    return any(least <= limits[1] and limits[0] <= greatest for least, greatest in others)


def traced(source: Physical, column: str) -> tuple[Scan | None, str]:
    """Return the source from which operations that keep rows in their partition pass a column on, and its name there.

    What they may do is leave rows out, and repeat them.
    """
    while isinstance(source, Map):
        operation = source.operation
        if isinstance(operation, Project) and column in operation.passed:
            column = operation.passed[column]
        elif not passes(operation, column):
            return None, column
        source = source.inputs[0]
    return (source if isinstance(source, Scan) else None), column


def passes(operation: Node, column: str) -> bool:
    """Return whether each row of an operation has the value of a column from a row of the first input's partition."""
    if isinstance(operation, Join):
        return operation.how != "full" and column in operation.left.schema
    if isinstance(operation, AsofJoin):
        return column in operation.left.schema
    if isinstance(operation, Aggregate | Distinct | KernelReduction):
        return column in operation.keys
    return isinstance(operation, Filter) or (isinstance(operation, Grouped) and column not in operation.new_columns)


def column_limits(scan: Scan | None, column: str) -> Limits:
    """Return the least and the greatest value of a source's column beside nulls; None for both if that is unknown."""
    groups = [] if scan is None else [group for group in scan.read.dataset.row_groups if group.rows]
    ranges = [group.ranges.get(column, UNKNOWN) for group in groups]
    found = [own for group, own in zip(groups, ranges, strict=True) if own[2] != group.rows]
    least, greatest = [own[0] for own in found], [own[1] for own in found]
    if not found or None in least or None in greatest:
        return None, None
    try:
        return min(least), max(greatest)
    except TypeError:  # values of different types in different files
        return None, None


def partition_limits(scan: Scan, column: str) -> Iterator[Limits | tuple[()] | None]:
    """Yield the least and the greatest value of each partition; nothing where it has no rows, None for unknown ones."""
    for part in scan.parts:
        ranges = [scan.ranges[group.file.path, group.index] for group in part if group.rows]
        found = [own.get(column, UNKNOWN) for own in ranges]
        if not found:
            yield ()
        elif any(nulls for _, _, nulls in found):
            yield None
        else:
            least, greatest, _ = zip(*found, strict=True)
            yield min(least), max(greatest)


# How many distinct values a column may have, and between which limits: by its type, and what it is computed from.


PARTS = {
    "sign": 4, "quarter": 4, "month": 12, "week": 53, "day": 31, "dayofweek": 7, "isodow": 7, "dayofyear": 366,
    "day_name": 7, "month_name": 12, "days_in_month": 4, "hour": 24, "minute": 60, "second": 60,
}  # fmt: skip
"""Values of functions that have few."""


class ColumnStatistics(Protocol):
    """What is known of a column."""

    @property
    def distinct(self) -> float:
        """How many values it has at most beside null."""

    @property
    def limits(self) -> Callable[[], Limits]:
        """Returns between which they lie."""


def most_values(expr: Expr, columns: Mapping[str, ColumnStatistics]) -> float:
    """Return how many values an expression of columns has at most beside null.

    A function gives one value for the same arguments, so that it has no more than these have combinations.
    """
    if isinstance(expr, Column):
        return columns[expr.name].distinct
    if isinstance(expr, Cast):
        return min(most_values(expr.operand, columns), values_of_type(expr.dtype))
    if not isinstance(expr, Call):
        return 1
    of_arguments = [most_values(argument, columns) for argument in expr.args]
    if expr.function.name == "case":
        most = sum(of_arguments[1::2]) + (of_arguments[-1] if len(of_arguments) % 2 else 0)
    elif expr.function.name == "coalesce":
        most = sum(of_arguments)
    else:
        most = prod(values + 1 for values in of_arguments)
    if expr.function.name == "year" and isinstance(expr.args[0], Column):
        most = min(most, years_between(*columns[expr.args[0].name].limits()))
    return min(most, PARTS.get(expr.function.name, inf), values_of_type(expr.dtype))


def limits_of(expr: Expr, columns: Mapping[str, ColumnStatistics]) -> Limits:
    """Return the least and the greatest value of an expression beside null, as far as its columns' limits tell."""
    if isinstance(expr, Column):
        return columns[expr.name].limits()
    if isinstance(expr, Cast) and is_integer(expr.dtype) and is_integer(expr.operand.dtype):
        limits = limits_of(expr.operand, columns)
        least, greatest = integer_limits(expr.operand.dtype) if None in limits else limits
        of_type = integer_limits(expr.dtype)
        return max(least, of_type[0]), min(greatest, of_type[1])
    if isinstance(expr, Call) and expr.function.name == "case":
        otherwise = expr.args[len(expr.args) // 2 * 2 :]
        found = [
            limits_of(value, columns) for value in (*expr.args[1::2], *otherwise) if value != Literal(None, expr.dtype)
        ]
        if found and not any(None in limits for limits in found):
            return min(least for least, _ in found), max(greatest for _, greatest in found)
    return (expr.value, expr.value) if isinstance(expr, Literal) else (None, None)


def values_of_type(dtype: DataType) -> float:
    """Return how many values there are of a type, of a narrow one."""
    if not (dtype == BOOL or is_integer(dtype)):
        return inf
    bits: int = dtype.bit_width
    return float(2**bits)


def values_between(least: Any, greatest: Any) -> float:
    """Return how many values there may be between limits and at them: whole numbers, or days."""
    if isinstance(least, int) and isinstance(greatest, int):
        return 1 + greatest - least
    if is_day(least) and is_day(greatest):
        return 1 + int((greatest - least).days)
    return 1 if least is not None and least == greatest else inf


def is_day(value: Any) -> bool:
    """Return whether a value is a date without a time."""
    return isinstance(value, date) and not isinstance(value, datetime)


def years_between(least: Any, greatest: Any) -> float:
    """Return how many years dates or times between limits lie in; a zone's may be one more at each end."""
    if isinstance(least, date) and isinstance(greatest, date):
        return 3 + greatest.year - least.year
    return inf

"""Windows over partitions in order, without an exchange: each partition takes along what it needs of those before it.

Sources are often written in the order of time.  Then no row of a later partition precedes one of an earlier one,
and a window over groups in that order computes partition after partition, where few rows need be carried.  Workers do
so side by side, if what all partitions carry on is little enough to be combined in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from gpuetl.physical.column_statistics import column_limits, follow_each_other, limits_of, traced
from gpuetl.physical.nodes import Map, Physical
from gpuetl.physical.size_estimates import (
    Widths,
    chunk_rows,
    column_widths,
    distinct_keys,
    estimated_rows,
    rows_at_most,
    total,
    type_bytes,
)
from gpuetl.physical.window_state import split_window
from gpuetl.physical.window_state_steps import ExactSum, StatefulSteps
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Window
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, DataType, integer_limits, is_integer
from gpuetl.types.decimal_types import is_decimal


@dataclass(frozen=True, eq=False, kw_only=True)
class StatefulWindow(Map):
    """A window on partitions that follow each other in its order.

    `steps` are run in place of the operation, on each partition and the rows that are carried to it, of which
    there may be `state_rows`: those that the partition before carries on, or, if they are `combined`, what those
    before carry on by themselves.
    """

    steps: StatefulSteps
    state_rows: int
    combined: bool = False


def stateful_window(
    node: Window,
    source: Physical,
    share: float,
    exchanged_bytes: Callable[[], int] = int,
    combined: bool = False,
) -> StatefulWindow | None:
    """Return a stateful window; None where that cannot be, or more than a share of a partition would be carried.

    That is by one partition, or, if they are `combined`, by all.  An exchange moves all rows between memories, carries
    move their own from partition to partition; of no more than `exchanged_bytes` it is quicker.  Rows that were sorted
    may have null times, which no interval reaches: windows by time need footers that know of none.
    """
    if share <= 0 or source.partitions == 1:
        return None
    by_footers, sorted_rows = follow_each_other(source, node.order_by), in_order(source, node.order_by)
    node = replace(node, presorted=not node.by and (node.presorted or sorted_rows))  # carried rows come before others
    steps = split_window(node, combined) if by_footers or sorted_rows else None
    if steps is None or (steps.by_time and not by_footers):
        return None
    widths = column_widths(source)
    rows = estimated_rows(source, widths=widths)
    if rows[id(source)] * total(widths[id(source)].values()) <= exchanged_bytes():
        return None
    if not all(stays_within(own, source, widths[id(source)]) for own in steps.sums):
        return None
    state_rows = distinct_keys(widths[id(source)], node.by) * steps.rows
    if steps.frame is not None:
        state_rows += rows[id(source)] * share_of_time(source, node.order_by[0].column, steps.frame)
    states = source.partitions if combined else 1
    if state_rows * states > share * chunk_rows(source, of_all=rows, widths=widths)[id(source)]:
        return None
    most = int(min(state_rows, rows[id(source)]))
    in_sequence = not node.by
    return StatefulWindow(
        operation=node, inputs=(source,), in_sequence=in_sequence, steps=steps, state_rows=most, combined=combined
    )


def stays_within(own: ExactSum, source: Physical, widths: Widths) -> bool:
    """Return whether sums of that many rows' values stay within their type.

    The sum of one partition may exceed the type although the sum of all rows does not.
    """
    limits = limits_of(own.x, widths)
    known = all(isinstance(limit, int) for limit in limits)
    most = max(map(abs, limits)) if known else 1 + greatest(own.x.dtype)  # the least one is as far from 0
    return (own.values or rows_at_most(source)) * most <= greatest(own.dtype)


def greatest(dtype: DataType) -> int:
    """Return the greatest value of a type: of decimals in units of the last digit, of durations in microseconds."""
    if is_decimal(dtype):
        digits: int = dtype.precision
        return int(10**digits - 1)
    return integer_limits(dtype if is_integer(dtype) else INT64)[1]


def in_order(source: Physical, by: tuple[SortKey, ...]) -> bool:
    """Return whether the order of sorted partitions is at least this one."""
    ordering = source.operation.ordering if isinstance(source, Map) and source.in_sequence else ()
    return ordering[: len(by)] == by


def bytes_per_row(node: StatefulWindow, width: float) -> float:
    """Return the bytes a row that the steps take beside the window: rows of `width` bytes below those carried."""
    more = (dtype for name, dtype in node.steps.whole.window.schema.items() if name not in node.schema)
    return width + sum(map(type_bytes, more))


def share_of_time(source: Physical, column: str, frame: timedelta) -> float:
    """Return which part of a source's rows is in an interval, where they are as many at any time; at most all."""
    least, greatest = column_limits(*traced(source, column))
    return min(1.0, frame / (greatest - least)) if isinstance(least, datetime) and greatest > least else 1.0

"""What operations work with beside their inputs and output, in bytes a row: one table, by which memory is expected."""

from __future__ import annotations

from typing import NamedTuple

from gpuetl.plan.node import Node
from gpuetl.plan.nodes import (
    Aggregate,
    Distinct,
    Explode,
    Filter,
    Join,
    Kernel,
    KernelReduction,
    Limit,
    Project,
    Sort,
    Union,
    Window,
)


class Work(NamedTuple):
    """Bytes a row that an operation works with, beside its inputs: `before` its output is there, and `beside` it.

    A row is one of all inputs together, or of the output where that has more.
    """

    before: int
    beside: int


SORTING = 40
"""To sort: two words of keys (16), libcudf's copy of one, its row numbers, and room for both again (8 + 4 + 12)."""
MARKING = 2
"""Rows that are in order: marks of where groups and values begin."""

WORK: dict[type[Node], Work] = {
    Filter: Work(1, 5),  # the mask; the numbers of the rows that stay (4)
    Project: Work(0, 0),
    Limit: Work(0, 0),
    Union: Work(0, 0),
    Sort: Work(SORTING, 6),  # the order (4), marks
    Distinct: Work(SORTING, 10),  # the order, marks, where groups begin (4)
    Window: Work(SORTING, 24),  # the order, marks, frames' begins (4) and blocks (4 to 8), rows that have a value (8)
    Kernel: Work(0, 24),  # of rows with nulls: which are whole (8), their numbers (8), where their results go (8)
    KernelReduction: Work(SORTING, 24),
    Aggregate: Work(SORTING, 24),  # the order, where groups begin (8), a state a group
    Join: Work(24, 16),  # slots (4) and a table by hash (8 to 16) of the right, matches (4); pairs (8), matches (4)
    Explode: Work(16, 32),  # lengths and their sums; rows, places and elements of the output (8 each)
}
"""What the cudf engine works with, as its handlers are written; the pandas engine's arrays are about as large."""
VALUES_SORTED = {"median", "quantile", "mode", "count_distinct"}
"""Aggregates that sort values, also of a single group."""
SPLIT = Work(SORTING, 22)
"""Of a hash exchange: hashes (8), targets (8 + 2) and the order (4)."""
SPLIT_COPIES = 2
"""The rows in the order of their targets, and the pieces."""
FILE_COPIES = 3
"""To read: the bytes of a file as they are there, and decompressed; they are seldom halved."""
TEXT_READING = 8
"""A row of texts that are read: its slot among the distinct ones and its number in the dictionary."""


def work_of(operation: Node) -> Work:
    """Return what an operation works with; rows that are in order, or of one group, are not sorted."""
    work = WORK[type(operation)]
    if isinstance(operation, Aggregate) and not operation.by:
        sorts = any(call.function.name in VALUES_SORTED for call in operation.calls.values())
        return work if sorts else Work(0, 0)
    if getattr(operation, "presorted", False):
        return work._replace(before=MARKING)
    return work._replace(before=SORTING) if isinstance(operation, Kernel) and operation.grouped else work

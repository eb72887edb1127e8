"""Rows that a plan gives for certain, by its sources' file metadata: too many are refused before anything is computed.

These are lower bounds, so what is refused cannot run.  A filter may drop every row, and an inner join may match none:
what these give is known when they run, and refused then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuetl.errors import RunFailed
from gpuetl.messages import coded
from gpuetl.physical.nodes import Boundaries, Concat, Exchange, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import (
    Aggregate,
    AsofJoin,
    Distinct,
    Explode,
    Filter,
    Join,
    KernelReduction,
    KernelTable,
    Limit,
    Read,
    Sort,
    Union,
    Vocabularies,
    Vocabulary,
    VocabularyPart,
)
from gpuetl.telemetry.origin import Origin

MOST_ROWS = 1 << 40
"""Of a step, in all partitions: at 100 million rows a second, three hours."""
MOST_PARTITION_ROWS = (1 << 31) - 1
"""Of a frame: libcudf counts rows in 32 bits."""
MOST_PARTITIONS = 1 << 20
"""Of a step: each is planned by itself."""
ADVICE = "Filter, aggregate or limit the rows before."


def check_rows(roots: Iterable[Node]) -> None:
    """Refuse a logical plan in which a step gives more rows than `MOST_ROWS`, before it is cut into partitions.

    Raises
    ------
    RunFailed
        At the first such step.
    """
    rows: dict[int, int] = {}
    for node in walk_graph(*roots):
        found = least_rows(node, [rows[id(child)] for child in node.inputs])
        if found > MOST_ROWS:
            raise too_many(node.origin, f"{found:,} rows, and a step has {MOST_ROWS:,} at most")
        rows[id(node)] = found


def check_partitions(roots: Iterable[Physical]) -> None:
    """Refuse a physical plan in which one partition has more rows than a frame.

    Raises
    ------
    RunFailed
        At the first such step.
    """
    whole: dict[int, int] = {}
    largest: dict[int, int] = {}
    for node in walk_graph(*roots):
        totals, parts = ([rows[id(child)] for child in node.inputs] for rows in (whole, largest))
        whole[id(node)], largest[id(node)] = all_rows(node, totals), partition_rows(node, totals, parts)
        if (found := largest[id(node)]) > MOST_PARTITION_ROWS:
            raise too_many(
                node.origin, f"{found:,} rows in one partition, and a partition has {MOST_PARTITION_ROWS:,} at most"
            )


def too_many(origin: Origin, outcome: str) -> RunFailed:
    """Return the error of a step that gives too many rows."""
    return RunFailed.at(origin, coded("GE2030", f"this gives {outcome}"), ADVICE)


def all_rows(node: Physical, totals: Sequence[int]) -> int:
    """Return how many rows all partitions of a node have at least, given those of its inputs."""
    if isinstance(node, Scan):
        return sum(max(group.rows, 0) for part in node.parts for group in part)
    if isinstance(node, Boundaries):
        return 0
    if isinstance(node, Exchange):
        return totals[0] if node.limit is None else min(totals[0], node.limit)
    return least_rows(node.operation, totals)


def partition_rows(node: Physical, totals: Sequence[int], parts: Sequence[int]) -> int:
    """Return how many rows the largest partition of a node has at least; `totals` and `parts` are its inputs'."""
    if isinstance(node, Scan):
        return max((sum(max(group.rows, 0) for group in part) for part in node.parts), default=0)
    if isinstance(node, Exchange):
        return -(-all_rows(node, totals) // node.partitions)  # the largest has at least the mean
    if isinstance(node, Concat):
        return max(parts)
    if isinstance(node.operation, Union) and node.partitions > 1:
        return max(parts)
    return least_rows(node.operation, parts)


def least_rows(operation: Node, inputs: Sequence[int]) -> int:
    """Return a lower bound of an operation's rows, given lower bounds of its inputs' rows."""
    if isinstance(operation, Read):
        known = operation.limit is None and not operation.pruning
        return sum(max(group.rows, 0) for group in operation.dataset.row_groups) if known else 0
    if isinstance(operation, Join):
        return _joined(operation, *inputs)
    if isinstance(operation, AsofJoin):
        return inputs[0] if operation.how == "left" else 0
    if isinstance(operation, Union):
        return sum(inputs)
    if isinstance(operation, Filter | KernelTable | Vocabularies | Vocabulary | VocabularyPart) or (
        isinstance(operation, Explode) and not operation.keep_empty
    ):
        return 0
    if isinstance(operation, Aggregate | Distinct | KernelReduction):
        return min(1, inputs[0])
    left_out = operation.offset if isinstance(operation, Limit) else 0
    return min([max(0, inputs[0] - left_out), *_limits(operation)])


def _limits(operation: Node) -> list[int]:
    if isinstance(operation, Limit):
        return [] if operation.count is None else [operation.count]
    return [operation.limit] if isinstance(operation, Sort) and operation.limit is not None else []


def _joined(join: Join, left: int, right: int) -> int:
    if join.how == "cross":
        return left * right
    return {"left": left, "full": max(left, right)}.get(join.how, 0)

"""Rows and bytes expected of a physical node, from footers.

Where nothing is known of the values, filters keep all rows, and groups are as many as rows.  Elements of lists, rows of
CSV files, and matches of keys that are unique on neither side are guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from gpuetl.io.dataset import RowGroup
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.ranges import Boundaries
from gpuetl.physical.widths import LIST_ELEMENTS, Widths, column_widths, distinct_keys, most_rows, total
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Distinct, Explode, Join, KernelReduction, Limit, Sort, Union

CSV_ROW_BYTES = 32


def estimated_rows(*roots: Physical, widths: Mapping[int, Widths] | None = None) -> dict[int, int]:
    """Return the rows that each node may give, by identity: filters keep all, joins match every row.

    `widths`, where they are known, tell of how many groups there may be.
    """
    rows: dict[int, int] = {}
    for node in walk_graph(*roots):
        rows[id(node)] = _grouped(
            node, _rows(node, [rows[id(child)] for child in node.inputs]), node.partitions, widths
        )
    return rows


def _grouped(node: Physical, rows: int, partitions: int, widths: Mapping[int, Widths] | None) -> int:
    """Return the rows that some partitions of a node have, which are fewer where it makes few groups in each."""
    operation = node.operation if isinstance(node, Map) else None
    if widths is None or not isinstance(operation, Aggregate | KernelReduction | Distinct):
        return rows
    keys = operation.on if isinstance(operation, Distinct) else operation.by
    return int(min(rows, distinct_keys(widths[id(node.inputs[0])], keys) * partitions)) if keys else rows


def rows_at_most(source: Physical) -> float:
    """Return how many rows a node may give; infinity where what is expected is a guess."""
    return inf if any(map(is_guess, walk_graph(source))) else estimated_rows(source)[id(source)]


def is_guess(node: Physical) -> bool:
    """Tell whether a node may give more rows than are expected."""
    if isinstance(node, Scan):
        return most_rows(node) == inf
    operation = node.operation if isinstance(node, Map) else None
    if isinstance(operation, Join) and operation.how not in ("cross", "semi", "anti"):
        by_side = {"left": operation.unique[1], "right": operation.unique[0]}
        return not by_side.get(operation.how, any(operation.unique))
    return isinstance(operation, Explode)


def chunk_rows(*roots: Physical, of_all: Mapping[int, int], widths: Mapping[int, Widths]) -> dict[int, int]:
    """Return the rows that one partition of each node may have; `of_all` are those of all partitions.

    Of a source it is the largest.  A hash exchange makes equal ones: keys that are far more frequent than others are
    not known of.
    """
    rows: dict[int, int] = {}
    for node in walk_graph(*roots):
        inputs = [rows[id(child)] for child in node.inputs]
        if isinstance(node, Scan):
            rows[id(node)] = max(map(read_rows, node.parts))
        elif isinstance(node, Exchange):
            rows[id(node)] = -(-of_all[id(node)] // node.partitions)
        elif isinstance(node, Concat):
            rows[id(node)] = max(inputs)
        else:
            rows[id(node)] = _grouped(node, _operation_rows(node.operation, inputs, 1), 1, widths)
    return rows


def _rows(node: Physical, inputs: list[int]) -> int:
    if isinstance(node, Scan):
        return sum(map(read_rows, node.parts))
    if isinstance(node, Boundaries):
        return node.ranges - 1
    if isinstance(node, Exchange):
        return inputs[0]
    return _operation_rows(node.operation, inputs, node.partitions)


def read_rows(groups: Iterable[RowGroup]) -> int:
    """Return the rows of row groups; of a CSV file by its size."""
    return sum(g.rows if g.rows >= 0 else sum(g.file_bytes.values()) // CSV_ROW_BYTES for g in groups)


def _operation_rows(operation: Node, inputs: list[int], partitions: int) -> int:
    if isinstance(operation, Limit):
        return min(inputs[0], operation.count * partitions)
    if isinstance(operation, Sort) and operation.limit is not None:
        return min(inputs[0], operation.limit * partitions)
    if isinstance(operation, Aggregate | KernelReduction) and not operation.by:
        return partitions
    if isinstance(operation, Explode):
        return inputs[0] * LIST_ELEMENTS
    if isinstance(operation, Union):
        return sum(inputs)
    return _joined_rows(operation, *inputs) if isinstance(operation, Join) else inputs[0]


def _joined_rows(join: Join, left: int, right: int) -> int:
    """A side whose partners are unique gives each of its rows once; if neither is known to, the larger side's rows."""
    if join.how == "cross":
        return left * right
    if join.how in ("semi", "anti"):
        return left
    left_once, right_once = join.unique[1], join.unique[0]
    if join.how == "inner":
        return min([rows for rows, once in ((left, left_once), (right, right_once)) if once], default=max(left, right))
    if join.how == "full":
        return left + right
    return left if left_once else max(left, right)


def estimated_bytes(node: Physical) -> int:
    """Return the bytes in memory of all rows that a node may give."""
    widths = column_widths(node)
    return int(estimated_rows(node, widths=widths)[id(node)] * total(widths[id(node)].values()))


def file_bytes(scan: Scan) -> int:
    """Return the compressed bytes in files of the columns and row groups that a scan reads."""
    wanted = (*scan.read.columns, "")
    return sum(group.file_bytes.get(name, 0) for part in scan.parts for group in part for name in wanted)

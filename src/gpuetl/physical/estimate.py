"""Rows and bytes expected of a physical node, from footers.  Upper bounds where nothing is known of the values."""

from __future__ import annotations

from gpuetl.expressions.types import DataType, is_list
from gpuetl.physical.nodes import Concat, Map, Physical, Scan
from gpuetl.physical.ranges import Boundaries
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Aggregate, Explode, Join, KernelReduction, Limit, Sort, Union
from gpuetl.plan.schema import Schema

STRING_BYTES = 16
LIST_ELEMENTS = 8
CSV_ROW_BYTES = 32


def estimated_rows(*roots: Physical) -> dict[int, int]:
    """Return the rows that each node may give, by identity: filters keep all, joins match every row."""
    rows: dict[int, int] = {}
    for node in walk_graph(*roots):
        rows[id(node)] = _rows(node, [rows[id(child)] for child in node.inputs])
    return rows


def _rows(node: Physical, inputs: list[int]) -> int:
    if isinstance(node, Scan):
        return sum(
            g.rows if g.rows >= 0 else sum(g.file_bytes.values()) // CSV_ROW_BYTES for part in node.parts for g in part
        )
    if isinstance(node, Boundaries):
        return node.ranges - 1
    operation = node.operation if isinstance(node, Map | Concat) else None
    if isinstance(operation, Limit):
        return min(inputs[0], operation.count * node.partitions)
    if isinstance(operation, Sort) and operation.limit is not None:
        return min(inputs[0], operation.limit * node.partitions)
    if isinstance(operation, Aggregate | KernelReduction) and not operation.by:
        return node.partitions
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


def row_bytes(schema: Schema) -> int:
    """Return the bytes of a row in memory; a string counts as `STRING_BYTES`, a list as `LIST_ELEMENTS`."""
    return sum(_width(dtype) for dtype in schema.values())


def _width(dtype: DataType) -> int:
    if is_list(dtype):
        return LIST_ELEMENTS * _width(dtype.value_type)
    try:
        return max(1, int(dtype.bit_width) // 8)
    except ValueError:
        return STRING_BYTES


def estimated_bytes(node: Physical) -> int:
    """Return the bytes in memory of all rows that a node may give."""
    return estimated_rows(node)[id(node)] * row_bytes(node.schema)


def file_bytes(scan: Scan) -> int:
    """Return the compressed bytes in files of the columns and row groups that a scan reads."""
    wanted = {*scan.read.columns, ""}
    return sum(size for part in scan.parts for g in part for name, size in g.file_bytes.items() if name in wanted)

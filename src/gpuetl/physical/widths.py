"""Bytes a row of each column of a physical plan: by type, of texts and lists by what footers tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, prod

from gpuetl.expressions.ir import Column, Expr
from gpuetl.expressions.types import STRING, DataType, is_list
from gpuetl.io.dataset import Dataset
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.values import most_values, values_of_type
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Explode, Grouped, Join, KernelReduction, Project, Union

STRING_BYTES = 16
LIST_ELEMENTS = 8


@dataclass(frozen=True, eq=False)
class Width:
    """The bytes a row of a column, and how many distinct values it may have.

    Columns that lie in the same memory have the same `Width`.
    """

    dtype: DataType
    bytes: float
    distinct: float = inf


Widths = Mapping[str, Width]


def column_widths(*roots: Physical) -> dict[int, Widths]:
    """Return the width of each column of each node, by the node's identity."""
    widths: dict[int, Widths] = {}
    for node in walk_graph(*roots):
        widths[id(node)] = _widths(node, [widths[id(child)] for child in node.inputs])
    return widths


def total(widths: Iterable[Width]) -> float:
    """Return the bytes a row of columns, each memory once."""
    return sum(width.bytes for width in set(widths))


def _widths(node: Physical, inputs: Sequence[Widths]) -> Widths:
    if isinstance(node, Scan):
        most = most_rows(node)
        widths = {name: read_width(node.read.dataset, name, dtype) for name, dtype in node.schema.items()}
        return {
            name: replace(width, distinct=min(width.distinct, most, values_of_type(width.dtype)))
            for name, width in widths.items()
        }
    if isinstance(node, Exchange):
        return {name: replace(width) for name, width in inputs[0].items()}
    return _made(node, inputs)


def _made(node: Map | Concat, inputs: Sequence[Widths]) -> Widths:
    """Columns that an operation does not write stay where they are; others are as wide as what they are made from."""
    operation = node.operation
    if isinstance(operation, Project):
        return {name: _computed(operation.columns[name], inputs[0]) for name in node.schema}
    written = frozenset(operation.touched[1])
    made: dict[str, Width] = {}
    for name, dtype in node.schema.items():
        there = [widths[name] for widths in inputs if name in widths]
        found = next((width for width in there if width.dtype == dtype), None)
        if found is None:
            made[name] = Width(dtype, type_bytes(dtype), values_of_type(dtype))
        else:
            made[name] = replace(found, distinct=_distinct(operation, name, there)) if name in written else found
    return made


def _computed(expr: Expr, widths: Widths) -> Width:
    """A column that is passed on stays where it is."""
    if isinstance(expr, Column):
        return widths[expr.name]
    return Width(expr.dtype, type_bytes(expr.dtype), most_values(expr, lambda name: widths[name].distinct))


def _distinct(operation: Node, name: str, there: Sequence[Width]) -> float:
    """Return how many distinct values a column that is written has at most, given the inputs' of that name."""
    if isinstance(operation, Aggregate | KernelReduction):
        return there[0].distinct if name in operation.by else inf
    if isinstance(operation, Grouped | Explode) and name in operation.made:
        return inf
    if isinstance(operation, Union) or (isinstance(operation, Join) and operation.how in ("right", "full")):
        return sum(width.distinct for width in there)
    return there[0].distinct


def most_rows(scan: Scan) -> float:
    """Return how many rows a scan reads, as far as footers tell."""
    rows = [group.rows for part in scan.parts for group in part]
    return inf if any(count < 0 for count in rows) else sum(rows)


def read_width(dataset: Dataset, name: str, dtype: DataType) -> Width:
    """Return the width of a source's column."""
    told = dataset.column_values(name) if dtype == STRING or is_list(dtype) else None
    if told is None:
        return Width(dtype, type_bytes(dtype))
    if not is_list(dtype):
        return Width(dtype, told.text_bytes, told.distinct)
    return Width(dtype, told.a_row * (told.text_bytes if dtype.value_type == STRING else type_bytes(dtype.value_type)))


def distinct_keys(widths: Widths, keys: Sequence[str]) -> float:
    """Return how many distinct rows columns have at most, nulls among them."""
    return prod(widths[name].distinct + 1 for name in keys)


@cache
def type_bytes(dtype: DataType) -> float:
    """Return the bytes of a value in memory; a text counts as `STRING_BYTES`, a list as `LIST_ELEMENTS`."""
    if is_list(dtype):
        return LIST_ELEMENTS * type_bytes(dtype.value_type)
    try:
        return max(1, int(dtype.bit_width) // 8)
    except ValueError:
        return STRING_BYTES

"""Bytes a row of each column of a physical plan: by type, of texts and lists by what footers tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, cached_property
from math import inf, prod

from gpuetl.expressions.ir import Column, Expr, columns_of
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.sequence import Limits, column_limits
from gpuetl.physical.values import limits_of, most_values, values_between, values_of_type
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Explode, Grouped, Join, KernelReduction, Project, Union
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, DataType, is_list

STRING_BYTES = 16
LIST_ELEMENTS = 8
DEEPEST = 32
"""Of widths upon each other: what is computed from what is computed, and so on, may have any values."""


@dataclass(frozen=True, eq=False)
class Width:
    """The bytes a row of a column, how many distinct values it may have beside null, and between which limits.

    Of lists, `elements` are those of a row.  Columns that lie in the same memory have the same `Width`.  What footers
    tell of values is looked at when it is asked for: few columns are keys.  `depth` counts the widths, one upon the
    other, that are then asked.
    """

    dtype: DataType
    bytes: float
    values: Callable[[], float] = lambda: inf
    limits: Callable[[], Limits] = lambda: (None, None)
    depth: int = 0
    elements: float = LIST_ELEMENTS

    @cached_property
    def distinct(self) -> float:
        """How many distinct values there are at most."""
        return min(self.values(), values_of_type(self.dtype))


Widths = Mapping[str, Width]


def column_widths(*roots: Physical) -> dict[int, Widths]:
    """Return the width of each column of each node, by the node's identity."""
    widths: dict[int, Widths] = {}
    for node in walk_graph(*roots):
        widths[id(node)] = widths_of(node, [widths[id(child)] for child in node.inputs])
    return widths


def total(widths: Iterable[Width]) -> float:
    """Return the bytes a row of columns, each memory once."""
    return sum(width.bytes for width in set(widths))


def widths_of(node: Physical, inputs: Sequence[Widths]) -> Widths:
    """Return the widths of a node's columns, given those of its inputs."""
    if isinstance(node, Scan):
        return {name: read_width(node, name, dtype) for name, dtype in node.schema.items()}
    if isinstance(node, Exchange):
        return {name: replace(width) for name, width in inputs[0].items()}
    return _made(node, inputs)


def _made(node: Map | Concat, inputs: Sequence[Widths]) -> Widths:
    """Columns that an operation does not write stay where they are; others are as wide as what they are made from."""
    operation = node.operation
    if isinstance(operation, Project):
        return {name: _computed(operation.columns[name], inputs[0]) for name in node.schema}
    written, new = frozenset(operation.touched[1]), new_columns(operation)
    made: dict[str, Width] = {}
    for name, dtype in node.schema.items():
        there = [widths[name] for widths in inputs if name in widths]
        for found in there:
            if found.dtype == dtype:
                made[name] = _written(operation, name in new, found, there) if name in written else found
                break
        else:
            made[name] = Width(dtype, type_bytes(dtype))
    return made


def _computed(expr: Expr, widths: Widths) -> Width:
    """A column that is passed on stays where it is."""
    if isinstance(expr, Column):
        return widths[expr.name]
    below = [widths[name] for name in columns_of(expr)]
    made = Width(expr.dtype, type_bytes(expr.dtype), lambda: most_values(expr, widths), lambda: limits_of(expr, widths))
    return _upon(below, made)


def _upon(below: Sequence[Width], made: Width) -> Width:
    """Return a width whose values are told by those of others, unless these are too many, one upon the other."""
    depth = 1 + max((width.depth for width in below), default=0)
    return replace(made, depth=depth) if depth <= DEEPEST else Width(made.dtype, made.bytes)


def new_columns(operation: Node) -> Set[str]:
    """Return the columns whose values are not those of an input's column of that name."""
    if isinstance(operation, Aggregate | KernelReduction):
        return operation.schema.keys() - frozenset(operation.by)
    return operation.made if isinstance(operation, Grouped | Explode) else frozenset[str]()


def _written(operation: Node, is_new: bool, found: Width, there: Sequence[Width]) -> Width:
    """Return the width of a column that is written, given one like it, and the inputs' of its name."""
    if is_new:
        return Width(found.dtype, found.bytes)
    if isinstance(operation, Union) or (isinstance(operation, Join) and operation.how in ("right", "full")):
        return _upon(there, Width(found.dtype, found.bytes, lambda: sum(width.distinct for width in there)))
    first = there[0]
    return Width(found.dtype, found.bytes, first.values, first.limits, first.depth, first.elements)


def read_width(scan: Scan, name: str, dtype: DataType) -> Width:
    """Return the width of a source's column."""
    told = scan.read.dataset.column_values(name) if dtype == STRING or is_list(dtype) else None
    distinct, size, elements = inf, type_bytes(dtype), float(LIST_ELEMENTS)
    if told is not None and is_list(dtype):
        elements = told.a_row
        size = elements * (told.text_bytes if dtype.value_type == STRING else type_bytes(dtype.value_type))
    elif told is not None:
        distinct, size = told.distinct, told.text_bytes
    limits = cache(lambda: column_limits(scan, name))

    def values() -> float:
        return min(distinct, most_rows(scan), values_between(*limits()))

    return Width(dtype, size, values, limits, elements=elements)


def most_rows(scan: Scan) -> float:
    """Return how many rows a scan reads, as far as footers tell."""
    rows = [group.rows for part in scan.parts for group in part]
    return inf if any(count < 0 for count in rows) else sum(rows)


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

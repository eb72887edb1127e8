"""Rows and bytes expected of a physical node, from file metadata: bytes a row by column, rows by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, cached_property
from math import exp, inf, prod

from gpuetl.expressions.functions.sketches import STATE_BYTES
from gpuetl.expressions.ir import Column, Expr, columns_of
from gpuetl.io.data_file import RowGroup
from gpuetl.physical.column_statistics import (
    Limits,
    column_limits,
    limits_of,
    most_values,
    values_between,
    values_of_type,
)
from gpuetl.physical.nodes import Boundaries, Concat, Exchange, Map, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import (
    Aggregate,
    Distinct,
    Explode,
    Grouped,
    InsertRows,
    Join,
    KernelReduction,
    KernelTable,
    Limit,
    Project,
    Sort,
    Union,
    Vocabularies,
    Vocabulary,
)
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, DataType, is_binary
from gpuetl.types.nested_types import children_of, is_list, is_nested, is_struct

# Bytes a row of each column of a physical plan: by type, of texts and lists by what footers tell.


STRING_BYTES = 16
LIST_ELEMENTS = 8
OFFSET = 4
GAP_ROWS = 2
"""What a row becomes where gaps are filled, a guess."""
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
    return _output_widths(node, inputs)


def _output_widths(node: Map | Concat, inputs: Sequence[Widths]) -> Widths:
    """Columns that an operation does not write stay where they are; others are as wide as what they are made from."""
    operation = node.operation
    if isinstance(operation, Project):
        return {name: _computed(operation.columns[name], inputs[0]) for name in node.schema}
    if isinstance(operation, Vocabularies):
        count = len(operation.parts)
        return {name: Width(dtype, type_bytes(dtype.value_type) / count) for name, dtype in node.schema.items()}
    written, new = frozenset(operation.touched[1]), new_columns(operation)
    computed: dict[str, Width] = {}
    for name, dtype in node.schema.items():
        input_widths = [widths[name] for widths in inputs if name in widths]
        for input_width in input_widths:
            if input_width.dtype == dtype:
                computed[name] = (
                    _new_width(operation, name in new, input_width, input_widths) if name in written else input_width
                )
                break
        else:
            computed[name] = Width(dtype, _state_bytes(node, name, inputs) or type_bytes(dtype))
    return computed


def _state_bytes(node: Map | Concat, name: str, inputs: Sequence[Widths]) -> float:
    """Return the bytes of the state of an estimate over the rows of a group; 0 of other columns.

    A state has an entry for each value of the group, at most for each of its rows.
    """
    operation = node.operation
    if not isinstance(operation, Aggregate) or name not in operation.calls:
        return 0
    call = operation.calls[name]
    most = STATE_BYTES.get(call.function.name, 0)
    if not (most and operation.by):
        return most
    (source,) = node.inputs
    rows = max(1, estimated_rows(source)[id(source)])
    groups = max(1.0, min(rows, distinct_keys(inputs[0], operation.by) * node.partitions))
    return min(most, type_bytes(call.dtype.value_type) * rows / groups) + OFFSET


def _computed(expr: Expr, widths: Widths) -> Width:
    """A column that is passed on stays where it is."""
    if isinstance(expr, Column):
        return widths[expr.name]
    below = [widths[name] for name in columns_of(expr)]
    computed = Width(
        expr.dtype, type_bytes(expr.dtype), lambda: most_values(expr, widths), lambda: limits_of(expr, widths)
    )
    return _repeated_width(below, computed)


def _repeated_width(below: Sequence[Width], computed: Width) -> Width:
    """Return a width that is derived from others, unless the chain of widths is too long."""
    depth = 1 + max((width.depth for width in below), default=0)
    return replace(computed, depth=depth) if depth <= DEEPEST else Width(computed.dtype, computed.bytes)


def new_columns(operation: Node) -> Set[str]:
    """Return the columns whose values are not those of an input's column of that name."""
    if isinstance(operation, Aggregate | KernelReduction):
        return operation.schema.keys() - frozenset(operation.by)
    return operation.new_columns if isinstance(operation, Grouped | Explode | InsertRows) else frozenset[str]()


def _new_width(operation: Node, is_new: bool, input_width: Width, input_widths: Sequence[Width]) -> Width:
    """Return the width of a column that is written, given one like it, and the inputs' of its name."""
    if is_new:
        return Width(input_width.dtype, input_width.bytes)
    if isinstance(operation, Union) or (isinstance(operation, Join) and operation.how in ("right", "full")):
        return _repeated_width(
            input_widths,
            Width(input_width.dtype, input_width.bytes, lambda: sum(width.distinct for width in input_widths)),
        )
    first = input_widths[0]
    return Width(input_width.dtype, input_width.bytes, first.values, first.limits, first.depth, first.elements)


def read_width(scan: Scan, name: str, dtype: DataType) -> Width:
    """Return the width of a source's column."""
    is_sized = dtype == STRING or is_binary(dtype) or is_nested(dtype)
    statistics = scan.read.dataset.column_values(name) if is_sized else None
    distinct, size, elements = inf, type_bytes(dtype), float(LIST_ELEMENTS)
    if statistics is not None:
        elements = statistics.a_row if is_list(dtype) else elements
        if is_list(dtype) and not is_nested(dtype.value_type):
            size = elements * (statistics.text_bytes if dtype.value_type == STRING else type_bytes(dtype.value_type))
        elif is_nested(dtype):
            size = statistics.row_bytes
        else:
            distinct, size = statistics.distinct, statistics.text_bytes
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
    """Return the bytes of a value in memory; a text counts as `STRING_BYTES`, a list or map as `LIST_ELEMENTS`."""
    if is_nested(dtype):
        each = sum(map(type_bytes, children_of(dtype)))
        return each if is_struct(dtype) else LIST_ELEMENTS * each
    try:
        return max(1, int(dtype.bit_width) // 8)
    except ValueError:
        return STRING_BYTES


# Rows and bytes expected of a physical node, from footers.
#
# Where nothing is known of the values, filters keep all rows, and groups are as many as rows.  Elements of lists and
# rows of CSV files are guesses.  So are matches of keys that are unique on neither side: all keys count as equally
# frequent, and there are as many as footers allow (Selinger et al., "Access path selection in a relational database
# management system", 1979).


CSV_ROW_BYTES = 32


def estimated_rows(*roots: Physical, widths: Mapping[int, Widths] | None = None) -> dict[int, int]:
    """Return the rows that each node may give, by identity: filters keep all, joins match every row.

    `widths`, where they are known, tell of how many groups there may be.
    """
    rows: dict[int, int] = {}
    for node in walk_graph(*roots):
        inputs = [rows[id(child)] for child in node.inputs]
        found, known = _rows(node, inputs), _of_inputs(node, widths)
        found = found if known is None else _by_values(node, found, inputs, inputs, known)
        rows[id(node)] = _grouped(node, found, node.partitions, known)
    return rows


def _by_values(node: Physical, rows: int, inputs: list[int], of_all: list[int], widths: Sequence[Widths]) -> int:
    """Return the rows of a node, given what is expected without widths: these tell of keys' values and lists' lengths.

    `inputs` are the rows of its inputs, `of_all` those of all partitions of these, and `widths` their columns'.
    """
    operation = node.operation if isinstance(node, Map) else None
    if isinstance(operation, Explode):
        elements = widths[0][operation.column].elements
        return max(1, int(inputs[0] * (elements + operation.keep_empty * exp(-elements))))
    if isinstance(operation, Join) and operation.left_on and repeats(operation):
        sides = zip(widths, (operation.left_on, operation.right_on), of_all, strict=True)
        keys = max(1.0, *(min(distinct_keys(side, on), most) for side, on, most in sides))
        return max(rows, int(inputs[0] * of_all[1] / keys))
    return rows


class Estimates:
    """Rows and bytes of physical nodes, each computed once, for what asks about one node after another.

    Lowering asks while it builds a plan.  Walking down to the sources each time would be quadratic.
    """

    def __init__(self) -> None:
        self._most: dict[Physical, int] = {}
        self._rows: dict[Physical, int] = {}
        self._widths: dict[Physical, Widths] = {}

    def most_rows(self, node: Physical) -> int:
        """Return the rows that a node may give if each group has one row: see `estimated_rows`."""
        for below in walk_graph(node, known=self._most):
            self._most[below] = _rows(below, [self._most[child] for child in below.inputs])
        return self._most[node]

    def bytes(self, node: Physical) -> int:
        """Return the bytes in memory of all rows that a node may give."""
        for below in walk_graph(node, known=self._rows):
            self._widths[below] = widths_of(below, [self._widths[child] for child in below.inputs])
            rows = _rows(below, [self._rows[child] for child in below.inputs])
            inputs = [self._widths[child] for child in below.inputs]
            self._rows[below] = _grouped(below, rows, below.partitions, inputs)
        return int(self._rows[node] * total(self._widths[node].values()))


def _grouped(node: Physical, rows: int, partitions: int, widths: Sequence[Widths] | None) -> int:
    """Return the rows that some partitions of a node have, which are fewer where it makes few groups in each.

    `widths` are those of its inputs, if they are known.
    """
    operation = node.operation if isinstance(node, Map) else None
    if widths is None or not isinstance(operation, Aggregate | KernelReduction | Distinct):
        return rows
    keys = operation.on if isinstance(operation, Distinct) else operation.by
    return int(min(rows, distinct_keys(widths[0], keys) * partitions)) if keys else rows


def _of_inputs(node: Physical, widths: Mapping[int, Widths] | None) -> list[Widths] | None:
    return None if widths is None else [widths[id(child)] for child in node.inputs]


def rows_at_most(source: Physical) -> float:
    """Return how many rows a node may give; infinity where what is expected is a guess."""
    return inf if any(map(is_guess, walk_graph(source))) else estimated_rows(source)[id(source)]


def is_guess(node: Physical) -> bool:
    """Return whether a node may give more rows than are expected."""
    if isinstance(node, Scan):
        return most_rows(node) == inf
    operation = node.operation if isinstance(node, Map) else None
    return isinstance(operation, Explode | InsertRows | KernelTable) or (
        isinstance(operation, Join) and repeats(operation)
    )


def repeats(join: Join) -> bool:
    """Return whether rows of both sides may match several of the other."""
    if join.how in ("cross", "semi", "anti"):
        return False
    by_side = {"left": join.unique[1], "right": join.unique[0]}
    return not by_side.get(join.how, any(join.unique))


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
            all_inputs = [of_all[id(child)] for child in node.inputs]
            found, known = _operation_rows(node.operation, inputs, 1), [widths[id(child)] for child in node.inputs]
            found = _by_values(node, found, inputs, all_inputs, known)
            rows[id(node)] = _grouped(node, found, 1, known)
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
        return inputs[0] if operation.count is None else min(inputs[0], operation.count * partitions)
    if isinstance(operation, Sort) and operation.limit is not None:
        return min(inputs[0], operation.limit * partitions)
    if isinstance(operation, Aggregate | KernelReduction) and not operation.by:
        return partitions
    if isinstance(operation, Explode):
        return inputs[0] * LIST_ELEMENTS
    if isinstance(operation, KernelTable):
        return operation.expected_rows(inputs[0], partitions)
    if isinstance(operation, Vocabulary):
        return max(1, inputs[0] // operation.min_count)
    if isinstance(operation, Vocabularies):  # the values of all, as though each were a row
        return sum(max(1, inputs[0] // part.min_count) for part in operation.parts)
    if isinstance(operation, InsertRows):
        return inputs[0] * GAP_ROWS
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
    return Estimates().bytes(node)


def file_bytes(scan: Scan) -> int:
    """Return the compressed bytes in files of the columns and row groups that a scan reads."""
    return sum(scan.part_file_bytes)

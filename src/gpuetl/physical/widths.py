"""Bytes a row of each column of a physical plan: by type, of texts and lists by what footers tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gpuetl.expressions.types import STRING, DataType, is_list
from gpuetl.io.dataset import Dataset
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Project

STRING_BYTES = 16
LIST_ELEMENTS = 8


@dataclass(frozen=True, eq=False)
class Width:
    """The bytes a row of a column; columns that lie in the same memory have the same `Width`."""

    dtype: DataType
    bytes: float


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
        return {name: Width(dtype, read_bytes(node.read.dataset, name, dtype)) for name, dtype in node.schema.items()}
    if isinstance(node, Exchange):
        return {name: Width(width.dtype, width.bytes) for name, width in inputs[0].items()}
    return _made(node, inputs)


def _made(node: Map | Concat, inputs: Sequence[Widths]) -> Widths:
    """Columns that an operation does not write stay where they are; others are as wide as what they are made from."""
    operation = node.operation
    if isinstance(operation, Project):
        passed, widths = operation.passed, inputs[0]
        return {n: widths[passed[n]] if n in passed else Width(t, type_bytes(t)) for n, t in node.schema.items()}
    written = frozenset(operation.touched[1])
    made: dict[str, Width] = {}
    for name, dtype in node.schema.items():
        found = next((widths[name] for widths in inputs if name in widths and widths[name].dtype == dtype), None)
        made[name] = (
            found if found and name not in written else Width(dtype, found.bytes if found else type_bytes(dtype))
        )
    return made


def read_bytes(dataset: Dataset, name: str, dtype: DataType) -> float:
    """Return the bytes a row of a source's column."""
    if dtype != STRING and not is_list(dtype):
        return type_bytes(dtype)
    told = dataset.value_bytes(name)
    if told is None:
        return type_bytes(dtype)
    values, text_bytes = told
    if not is_list(dtype):
        return text_bytes
    return values * (text_bytes if dtype.value_type == STRING else type_bytes(dtype.value_type))


@cache
def type_bytes(dtype: DataType) -> float:
    """Return the bytes of a value in memory; a text counts as `STRING_BYTES`, a list as `LIST_ELEMENTS`."""
    if is_list(dtype):
        return LIST_ELEMENTS * type_bytes(dtype.value_type)
    try:
        return max(1, int(dtype.bit_width) // 8)
    except ValueError:
        return STRING_BYTES

"""A plan as a value: equal for plans that are the same in all that a run of them can tell, names and origins too."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from gpuetl.expressions.ir import Call, Cast, Column, Literal, Parameter
from gpuetl.io.dataset import Dataset
from gpuetl.io.target import Target
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.plan import Plan
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import DataType

DATA = (str, bool, int, type(None), DataType, Call, Cast, Column, Literal, Parameter, Origin, SortKey, Target)
"""What is compared by value and never changes."""
MOST_FILES = 256
"""Of a source, beyond which its footers take much memory to keep them with a plan."""


class NoValue(Exception):
    """Of a plan with what may change while it looks the same: kernels' files, rows in memory, files just written."""


def value_of(plan: Plan) -> Hashable:
    """Return a plan's value, with the state in which its sources' files are.

    Raises
    ------
    NoValue
        Where it has none.
    DatasetError
        For a source's file that cannot be read.
    """
    named = [*plan.stages.items(), *plan.sinks.items(), *plan.kept.items(), *plan.checks.items()]
    numbers: dict[int, int] = {}
    nodes: list[Hashable] = []
    for node in walk_graph(*(node for _, node in named)):
        numbers[id(node)] = len(nodes)
        nodes.append((type(node).__name__, tuple(numbers[id(child)] for child in node.inputs), *own_fields(node)))
    names = tuple((name, numbers[id(node)]) for name, node in named)
    return tuple(nodes), names, len(plan.sinks), len(plan.kept), len(plan.checks)


def own_fields(node: Node) -> Iterator[Hashable]:
    """Yield the values of a node's fields, without its inputs, and what follows from them."""
    for name in node.__dataclass_fields__:
        if name not in node.input_names and name != "locality":
            yield frozen(getattr(node, name))


def frozen(value: Any) -> Hashable:
    """Return a field's value as one that can be a key."""
    if isinstance(value, DATA):
        return type(value), value
    if isinstance(value, tuple):
        return tuple(map(frozen, value))
    if isinstance(value, Mapping):
        return tuple((name, frozen(item)) for name, item in value.items())
    if isinstance(value, Dataset) and value.format == "parquet":
        allowed = (value.extra_columns, value.missing_columns, value.verify_checksums, value.verify_pages)
        declared = (value.declared, value.partitions, value.nulls, value.delimiter, allowed)
        return value.name, value.path, *map(frozen, declared), value.wanted, tuple(file_states(value))
    raise NoValue


def file_states(dataset: Dataset) -> Iterator[Hashable]:
    """Yield the states of the files."""
    if len(dataset.files) > MOST_FILES:
        raise NoValue
    for file in dataset.files:
        state = dataset.footers.footer(file).state
        if state is None:
            raise NoValue
        yield file.path, frozen(file.partition), state

"""A physical plan as bytes for workers.

Nodes are written one after another and refer to each other by number.  Pickled as nested objects, a chain of a thousand
nodes would exceed Python's recursion limit.  What only the driver needs is left out: the rows of sources in memory, row
groups, and positions in the YAML file.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Exchange, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Vocabularies, VocabularyLookups
from gpuetl.spec.values import Text

AnyNode = Node | Physical
Reduced = tuple[Any, ...]
"""What `__reduce__` returns: a callable, and its arguments."""


def nodes_of(plan: PhysicalPlan) -> list[AnyNode]:
    """Return the nodes in the order in which they get their numbers: logical ones, then physical ones, inputs first.

    Logical nodes that an operation stands for come before it, too: it has them in a field.
    """
    physical = list(walk_graph(*plan.roots))
    writes = [write for write, _ in plan.written.values()]
    operations = [operation_of(node) for node in physical if not isinstance(node, Exchange)]
    replaced: list[Node] = [part for node in operations if isinstance(node, Vocabularies) for part in node.parts]
    replaced += [lookup for node in operations if isinstance(node, VocabularyLookups) for lookup in node.lookups]
    return [*walk_graph(*replaced, *operations, *writes), *physical]


def operation_of(node: AnyNode) -> Any:
    """Return what the work of a node is recorded under: its operation; of what only moves rows, the node."""
    if isinstance(node, Scan):
        return node.read
    return node if isinstance(node, Node | Exchange) else node.operation


def without_groups(scan: Scan) -> Reduced:
    """Return a scan as tasks need it, which are given what they read."""
    return Scan, (scan.read, ((),) * len(scan.parts), scan.skipped)


def pack_nodes(nodes: Sequence[AnyNode | PhysicalPlan], reduced: Callable[[Scan], Reduced] = without_groups) -> bytes:
    """Return nodes, inputs first, as bytes; a plan of them may be the last.  `reduced` says what a scan takes along."""
    file = io.BytesIO()
    pickler = _Pickler(file, {id(node): number for number, node in enumerate(nodes)}, reduced)
    for node in nodes:
        pickler.write(node)
    return zlib.compress(file.getvalue(), 1)


def unpack_nodes(packed: bytes) -> list[Any]:
    """Return the nodes of `pack_nodes`."""
    file = io.BytesIO(zlib.decompress(packed))
    unpickler = _Unpickler(file)
    while file.tell() < len(file.getbuffer()):
        unpickler.nodes.append(unpickler.load())
    return unpickler.nodes


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, numbers: dict[int, int], reduced: Callable[[Scan], Reduced]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.numbers, self.reduced, self.written_number = numbers, reduced, -1

    def write(self, node: AnyNode | PhysicalPlan) -> None:
        self.written_number = self.numbers[id(node)]
        self.dump(node)

    def persistent_id(self, value: Any) -> int | None:
        number = self.numbers.get(id(value))
        return None if number == self.written_number else number

    def reducer_override(self, value: Any) -> Any:
        """Leave out what workers are given with a task, or have no use for; they may run in another folder."""
        if isinstance(value, Scan):
            return self.reduced(value)
        if isinstance(value, Path):
            return type(value), (str(value.absolute()),)
        return (str, (str(value),)) if isinstance(value, Text) else NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.nodes: list[Any] = []

    def persistent_load(self, number: int) -> Any:
        return self.nodes[number]

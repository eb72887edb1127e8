"""Vocabularies of the same rows, and lookups in them, put together: an engine then waits once for all columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field

from gpuetl.physical.nodes import Map, Physical
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Vocabularies, Vocabulary, VocabularyLookup, VocabularyLookups, VocabularyPart
from gpuetl.records import dataclass


def kept_by(node: Vocabulary) -> Hashable:
    """Return what tells vocabularies of the same rows apart."""
    return node.column, node.first, node.min_count, node.most


@dataclass
class VocabularyBatches:
    """The vocabularies of a plan by the rows that they number, and how many nodes read each node."""

    groups: dict[int, dict[Hashable, Vocabulary]] = field(default_factory=dict)
    readers: Counter[int] = field(default_factory=Counter)
    operations: dict[int, Vocabularies] = field(default_factory=dict)
    batches: dict[int, Map] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Sequence[Node], roots: Iterable[Node]) -> VocabularyBatches:
        """Look for vocabularies of the same rows."""
        batches = cls()
        for node in nodes:
            if isinstance(node, Vocabulary):
                batches.groups.setdefault(id(node.source), {}).setdefault(kept_by(node), node)
        if batches.groups:
            batches.readers.update(id(child) for node in nodes for child in node.inputs)
            batches.readers.update(map(id, roots))
        return batches

    def lowered(self, node: Node, inputs: Sequence[Physical]) -> Physical | None:
        """Return a node lowered as a part of a batch; None for any other.

        Rows in several partitions are counted in each, and meet then: these are in no batch.
        """
        if not self.groups or any(child.partitions > 1 for child in inputs):
            return None
        if isinstance(node, Vocabulary) and len(group := self.groups[id(node.source)]) > 1:
            return self.part(node, group, inputs[0])
        return self.looked_up(node, *inputs) if isinstance(node, VocabularyLookup) else None

    def part(self, node: Vocabulary, group: Mapping[Hashable, Vocabulary], source: Physical) -> Map:
        """Return one vocabulary of a batch; equal ones are one."""
        operation = self.operations.get(id(node.source))
        if operation is None:
            operation = Vocabularies(source=node.source, parts=tuple(group.values()), origin=node.origin)
            self.operations[id(node.source)] = operation
            self.batches[id(node.source)] = Map(operation, (source,))
        batch = self.batches[id(node.source)]
        place = [*group].index(kept_by(node))
        return Map(VocabularyPart(source=operation, place=place, origin=node.origin), (batch,))

    def looked_up(self, node: VocabularyLookup, left: Physical, right: Physical) -> Map | None:
        """Return a lookup, together with those before it that nothing else reads; None where there is no batch."""
        if not isinstance(right, Map) or not isinstance(right.operation, VocabularyPart):
            return None
        (batch,), rows = right.inputs, node.left
        lookups, places = [node], [right.operation.place]
        before = left.operation if isinstance(left, Map) else None
        if isinstance(before, VocabularyLookups) and left.inputs[1] is batch and self.readers[id(node.left)] == 1:
            lookups, places = [*before.lookups, node], [*before.places, *places]
            rows, left = before.left, left.inputs[0]
        operation = VocabularyLookups(
            left=rows, right=right.operation.source, lookups=tuple(lookups), places=tuple(places), origin=node.origin
        )
        return Map(operation, (left, batch))

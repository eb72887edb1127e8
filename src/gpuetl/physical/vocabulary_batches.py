"""Vocabularies of the same rows, and lookups in them, put together: an engine then waits once for all columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from gpuetl.physical.nodes import Map, Physical
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Vocabularies, Vocabulary, VocabularyLookup, VocabularyLookups, VocabularyPart
from gpuetl.records import dataclass


def kept_by(node: Vocabulary) -> Hashable:
    """Return what tells vocabularies of the same rows apart."""
    return node.column, node.first, node.min_count, node.most


MOST_VALUES, MOST_COLUMNS = 1 << 25, 4
"""The values of a batch: as many, or those of so many columns in which each row has another one.  What is kept of all
columns is in memory at the same time, at about 100 bytes a value."""
Place = tuple[Map, Vocabularies, int]
"""A batch, lowered and as an operation, and the number of a vocabulary in it."""


@dataclass
class VocabularyBatches:
    """The vocabularies of a plan by the rows that they number, and how many nodes read each node.

    `rows` tells how many rows a node may give.
    """

    rows: Callable[[Physical], int]
    groups: dict[int, dict[Hashable, Vocabulary]] = field(default_factory=dict)
    readers: Counter[int] = field(default_factory=Counter)
    places: dict[int, dict[Hashable, Place]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Sequence[Node], roots: Iterable[Node], rows: Callable[[Physical], int]) -> VocabularyBatches:
        """Look for vocabularies of the same rows."""
        batches = cls(rows)
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
        key = id(node.source)
        if key not in self.places:
            self.places[key] = dict(placed(group, source, self.rows(source)))
        batch, operation, place = self.places[key][kept_by(node)]
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


def placed(group: Mapping[Hashable, Vocabulary], source: Physical, rows: int) -> Iterator[tuple[Hashable, Place]]:
    """Yield the place of each vocabulary, in batches that keep no more values than memory should hold."""
    batches, total = [list[Hashable]()], 0
    for key, vocabulary in group.items():
        values = max(1, rows // vocabulary.min_count)
        if batches[-1] and total + values > max(MOST_VALUES, MOST_COLUMNS * rows):
            batches.append([])
            total = 0
        batches[-1].append(key)
        total += values
    for keys in batches:
        parts = tuple(group[key] for key in keys)
        operation = Vocabularies(source=parts[0].source, parts=parts, origin=parts[0].origin)
        batch = Map(operation, (source,))
        yield from ((key, (batch, operation, place)) for place, key in enumerate(keys))

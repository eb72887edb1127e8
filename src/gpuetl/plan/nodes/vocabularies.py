"""Vocabularies of several columns of the same rows, together: lowering puts them in the place of one after another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

import pyarrow as pa

from gpuetl.plan.node import Locality, Node, SingleInput, SortKey
from gpuetl.plan.nodes.vocabulary import Vocabulary, VocabularyLookup
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


def list_name(place: int, name: str) -> str:
    """Return the column with the values, counts or numbers of a vocabulary, counted from 0."""
    return f"{place}:{name}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Vocabularies(SingleInput):
    """Several vocabularies of the same rows, in one row: lists of the values, their counts and numbers of each."""

    parts: tuple[Vocabulary, ...]
    locality: ClassVar[Locality] = Locality.TABLE

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return three lists for each vocabulary."""
        return Schema(
            (list_name(place, name), pa.list_(dtype))
            for place, part in enumerate(self.parts)
            for name, dtype in part.schema.items()
        )

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the columns that are numbered."""
        return (frozenset(part.column for part in self.parts),)

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """The columns that are numbered, and the lists."""
        return [part.column for part in self.parts], self.schema

    def describe(self) -> str:
        """Return the columns."""
        return f"Vocabularies of {', '.join(part.column for part in self.parts)}, together"


@dataclass(frozen=True, eq=False, kw_only=True)
class VocabularyPart(SingleInput):
    """One of several vocabularies, as rows: `place` counts them from 0."""

    source: Vocabularies
    place: int
    locality: ClassVar[Locality] = Locality.TABLE

    @property
    def part(self) -> Vocabulary:
        """The vocabulary."""
        return self.source.parts[self.place]

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the vocabulary's."""
        return self.part.schema

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return its lists."""
        return (frozenset(list_name(self.place, name) for name in self.schema),)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order of the numbers."""
        return self.part.ordering

    def describe(self) -> str:
        """Return the column."""
        return f"Vocabulary of {self.part.column}, of several"


@dataclass(frozen=True, eq=False, kw_only=True)
class VocabularyLookups(Node):
    """Look up several columns in their vocabularies, the right side; `places` counts each among these from 0."""

    left: Node
    right: Node
    lookups: tuple[VocabularyLookup, ...]
    places: tuple[int, ...]

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return what the last lookup gives."""
        return self.lookups[-1].schema

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns and those that are looked up, and the vocabularies."""
        outputs = {lookup.output for lookup in self.lookups}
        ours = (wanted & self.left.schema.keys()) - outputs
        return ours | {name for lookup in self.lookups for name in lookup.left_on}, frozenset(self.right.schema)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order of the rows, as far as its columns stay."""
        return self.lookups[-1].ordering

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """The columns that are looked up, and the numbers."""
        return [name for lookup in self.lookups for name in lookup.left_on], [one.output for one in self.lookups]

    def describe(self) -> str:
        """Return the columns."""
        return f"Look up {', '.join(lookup.left_on[0] for lookup in self.lookups)}, together"

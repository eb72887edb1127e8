"""Physical nodes: partitions are read, mapped over, lined up and exchanged, by key or by ranges of an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from gpuetl.io.data_file import RowGroup
from gpuetl.places.paths import FilePath
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Locality, Node, SortKey
from gpuetl.plan.nodes import Grouped, InsertRows, Join, Project, Read, Sort, StateUnion, Union
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import INT64
from gpuetl.types.schema import Schema, free_name

# Physical nodes: partitions are read, mapped over, lined up and exchanged.
#
# A fragment is a run of `Map`s and `Concat`s between exchanges: on one partition it needs nothing of the others.


Route = Literal["hash", "gather", "broadcast", "sample", "range"]


@dataclass(frozen=True, eq=False)
class Scan:
    """Read a source; each of `parts` is one partition, a list of row groups.  `skipped` were left out by statistics."""

    read: Read
    parts: tuple[tuple[RowGroup, ...], ...]
    skipped: int = 0

    @cached_property
    def ranges(self) -> dict[tuple[FilePath, int], Mapping[str, tuple[Any, Any, int]]]:
        """What footers say of the columns of each row group, which `parts` leave out: they travel with tasks."""
        return {(group.file.path, group.index): group.ranges for group in self.read.dataset.row_groups}

    @cached_property
    def part_file_bytes(self) -> tuple[int, ...]:
        """The compressed bytes in files of the columns of each partition: one look at the footers for all runs."""
        wanted = (*self.read.paths, "")
        return tuple(sum(group.file_bytes.get(name, 0) for group in part for name in wanted) for part in self.parts)

    @property
    def inputs(self) -> tuple[Physical, ...]:
        """Nothing comes before a source."""
        return ()

    @property
    def partitions(self) -> int:
        """One a part, and never none: an empty source has one empty partition."""
        return len(self.parts)

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        """A source promises nothing."""
        return ()

    @property
    def in_sequence(self) -> bool:
        """A source promises nothing."""
        return False

    @property
    def schema(self) -> Schema:
        """The columns read."""
        return self.read.schema

    @property
    def origin(self) -> Origin:
        """The source."""
        return self.read.origin


@dataclass(frozen=True, eq=False)
class Map:
    """Run an operation on each partition of the first input.

    Further inputs have as many partitions, whose rows belong together, or one, which goes with every partition.
    `in_sequence` says that the order in which the operation leaves rows goes on from each partition to the next: the
    planner knows it of sorts, and operations that keep an order keep that.  An operation is that of one `Map`, under
    which its work is recorded.
    """

    operation: Node
    inputs: tuple[Physical, ...]
    in_sequence: bool = False
    partitions: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "partitions", self.inputs[0].partitions)
        keeps = (
            self.operation.ordering
            and not isinstance(self.operation, Sort)
            and self.operation.locality is not Locality.KEY
        )
        object.__setattr__(self, "in_sequence", self.in_sequence or bool(keeps and self.inputs[0].in_sequence))
        _ = self.partitioned_by  # each from the one below: thousands of nodes are too deep for a call in a call

    @cached_property
    def partitioned_by(self) -> tuple[str, ...]:
        """The first input's, as far as the operation passes those columns on."""
        kept = self.inputs[0].partitioned_by
        if isinstance(self.operation, Project):
            names = {source: name for name, source in self.operation.passed.items()}
            return tuple(names[name] for name in kept) if all(name in names for name in kept) else ()
        new_columns = frozenset[str]()
        if isinstance(self.operation, Grouped | InsertRows):
            new_columns = frozenset(self.operation.new_columns)
        return kept if all(name in self.schema and name not in new_columns for name in kept) else ()

    @property
    def main(self) -> int:
        """The input that has the rows of the stage so far; others are joined or added to them."""
        mirrored = isinstance(self.operation, Join) and self.operation.is_mirrored
        return int(mirrored or isinstance(self.operation, StateUnion))

    @property
    def schema(self) -> Schema:
        """The operation's output columns."""
        return self.operation.schema

    @property
    def origin(self) -> Origin:
        """The operation's step."""
        return self.operation.origin


@dataclass(frozen=True, eq=False)
class Exchange:
    """Move rows between partitions: rows of equal `keys` into one (hash), or all rows into one (gather, broadcast).

    A gather may stop where it has `limit` rows; with `keys`, it is one because few rows are expected.  The routes
    sample and range are in `nodes.py`.
    """

    route: Route
    source: Physical
    origin: Origin
    keys: tuple[str, ...] = ()
    partitions: int = 1
    limit: int | None = None

    @property
    def inputs(self) -> tuple[Physical, ...]:
        """The rows that are moved."""
        return (self.source,)

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        """The keys whose rows meet."""
        return self.keys

    @property
    def in_sequence(self) -> bool:
        """Rows come in no order."""
        return False

    @property
    def whole(self) -> bool:
        """Whether partitions are moved as they are, and not cut."""
        return self.route in ("gather", "broadcast")

    @property
    def schema(self) -> Schema:
        """The columns stay."""
        return self.source.schema


@dataclass(frozen=True, eq=False)
class Concat:
    """The partitions of the first input, then those of the next: a union that moves no row."""

    operation: Union
    inputs: tuple[Physical, ...]

    @cached_property
    def partitions(self) -> int:
        """Those of all inputs."""
        return sum(child.partitions for child in self.inputs)

    def part(self, index: int) -> tuple[Physical, int]:
        """Return the input that a partition comes from, and its number there."""
        for child in self.inputs:
            if index < child.partitions:
                return child, index
            index -= child.partitions
        raise IndexError(index)

    @property
    def main(self) -> int:
        """The input that has the rows of the stage so far: the second one where the first is the state of a window."""
        return int(isinstance(self.operation, StateUnion))

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        """Equal keys stay apart, in a partition of each input."""
        return ()

    @property
    def in_sequence(self) -> bool:
        """Each input has an order of its own."""
        return False

    @property
    def schema(self) -> Schema:
        """The columns that all inputs have."""
        return self.operation.schema

    @property
    def origin(self) -> Origin:
        """The union's step."""
        return self.operation.origin


Physical: TypeAlias = Scan | Map | Exchange | Concat


def matching(child: Physical, index: int) -> int:
    """Return the partition of an input that goes with partition `index`: a single one goes with all."""
    return index if child.partitions > 1 else 0


def reads(node: Physical) -> Iterator[tuple[int, int]]:
    """Yield each partition, by id and number, that a node reads of its inputs, as often as it asks for it."""
    if isinstance(node, Map | Exchange):
        for index in range(node.inputs[0].partitions):
            yield from ((id(child), matching(child, index)) for child in node.inputs)
    elif isinstance(node, Concat):
        yield from ((id(child), index) for child in node.inputs for index in range(child.partitions))


def count_reads(roots: Iterable[Physical]) -> Counter[tuple[int, int]]:
    """Return how often each partition is read, where each partition of a root is asked for once."""
    roots = tuple(roots)
    asked = Counter((id(root), index) for root in roots for index in range(root.partitions))
    for node in walk_graph(*roots):
        asked.update(reads(node))
    return asked


def first_read(node: Map | Concat, index: int) -> tuple[Physical, int]:
    """Return the partition that partition `index` of a node is made from, the first one where there are several."""
    return node.part(index) if isinstance(node, Concat) else (node.inputs[0], matching(node.inputs[0], index))


def gathers(node: Physical) -> bool:
    """Return whether a node has to have in one partition what several had: it gets no less where they get smaller."""
    return node.partitions == 1 and any(
        isinstance(below, Exchange) and below.source.partitions > 1 and not below.keys for below in walk_graph(node)
    )


# Rows split by ranges of an order, so that partitions sorted one by one are in order one after another.
#
# The boundaries between ranges are rows of a sample of all partitions, as in sample sort (Blelloch et al., "A
# comparison
# of sorting algorithms for the Connection Machine CM-2", 1991).  A boundary knows the partition that its row came
# from,
# and of the rows that tie with it those of earlier partitions come before it.  So rows that tie keep their order, and
# a
# value that most rows have fills as many partitions as it needs.


SAMPLED = 4096
"""Rows that are looked at of a full partition: ranges then differ by a few percent in size."""
SMALLEST = 16
"""A range has at least this part of a full partition: rows that turn out to be few are sorted in fewer partitions."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Boundaries(Exchange):
    """Take one row in `one_in` of each partition, its keys; give the first rows of all ranges but the first, in order.

    They are at even ranks of the sample; `ranges` ranges at most, of about `least` rows or more.
    """

    by: tuple[SortKey, ...]
    ranges: int
    one_in: int
    least: int

    @cached_property
    def schema(self) -> Schema:
        """The keys of the order and, last, the partition of each row, under a name that none of them has."""
        keys = self.source.schema.select(tuple(dict.fromkeys(key.column for key in self.by)))
        return keys.updated({free_name("partition:", keys): INT64})

    def ranks(self, sampled: int) -> list[int]:
        """Return the positions of the boundaries in a sorted sample of this length."""
        count = max(1, min(self.ranges, sampled * self.one_in // self.least))
        return [sampled * place // count for place in range(1, count)]


@dataclass(frozen=True, eq=False, kw_only=True)
class RangeExchange(Exchange):
    """Move rows into ranges of an order; the partitions come in that order, the rows within each do not."""

    by: tuple[SortKey, ...]
    boundaries: Physical

    @property
    def inputs(self) -> tuple[Physical, ...]:
        """The rows that are moved, and the boundaries, which go with each partition."""
        return self.source, self.boundaries


def by_range(source: Physical, by: tuple[SortKey, ...], partition_rows: int, origin: Origin) -> RangeExchange:
    """Return the rows in as many ranges as the source has partitions, full ones of which have `partition_rows` rows."""
    one_in, least = (max(1, partition_rows // part) for part in (SAMPLED, SMALLEST))
    count = source.partitions
    boundaries = Boundaries("sample", source, origin, by=by, ranges=count, one_in=one_in, least=least)
    return RangeExchange("range", source, origin, partitions=count, by=by, boundaries=boundaries)

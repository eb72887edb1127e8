"""Rows split by ranges of an order, so that partitions sorted one by one are in order one after another.

The boundaries between ranges are rows of a sample of all partitions, as in sample sort (Blelloch et al., "A comparison
of sorting algorithms for the Connection Machine CM-2", 1991).  A boundary knows the partition that its row came from,
and of the rows that tie with it those of earlier partitions come before it.  So rows that tie keep their order, and a
value that most rows have fills as many partitions as it needs.
"""

from __future__ import annotations

from functools import cached_property

from gpuetl.physical.nodes import Exchange, Physical
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import INT64
from gpuetl.types.schema import Schema, free_name

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
        """Return where the boundaries are in so many rows of a sample, in order."""
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

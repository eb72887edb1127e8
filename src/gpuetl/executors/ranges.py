"""Boundaries between ranges of an order, found by a sample, and rows split by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.interface import Backend, Frame
from gpuetl.physical.ranges import Boundaries, RangeExchange
from gpuetl.types.data_types import INT64


def sampled(backend: Backend, node: Boundaries, index: int, frame: Frame) -> Frame:
    """Return the keys of a sample of partition `index`, with that number beside them."""
    rows, (*names, partition) = sampled_rows(backend.rows(frame), node.one_in), node.schema
    keys = backend.take(frame, names, rows)
    numbers = pa.repeat(pa.scalar(index, INT64), len(rows))
    return backend.from_arrow(backend.to_arrow(keys).append_column(partition, numbers))


def sampled_rows(rows: int, one_in: int) -> NDArray[np.int64]:
    """Return the numbers, ascending, of one row in `one_in`, each drawn from as many that follow each other.

    They are the same for as many rows: a partition that is computed again has the same sample.
    """
    starts = np.arange(0, rows, one_in, dtype=np.int64)
    places = starts + np.random.default_rng(0).integers(0, one_in, len(starts))
    return places[places < rows]


def boundaries(backend: Backend, node: Boundaries, pieces: Sequence[Frame]) -> Frame:
    """Sort the sample, of which the partitions have given a piece each, in order; return its rows at even ranks."""
    sample, nothing = backend.concat(pieces, node.schema), backend.concat([], node.schema)
    (ordered,) = backend.split_by_order(sample, node.by, nothing, nothing)
    return backend.take(ordered, node.schema, np.array(node.ranks(backend.rows(sample)), np.int64))


def split_by_range(backend: Backend, node: RangeExchange, index: int, frame: Frame, boundaries: Frame) -> list[Frame]:
    """Split rows by range; a boundary of this partition, or one before, comes before the rows that tie with it."""
    table, pieces = backend.to_arrow(boundaries), [frame]
    if table.num_rows:
        partition, keys = table.column(-1).to_numpy(), table.select(table.column_names[:-1])
        sides = (backend.from_arrow(keys.filter(pa.array(side))) for side in (partition <= index, partition > index))
        pieces = backend.split_by_order(frame, node.by, *sides)
    nothing = backend.concat([], node.schema)
    return pieces + [nothing] * (node.partitions - len(pieces))

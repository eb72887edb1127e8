"""Rows split into pieces for other partitions: in a piece they keep their order, or are sorted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import take_rows, with_column
from gpuetl.engines.pandas.columns.keys import hash_rows
from gpuetl.engines.pandas.columns.order import distinct_strings, places_among, sorted_order
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import STRING


def split_by_hash(frame: pa.Table, keys: Sequence[str], count: int) -> list[pa.Table]:
    """Split rows by a hash of the keys that is the same in every process."""
    target = (hash_rows(frame, keys) % count).astype(np.int64)
    return pieces(frame, np.argsort(target, kind="stable"), np.cumsum(np.bincount(target, minlength=count)))


def split_by_order(frame: pa.Table, by: Sequence[SortKey], before: pa.Table, after: pa.Table) -> list[pa.Table]:
    """Sort rows between the boundaries, and cut where these come to stand: before or after the rows that tie.

    Rows between two boundaries need no order among themselves, so strings count only by where they are between these.
    Without boundaries, as of a sample, all rows are sorted.
    """
    names = list(dict.fromkeys(key.column for key in by))
    parts = [part.select(names) for part in (before, frame, after)]
    bounded = before.num_rows + after.num_rows > 0
    strings = [name for name in names if bounded and frame.schema.field(name).type == STRING]
    for name in strings:
        limits = distinct_strings([part.column(name) for part in (before, after)])
        parts = [with_column(part, name, places_among(limits, part.column(name))) for part in parts]
    order = sorted_order(pa.concat_tables(parts), by)
    numbers = order - before.num_rows
    is_boundary = (numbers < 0) | (numbers >= frame.num_rows)
    cuts = np.flatnonzero(is_boundary) - np.arange(before.num_rows + after.num_rows)
    return pieces(frame, numbers[~is_boundary], np.append(cuts, frame.num_rows))


def pieces(frame: pa.Table, rows: NDArray[np.int64], ends: NDArray[np.int64]) -> list[pa.Table]:
    """Return the rows of these numbers, cut at `ends`."""
    ordered = take_rows(frame, rows)
    return [
        ordered.slice(start, end - start) for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
    ]

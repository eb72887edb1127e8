"""Window functions of a row's place in its segment.  What `functions` says of all of them holds here."""

from __future__ import annotations

import numpy as np

from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.windows.rows import WindowRows
from gpuetl.engines.pandas.windows.segments import integer_frame_sums


def row_number(rows: WindowRows) -> Masked:
    """Return 1, 2, 3 and so on in each segment."""
    return Masked.all_valid(rows.segments.position + 1)


def rank(rows: WindowRows) -> Masked:
    """Return 1 more than the rows before in the segment that do not tie with the row."""
    return Masked.all_valid(rows.peers.first_row - rows.segments.first_row + 1)


def dense_rank(rows: WindowRows) -> Masked:
    """Return 1 more than the runs of tied rows before in the segment."""
    return Masked.all_valid(integer_frame_sums(rows.peers.position == 0, rows.segments.first_row))


def percent_rank(rows: WindowRows) -> Masked:
    """Return ``(rank - 1) / (rows - 1)``, 0 in a segment of one row."""
    others = rows.segments.last_row - rows.segments.first_row
    return Masked.all_valid((rank(rows).values - 1) / np.maximum(others, 1))


def cumulative_share(rows: WindowRows) -> Masked:
    """Return the share of the segment's rows that come before the row or tie with it, itself included."""
    through = rows.peers.last_row - rows.segments.first_row + 1
    return Masked.all_valid(through / (rows.segments.last_row - rows.segments.first_row + 1))


def tile(rows: WindowRows, n: int) -> Masked:
    """Return the tile, from 1, of `n` equal ones; where rows are left over, the first tiles have one more."""
    if n < 1:
        raise ValueError(f"ntile: n must be 1 or more, got {n}")
    place = rows.segments.position
    size, longer = np.divmod(rows.segments.last_row - rows.segments.first_row + 1, n)
    in_longer = longer * (size + 1)
    tiles = np.where(place < in_longer, place // (size + 1), longer + (place - in_longer) // np.maximum(size, 1))
    return Masked.all_valid(tiles + 1)

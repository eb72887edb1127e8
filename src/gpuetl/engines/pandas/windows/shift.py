"""Window functions that give a value of another row.  What `functions` says of all of them holds here.

Where nulls are ignored, rows are counted among those that have a value: `_Present` numbers these.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.windows.rows import WindowRows
from gpuetl.engines.pandas.windows.scans import Ints
from gpuetl.records import dataclass


def previous_value(rows: WindowRows, x: Masked, offset: int = 1, ignore_nulls: bool = False) -> Masked:
    """Return `x` of `offset` rows before in the segment; null before the segment's first row.

    Nulls are kept, or, with `ignore_nulls`, not counted as rows; an `offset` of 0 gives the row's own `x`.
    """
    step = _checked_offset(offset, "lag", rows)
    if ignore_nulls and step:
        present = _Present(rows, x)
        return present.values(present.before - step)
    values, valid = x.values.copy(), np.zeros_like(x.valid)
    values[step:] = x.values[: len(values) - step]
    valid[step:] = x.valid[: len(values) - step]
    return Masked(values, valid & (rows.segments.position >= step))


def following_value(rows: WindowRows, x: Masked, offset: int = 1, ignore_nulls: bool = False) -> Masked:
    """Return `x` of `offset` rows after in the segment, as in `previous_value`."""
    step = _checked_offset(offset, "lead", rows)
    if ignore_nulls and step:
        present = _Present(rows, x)
        return present.values(present.before + x.valid + (step - 1))
    values, valid = x.values.copy(), np.zeros_like(x.valid)
    values[: len(values) - step] = x.values[step:]
    valid[: len(values) - step] = x.valid[step:]
    return Masked(values, valid & (np.arange(len(values)) + step <= rows.segments.last_row))


def first_value(rows: WindowRows, x: Masked, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the segment's first row, null if that is null; with `ignore_nulls`, the first that is not null."""
    if ignore_nulls:
        present = _Present(rows, x)
        return present.values(present.before[rows.segments.first_row])
    return Masked(x.values[rows.segments.first_row], x.valid[rows.segments.first_row])


def last_value(rows: WindowRows, x: Masked, ignore_nulls: bool = False) -> Masked:
    """Return `x` of the last row of the whole segment, as in `first_value`."""
    if ignore_nulls:
        present = _Present(rows, x)
        return present.values((present.before + x.valid)[rows.segments.last_row] - 1)
    return Masked(x.values[rows.segments.last_row], x.valid[rows.segments.last_row])


def fill_forward(rows: WindowRows, x: Masked) -> Masked:
    """Return the last non-null `x` so far; null before the first of the segment."""
    present = _Present(rows, x)
    return present.values(present.before + x.valid - 1)


def fill_backward(rows: WindowRows, x: Masked) -> Masked:
    """Return the next non-null `x` from the row on; null after the last of the segment."""
    present = _Present(rows, x)
    return present.values(present.before)


@dataclass(frozen=True, eq=False)
class _Present:
    """The rows of a column that are not null, numbered from 0 over all segments."""

    rows: WindowRows
    x: Masked

    @cached_property
    def before(self) -> Ints:
        """How many of them are before each row."""
        counts: Ints = np.cumsum(self.x.valid, dtype=np.int64) - self.x.valid
        return counts

    def values(self, numbers: Ints) -> Masked:
        """Return for each row the value of one of them; null where it is not in the row's segment."""
        present = np.append(np.flatnonzero(self.x.valid), -1)
        sources = present[np.clip(numbers, -1, len(present) - 1)]
        segments = self.rows.segments
        found = (numbers >= 0) & (sources >= segments.first_row) & (sources <= segments.last_row)
        return Masked(self.x.values[np.where(found, sources, 0)], found)


def _checked_offset(offset: int, name: str, rows: WindowRows) -> int:
    """Return `offset`, at most the number of rows; raise `ValueError` if it is negative."""
    if offset < 0:
        raise ValueError(f"{name}: offset must be 0 or more, got {offset}")
    return min(offset, rows.segments.n_rows)

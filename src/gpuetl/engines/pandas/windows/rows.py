"""The sorted rows that window functions take, and the steps from one counted row to the next."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.windows.scans import Ints
from gpuetl.engines.pandas.windows.segments import Segments
from gpuetl.records import dataclass


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Sorted rows: their segments, their `time` where they are ordered by one, and where they tie.

    `time` is int64 microseconds, ascending in each segment with nulls last, when the first order_by key is a
    date or a timestamp in ascending order; else None.  `new_value` marks rows that differ in a key from the row
    before, as the first row of each segment does; where it is None, no rows tie.
    """

    segments: Segments
    time: Masked | None = None
    new_value: NDArray[np.bool_] | None = None

    @cached_property
    def peers(self) -> Segments:
        """The runs of rows that tie."""
        n_rows = self.segments.n_rows
        starts = np.arange(n_rows) if self.new_value is None else np.flatnonzero(self.new_value)
        return Segments(starts, n_rows)

    def timed(self, name: str) -> Masked:
        """Return `time`; raise `ValueError` naming the function where there is none."""
        if self.time is None:
            raise ValueError(f"{name} needs a date or timestamp, ascending, as the first order_by key")
        return self.time


def continues(rows: WindowRows, counted: Ints) -> NDArray[np.bool_]:
    """Return, for each counted row, whether another one precedes it in its segment."""
    result: NDArray[np.bool_] = np.diff(rows.segments.segment_of_row[counted], prepend=-1) == 0
    return result


def microseconds_since(time: Masked, counted: Ints) -> NDArray[np.uint64]:
    """Return the time since the counted row before; unsigned, as two int64 may be 2**64 apart."""
    instants = time.values[counted].astype(np.uint64)
    return np.diff(instants, prepend=instants[:1])

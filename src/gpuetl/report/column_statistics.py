"""Statistics of a sink's columns, as data: nulls, distinct values, least and greatest, a histogram or top values."""

from __future__ import annotations

from gpuetl.records import dataclass


@dataclass(frozen=True)
class Histogram:
    """How many values are in each of equally wide bins from `low` to `high`, as they are shown.

    Null, NaN and infinite values are in none.  A value on a boundary is in the upper bin, `high` in the last one.
    """

    low: str
    high: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ColumnStatistics:
    """One column of the rows that a run wrote to a sink.

    `distinct` counts different values, exactly, without null.  It is None for nested and binary types.  `least` and
    `greatest` are empty if there is no value.  `top` has the most frequent strings or booleans with their counts.
    Equally frequent values are in order.
    """

    name: str
    dtype: str
    rows: int
    nulls: int
    distinct: int | None = None
    least: str = ""
    greatest: str = ""
    histogram: Histogram | None = None
    top: tuple[tuple[str, int], ...] = ()

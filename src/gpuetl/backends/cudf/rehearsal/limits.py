"""What the statistics of a source's files tell a rehearsal; drivers of clusters ask for it, who load no engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuetl.io.dataset import RowGroup

ROWS = 1 << 12
"""What is read of a source: enough that columns of few distinct texts show as such."""
MOST_GROUPS = 64
"""Row groups whose statistics are looked at: each takes some tens of microseconds a column."""
Limits = tuple[Any, Any, int]
"""A column's least and greatest value, and its nulls."""


def limits_of(names: Sequence[str], groups: Sequence[RowGroup]) -> dict[str, Limits]:
    """Return the limits of columns of which each row group states them."""
    groups = groups[:: -(-len(groups) // MOST_GROUPS) or 1]
    found = {name: [group.ranges.get(name) for group in groups] for name in names}
    return {name: together([each for each in of if each]) for name, of in found.items() if of and all(of)}


def together(limits: Sequence[Limits]) -> Limits:
    """Return the limits of all."""
    least, greatest = ([each[end] for each in limits if each[end] is not None] for end in range(2))
    nulls = sum(each[2] for each in limits)
    return (min(least), max(greatest), nulls) if least else (None, None, nulls)

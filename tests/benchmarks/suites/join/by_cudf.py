"""The join questions in classic cuDF, reading only the columns that are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf

Read = Callable[..., Any]


def q1(read: Read) -> Any:
    """Join a small table on an integer."""
    return sums(read, "small", "id1")


def q2(read: Read) -> Any:
    """Join a medium table on an integer."""
    return sums(read, "medium", "id2")


def q3(read: Read) -> Any:
    """Join a medium table, keeping rows without a match."""
    return sums(read, "medium", "id2", "left")


def q4(read: Read) -> Any:
    """Join a medium table on a string."""
    return sums(read, "medium", "id5")


def q5(read: Read) -> Any:
    """Join a table as large."""
    return sums(read, "big", "id3")


def sums(read: Read, right: str, key: str, how: str = "inner") -> Any:
    """Return the check sums of a join; a null key matches nothing, which merge would match with a null."""
    left = read("x", [key, "v1"])
    left = left.dropna(subset=[key]) if how == "inner" else left
    joined = left.merge(read(right, [key, "v2"]), on=key, how=how)
    return cudf.DataFrame({"n": [len(joined)], "v1": [joined["v1"].sum()], "v2": [joined["v2"].sum()]})

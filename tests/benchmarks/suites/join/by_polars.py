"""The join questions in Polars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl

Scan = Callable[[str], pl.LazyFrame]


def q1(scan: Scan) -> pl.LazyFrame:
    """Join a small table on an integer."""
    return sums(scan, "small", "id1")


def q2(scan: Scan) -> pl.LazyFrame:
    """Join a medium table on an integer."""
    return sums(scan, "medium", "id2")


def q3(scan: Scan) -> pl.LazyFrame:
    """Join a medium table, keeping rows without a match."""
    return sums(scan, "medium", "id2", "left")


def q4(scan: Scan) -> pl.LazyFrame:
    """Join a medium table on a string."""
    return sums(scan, "medium", "id5")


def q5(scan: Scan) -> pl.LazyFrame:
    """Join a table as large."""
    return sums(scan, "big", "id3")


def sums(scan: Scan, right: str, key: str, how: Literal["inner", "left"] = "inner") -> pl.LazyFrame:
    """Return the check sums of a join."""
    joined = scan("x").join(scan(right).select(key, "v2"), on=key, how=how)
    return joined.select(n=pl.len(), v1=pl.col("v1").sum(), v2=pl.col("v2").sum())

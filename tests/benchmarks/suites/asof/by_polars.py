"""The as-of joins in Polars, whose rows are in the order of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

Scan = Callable[[str], pl.LazyFrame]


def q1(scan: Scan) -> pl.LazyFrame:
    """Join the last quote of a key before each trade."""
    return sums(scan, by="key")


def q2(scan: Scan) -> pl.LazyFrame:
    """Join the nearest quote of a key, at most 10 minutes away."""
    return sums(scan, by="key", strategy="nearest", tolerance="10m")


def q3(scan: Scan) -> pl.LazyFrame:
    """Join the last quote before each trade, whatever its key."""
    return sums(scan)


def sums(scan: Scan, **options: Any) -> pl.LazyFrame:
    """Return the check sums of a join."""
    quotes = scan("quotes") if "by" in options else scan("quotes").drop("key")
    joined = scan("trades").set_sorted("ts").join_asof(quotes.set_sorted("ts"), on="ts", **options)
    value = pl.col("size") * pl.col("price")
    return joined.select(n=pl.col("price").count(), price=pl.col("price").sum(), value=value.sum())

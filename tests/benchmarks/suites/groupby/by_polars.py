"""The group-by questions in Polars."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

Scan = Callable[[str], pl.LazyFrame]
V1, V2, V3 = pl.col("v1"), pl.col("v2"), pl.col("v3")
IDS = ["id1", "id2", "id3", "id4", "id5", "id6"]


def q1(scan: Scan) -> pl.LazyFrame:
    """Sum by a text of 100 values."""
    return scan("x").group_by("id1").agg(V1.sum())


def q2(scan: Scan) -> pl.LazyFrame:
    """Sum by two texts."""
    return scan("x").group_by("id1", "id2").agg(V1.sum())


def q3(scan: Scan) -> pl.LazyFrame:
    """Sum and mean by a text of many values."""
    return scan("x").group_by("id3").agg(V1.sum(), V3.mean())


def q4(scan: Scan) -> pl.LazyFrame:
    """Means by an integer of 100 values."""
    return scan("x").group_by("id4").agg(V1.mean(), V2.mean(), V3.mean())


def q5(scan: Scan) -> pl.LazyFrame:
    """Sums by an integer of many values."""
    return scan("x").group_by("id6").agg(V1.sum(), V2.sum(), V3.sum())


def q6(scan: Scan) -> pl.LazyFrame:
    """Median and standard deviation."""
    return scan("x").group_by("id4", "id5").agg(median=V3.median(), sd=V3.std())


def q7(scan: Scan) -> pl.LazyFrame:
    """Range."""
    return scan("x").group_by("id3").agg(range=V1.max() - V2.min())


def q8(scan: Scan) -> pl.LazyFrame:
    """The two greatest."""
    return scan("x").drop_nulls("v3").group_by("id6").agg(largest=V3.top_k(2)).explode("largest", empty_as_null=False)


def q9(scan: Scan) -> pl.LazyFrame:
    """Squared correlation."""
    return scan("x").group_by("id2", "id4").agg(r2=pl.corr("v1", "v2") ** 2)


def q10(scan: Scan) -> pl.LazyFrame:
    """Sum and count by all keys."""
    groups = scan("x").group_by(IDS).agg(v3=V3.sum(), count=pl.len())
    return groups.select(groups=pl.len(), v3=V3.sum(), count=pl.col("count").sum())

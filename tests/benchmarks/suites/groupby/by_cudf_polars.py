"""The group-by questions in Polars as cudf-polars can run them."""

from __future__ import annotations

import polars as pl

from .by_polars import V1, V2, V3, Scan, q1, q2, q3, q4, q5, q6, q7, q10

__all__ = ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10"]


def q8(scan: Scan) -> pl.LazyFrame:
    """The two greatest, by their rank."""
    rows = scan("x").select("id6", "v3").drop_nulls("v3")
    ranked = rows.with_columns(place=V3.rank("ordinal", descending=True).over("id6"))
    return ranked.filter(pl.col("place") <= 2).select("id6", largest="v3")


def q9(scan: Scan) -> pl.LazyFrame:
    """Squared correlation, of the sums of powers."""
    rows = scan("x").select("id2", "id4", V1.cast(pl.Float64), V2.cast(pl.Float64)).drop_nulls(["v1", "v2"])
    powers = rows.with_columns(v11=V1 * V1, v22=V2 * V2, v12=V1 * V2).group_by("id2", "id4")
    sums = powers.agg(V1.sum(), V2.sum(), pl.col("v11", "v22", "v12").sum(), n=pl.len())
    n, v11, v22, v12 = (pl.col(name) for name in ("n", "v11", "v22", "v12"))
    r2 = (n * v12 - V1 * V2) ** 2 / ((n * v11 - V1 * V1) * (n * v22 - V2 * V2))
    return sums.select("id2", "id4", r2=r2)

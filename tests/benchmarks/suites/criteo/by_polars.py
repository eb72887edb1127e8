"""The features in Polars: a join of each category with its numbered values."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from .make import CATEGORIES, COUNTS

Scan = Callable[[str], pl.LazyFrame]
NUMBERS = [f"I{number}" for number in range(1, COUNTS + 1)]
NAMES = [f"C{number}" for number in range(1, len(CATEGORIES) + 1)]
LEAST = 15


def q1(scan: Scan) -> pl.LazyFrame:
    """Make features of 13 counts and 26 categories."""
    clicks = scan("clicks")
    rows = clicks.with_columns(pl.col(NUMBERS).fill_null(0).clip(lower_bound=0).cast(pl.Float64).log1p())
    for name in NAMES:
        rows = rows.join(vocabulary(clicks, name), on=name, how="left")
    normalised = [((pl.col(n) - pl.col(n).mean()) / pl.col(n).std(ddof=0)).alias(n) for n in NUMBERS]
    numbered = [pl.when(pl.col(n).is_null()).then(0).otherwise(pl.col(f"{n}_id").fill_null(1)).alias(n) for n in NAMES]
    features = rows.select(*normalised, *numbered)
    return features.select(
        *((pl.col(n) * pl.col(n)).sum().alias(n) for n in NUMBERS), *(pl.col(n).sum() for n in NAMES)
    )


def vocabulary(clicks: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Number the frequent values of a category, from 2."""
    counted = clicks.select(name).drop_nulls().group_by(name).agg(n=pl.len()).filter(pl.col("n") >= LEAST)
    ordered = counted.sort(["n", name], descending=[True, False])
    return ordered.with_row_index(f"{name}_id", offset=2).select(name, pl.col(f"{name}_id").cast(pl.Int64))

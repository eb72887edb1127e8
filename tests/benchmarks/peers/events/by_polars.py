"""The events pipeline by hand in Polars: lazy, both results collected in one go."""

from __future__ import annotations

from pathlib import Path

import polars as pl

FEATURES = [
    "event_id",
    "user_id",
    "ts",
    "band",
    "revenue",
    "n_before",
    "spent",
    "gap_s",
    "dearest",
    "spent_hour",
    "mean_10",
]


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    users = pl.scan_parquet(data / "users.parquet")
    purchases = (
        pl.scan_parquet(data / "events" / "*.parquet")
        .filter((pl.col("quantity") > 0) & (pl.col("category") != "category_07"))
        .join(users, on="user_id", how="left", validate="m:1")
        .with_columns(
            day=pl.col("ts").dt.date(),
            revenue=pl.col("amount") * pl.col("quantity"),
            age=pl.col("ts").dt.year() - pl.col("born"),
            band=pl.when(pl.col("amount") >= 100).then(pl.lit("high")).when(pl.col("amount") >= 25).then(pl.lit("mid"))
            .otherwise(pl.lit("low")),
        )
    )  # fmt: skip
    found, counted = pl.collect_all([features(purchases), days(purchases)])
    found.write_parquet(out / "features.parquet", compression="zstd", compression_level=1)
    counted.write_parquet(out / "days.parquet", compression="zstd", compression_level=1)


def features(purchases: pl.LazyFrame) -> pl.LazyFrame:
    """Return the features of each purchase from the user's earlier ones."""
    amount, user = pl.col("amount"), "user_id"
    return (
        purchases.sort(user, "ts")
        .with_columns(
            n_before=pl.int_range(pl.len()).over(user),
            spent=amount.cum_sum().over(user),
            gap_s=pl.col("ts").diff().over(user).dt.total_microseconds() / 1e6,
            dearest=amount.cum_max().over(user),
            spent_hour=amount.rolling_sum_by("ts", "1h", closed="both").over(user),
            mean_10=amount.rolling_mean(10, min_samples=1).over(user),
        )
        .select(FEATURES)
    )


def days(purchases: pl.LazyFrame) -> pl.LazyFrame:
    """Return what each day brought, a region and category."""
    return (
        purchases.group_by("region", "category", "day")
        .agg(
            purchases=pl.len(), revenue=pl.col("revenue").sum(), users=pl.col("user_id").n_unique(),
            dearest=pl.col("amount").max(), age=pl.col("age").mean(), high=(pl.col("band") == "high").sum(),
        )
        .sort("region", "category", "day")
    )  # fmt: skip

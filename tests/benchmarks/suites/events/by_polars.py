"""The events' jobs in Polars; `scan` gives a table's lazy frame."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from .codec import codec_of_library, zstd_level

Scan = Callable[[str], pl.LazyFrame]
AMOUNT, TS, USER = pl.col("amount"), pl.col("ts"), "user_id"
FEATURES = [
    "user_id", "ts", "region", "category", "km", "n", "spent", "last", "gap_s", "recent", "spent_hour", "session",
]  # fmt: skip
HALF_HOUR = timedelta(minutes=30)


def q1(scan: Scan) -> pl.LazyFrame:
    """Filter, group, distinct count."""
    kept = scan("events").filter((pl.col("quantity") >= 3) & (pl.col("lat") > -45))
    return kept.group_by("category").agg(n=pl.len(), revenue=AMOUNT.sum(), users=pl.col(USER).n_unique())


def q2(scan: Scan) -> pl.LazyFrame:
    """Join, group."""
    joined = scan("events").join(scan("users"), left_on=USER, right_on="id")
    return joined.group_by("region").agg(n=pl.len(), revenue=AMOUNT.sum(), dearest=AMOUNT.max())


def q3(scan: Scan) -> pl.LazyFrame:
    """Features of each user's events in order."""
    rows = scan("events").select(USER, "ts", "amount").sort(USER, "ts")
    return summary(
        rows.select(
            spent=AMOUNT.cum_sum().over(USER), n=pl.int_range(1, pl.len() + 1).over(USER), gap=TS.diff().over(USER)
        )
    )


def summary(features: pl.LazyFrame) -> pl.LazyFrame:
    """Return the one row that ends q3."""
    gap_us = pl.col("gap").dt.total_microseconds()
    return features.select(
        most_spent=pl.col("spent").max(), spent=pl.col("spent").sum(), most=pl.col("n").max(),
        longest_us=gap_us.max(), gaps_us=gap_us.sum(),
    )  # fmt: skip


def q4(scan: Scan) -> pl.LazyFrame:
    """Return the sum of an expression."""
    quantity = pl.col("quantity")
    return scan("events").select(total=(AMOUNT * quantity + 0.19 * AMOUNT - 0.05 * AMOUNT * quantity).sum())


def pipeline(scan: Scan, out: Path, engine: Any) -> None:
    """Read, compute, write; the totals are read from the features' file, which is cheaper than to compute them again."""
    gap = TS.diff().over(USER)
    features = (
        joined(scan)
        .sort(USER, "ts")
        .with_columns(
            n=pl.int_range(1, pl.len() + 1).over(USER),
            spent=AMOUNT.cum_sum().over(USER),
            last=AMOUNT.shift().over(USER),
            gap_s=gap.dt.total_microseconds() / 1e6,
            recent=AMOUNT.ewm_mean_by("ts", half_life="1d").over(USER),
            spent_hour=AMOUNT.rolling_sum_by("ts", "1h", closed="both").over(USER),
            session=(gap > HALF_HOUR).cast(pl.Int64).fill_null(0).cum_sum().over(USER),
        )
    )
    write(features, out, engine)


def joined(scan: Scan) -> pl.LazyFrame:
    """Return the events with their users and the distance."""
    kept = scan("events").filter((pl.col("quantity") > 0) & AMOUNT.is_not_null())
    start, end, lon, home_lon = (
        pl.col(name).cast(pl.Float64).radians() for name in ("home_lat", "lat", "lon", "home_lon")
    )
    half = ((end - start) / 2).sin() ** 2 + start.cos() * end.cos() * ((lon - home_lon) / 2).sin() ** 2
    km = 2 * 6371.0088 * pl.when(half > 1).then(1.0).otherwise(half).sqrt().arcsin()
    return kept.join(scan("users"), left_on=USER, right_on="id").with_columns(km=km)


def write(features: pl.LazyFrame, out: Path, engine: Any) -> None:
    """Write the features, and their totals."""
    folder = out / "features"
    folder.mkdir(parents=True)
    level = zstd_level() if isinstance(engine, str) else None  # cudf-polars takes none
    compression: Any = {"compression": codec_of_library("uncompressed"), "compression_level": level}
    features.select(FEATURES).sink_parquet(folder / "0.parquet", **compression, engine=engine)
    totals = (
        pl.scan_parquet(sorted(path for path in folder.rglob("*.parquet") if path.is_file()))
        .group_by("region", "category")
        .agg(
            events=pl.len(), km=pl.col("km").mean(), recent=pl.col("recent").mean(),
            most_hour=pl.col("spent_hour").max(), sessions=pl.col("session").max(),
        )
    )  # fmt: skip
    totals.collect(engine=engine).write_parquet(out / "totals.parquet", **compression)

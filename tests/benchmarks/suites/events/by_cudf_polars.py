"""The events' jobs in Polars as cudf-polars can run them: `over` takes sums, shifts, differences and ranks."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from .by_polars import AMOUNT, HALF_HOUR, TS, USER, Scan, joined, q1, q2, q4, summary, write

__all__ = ["pipeline", "q1", "q2", "q3", "q4"]

START, DAY_US = datetime(2026, 1, 1), 86_400e6


def q3(scan: Scan) -> pl.LazyFrame:
    """Features of each user's events in order; no two have one time, so that the rank is the running count."""
    rows = scan("events").select(USER, "ts", "amount").sort(USER, "ts")
    return summary(
        rows.select(spent=AMOUNT.cum_sum().over(USER), n=TS.rank("ordinal").over(USER), gap=TS.diff().over(USER))
    )


def pipeline(scan: Scan, out: Path, engine: Any) -> None:
    """Read, compute, write; the average that halves in a day is a prefix sum over weights, within a double for 90 days."""
    gap_us = pl.col("gap").dt.total_microseconds()
    days = (TS - pl.lit(START)).dt.total_microseconds() / DAY_US
    growth = pl.lit(2.0).pow(days)
    weight = (1 - pl.lit(2.0).pow(-gap_us / DAY_US)).fill_null(1.0)
    features = (
        joined(scan)
        .sort(USER, "ts")
        .with_columns(gap=TS.diff().over(USER))
        .with_columns(
            growth=growth,
            weighted=AMOUNT * weight * growth,
            is_new=(pl.col("gap") > HALF_HOUR).cast(pl.Int64).fill_null(0),
            gap_s=gap_us / 1e6,
        )
        .with_columns(
            n=TS.rank("ordinal").over(USER),
            spent=AMOUNT.cum_sum().over(USER),
            last=AMOUNT.shift(1).over(USER),
            recent=pl.col("weighted").cum_sum().over(USER),
            spent_hour=AMOUNT.sum().rolling("ts", period="1h", closed="both").over(USER),
            session=pl.col("is_new").cum_sum().over(USER),
        )
        .with_columns(recent=pl.col("recent") / pl.col("growth"))
    )
    write(features, out, engine)

"""The events' jobs in classic cuDF, reading only the columns that are needed; `read` gives a table's frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cudf
import cupy
import numpy as np
import pandas as pd

from .codec import codec_of_library

Read = Callable[..., Any]


def q1(read: Read) -> Any:
    """Filter, group, distinct count; the count goes over distinct pairs, since nunique takes the slow path of groupby."""
    events = read("events", ["user_id", "amount", "quantity", "lat", "category"])
    kept = events.loc[(events["quantity"] >= 3) & (events["lat"] > -45), ["user_id", "amount", "category"]]
    pairs = kept[["category", "user_id"]].drop_duplicates()
    users = pairs.groupby("category").agg(users=("user_id", "count"))
    return kept.groupby("category").agg(n=("user_id", "count"), revenue=("amount", "sum")).join(users).reset_index()


def q2(read: Read) -> Any:
    """Join, group."""
    joined = read("events", ["user_id", "amount"]).merge(
        read("users", ["id", "region"]), left_on="user_id", right_on="id"
    )
    grouped = joined.groupby("region")
    return grouped.agg(n=("user_id", "count"), revenue=("amount", "sum"), dearest=("amount", "max")).reset_index()


def q3(read: Read) -> Any:
    """Features of each user's events in order."""
    rows = read("events", ["user_id", "ts", "amount"]).sort_values(["user_id", "ts"], ignore_index=True)
    rows["us"] = rows["ts"].astype("int64")
    users = rows.groupby("user_id", sort=False)
    spent, n, gap_us = users["amount"].cumsum(), users.cumcount() + 1, rows["us"] - users["us"].shift(1)
    return cudf.DataFrame(
        {
            "most_spent": [spent.max()], "spent": [spent.sum()], "most": [n.max()],
            "longest_us": [gap_us.max()], "gaps_us": [gap_us.sum()],
        }
    )  # fmt: skip


def q4(read: Read) -> Any:
    """Return the sum of an expression, evaluated in one kernel, which takes one type only."""
    events = read("events", ["amount", "quantity"]).astype({"quantity": "float64"})
    terms = events.eval("amount * quantity + 0.19 * amount - 0.05 * amount * quantity")
    return cudf.DataFrame({"total": [terms.sum()]})


def pipeline(read: Read, out: Path) -> None:
    """Read, compute, write."""
    events = read("events")
    kept = events[(events["quantity"] > 0) & events["amount"].notna()]
    rows = kept.merge(read("users"), left_on="user_id", right_on="id")
    rows["km"] = distance(rows)
    rows = rows[["user_id", "ts", "region", "category", "km", "amount"]].sort_values(
        ["user_id", "ts"], ignore_index=True
    )
    features = with_features(rows).drop(columns="amount")
    (out / "features").mkdir(parents=True)
    features.to_parquet(out / "features" / "0.parquet", index=False, compression=codec_of_library(None))
    totals = features.groupby(["region", "category"]).agg(
        events=("user_id", "count"), km=("km", "mean"), recent=("recent", "mean"), most_hour=("spent_hour", "max"),
        sessions=("session", "max"),
    )  # fmt: skip
    totals.reset_index().to_parquet(out / "totals.parquet", index=False, compression=codec_of_library(None))


def distance(rows: Any) -> Any:
    """Return the distance, by the same CUDA kernel."""
    km, places = cupy.empty(len(rows)), [rows[name].values for name in ("lat", "lon", "home_lat", "home_lon")]
    haversine()((-(-len(rows) // 256),), (256,), (*places, km, np.int64(len(rows))))
    return km


@cache
def haversine() -> Any:
    """Return the compiled kernel."""
    return cupy.RawKernel(Path(__file__).with_name("haversine.cu").read_text(encoding="utf-8"), "haversine")


def with_features(rows: Any) -> Any:
    """Add the features; the average that halves in a day is a prefix sum over weights, within a double for 90 days."""
    us = rows["ts"].astype("int64")
    gap_us = us - us.groupby(rows["user_id"], sort=False).shift(1)
    days = (us - pd.Timestamp("2026-01-01").value // 1000) / 86_400e6
    growth = 2.0**days
    weight = (1 - 2.0 ** (-gap_us / 86_400e6)).fillna(1.0)
    rows["weighted"] = rows["amount"] * weight * growth
    rows["is_new"] = (gap_us.fillna(0) > 1_800_000_000).astype("int64")
    users = rows.groupby("user_id", sort=False)
    rows["n"] = users.cumcount() + 1
    rows["spent"] = users["amount"].cumsum()
    rows["last"] = users["amount"].shift(1)
    rows["gap_s"] = gap_us / 1e6
    rows["recent"] = users["weighted"].cumsum() / growth
    rows["session"] = users["is_new"].cumsum()
    # a frame of cuDF is open at its far end: a microsecond more closes it
    hour = pd.Timedelta(microseconds=3_600_000_001)
    by_time = rows[["user_id", "ts", "amount"]].set_index("ts").groupby("user_id", sort=True).rolling(hour)
    rows["spent_hour"] = by_time.sum()["amount"].reset_index(drop=True)
    return rows.drop(columns=["weighted", "is_new"])

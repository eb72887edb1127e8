"""The events pipeline by hand in pandas: NumPy types, as most people write it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    events = pd.read_parquet(data / "events")
    users = pd.read_parquet(data / "users.parquet")
    kept = events[(events["quantity"] > 0) & (events["category"] != "category_07")]
    purchases = kept.merge(users, on="user_id", how="left", validate="many_to_one")
    purchases["day"] = purchases["ts"].dt.floor("D")
    purchases["revenue"] = purchases["amount"] * purchases["quantity"]
    purchases["age"] = purchases["ts"].dt.year - purchases["born"]
    purchases["band"] = np.select(
        [purchases["amount"] >= 100, purchases["amount"] >= 25], ["high", "mid"], default="low"
    )
    features(purchases).to_parquet(out / "features.parquet", index=False, compression="zstd", compression_level=1)
    days(purchases).to_parquet(out / "days.parquet", index=False, compression="zstd", compression_level=1)


def features(purchases: pd.DataFrame) -> pd.DataFrame:
    """Return the features of each purchase from the user's earlier ones."""
    rows = purchases.sort_values(["user_id", "ts"], ignore_index=True)
    amounts = rows.groupby("user_id")["amount"]
    rows["n_before"] = rows.groupby("user_id").cumcount()
    rows["spent"] = amounts.cumsum()
    rows["gap_s"] = rows.groupby("user_id")["ts"].diff().dt.total_seconds()
    rows["dearest"] = amounts.cummax()
    by_time = rows.set_index("ts").groupby("user_id")["amount"]
    rows["spent_hour"] = by_time.rolling("1h", min_periods=1, closed="both").sum().fillna(0.0).to_numpy()
    rows["mean_10"] = amounts.rolling(10, min_periods=1).mean().to_numpy()
    return rows[
        [
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
    ]


def days(purchases: pd.DataFrame) -> pd.DataFrame:
    """Return what each day brought, a region and category."""
    purchases["is_high"] = purchases["band"] == "high"
    grouped = purchases.groupby(["region", "category", "day"], sort=True)
    return grouped.agg(
        purchases=("event_id", "size"), revenue=("revenue", "sum"), users=("user_id", "nunique"),
        dearest=("amount", "max"), age=("age", "mean"), high=("is_high", "sum"),
    ).reset_index()  # fmt: skip

"""The events' jobs in dask-cuDF, reading only the columns that are needed; `read` gives a table's frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf

Read = Callable[..., Any]

LEFT_OUT = {"pipeline": "dask-cuDF has no windows over time within groups"}
FEATURES = {"most_spent": "f8", "spent": "f8", "most": "i8", "longest_us": "i8", "gaps_us": "i8"}


def q1(read: Read) -> Any:
    """Filter, group, distinct count, which goes over distinct pairs as in cuDF."""
    events = read("events", ["user_id", "amount", "quantity", "lat", "category"])
    kept = events[(events["quantity"] >= 3) & (events["lat"] > -45)][["user_id", "amount", "category"]]
    users = kept[["category", "user_id"]].drop_duplicates().groupby("category").agg({"user_id": "count"})
    sums = kept.groupby("category").agg({"user_id": "count", "amount": "sum"})
    named = sums.rename(columns={"user_id": "n", "amount": "revenue"})
    return named.join(users.rename(columns={"user_id": "users"})).reset_index()


def q2(read: Read) -> Any:
    """Join, group; the users go to all workers."""
    joined = read("events", ["user_id", "amount"]).merge(
        read("users", ["id", "region"]).repartition(npartitions=1), left_on="user_id", right_on="id", broadcast=True
    )
    rows = joined.assign(dearest=joined["amount"]).groupby("region")
    found = rows.agg({"user_id": "count", "amount": "sum", "dearest": "max"})
    return found.rename(columns={"user_id": "n", "amount": "revenue"}).reset_index()


def q3(read: Read) -> Any:
    """Features of each user's events in order, on the worker that has them all."""
    moved = read("events", ["user_id", "ts", "amount"]).shuffle("user_id")
    parts = moved.map_partitions(features, meta=cudf.DataFrame({name: [] for name in FEATURES}).astype(FEATURES))
    most, sums = parts[["most_spent", "most", "longest_us"]].max(), parts[["spent", "gaps_us"]].sum()
    return Together(most, sums)


def features(rows: Any) -> Any:
    """Return a partition's totals."""
    rows = rows.sort_values(["user_id", "ts"], ignore_index=True)
    rows["us"] = rows["ts"].astype("int64")
    users = rows.groupby("user_id", sort=False)
    spent, n, gap_us = users["amount"].cumsum(), users.cumcount() + 1, rows["us"] - users["us"].shift(1)
    totals = {
        "most_spent": [spent.max()], "spent": [spent.sum()], "most": [n.max()],
        "longest_us": [gap_us.max()], "gaps_us": [gap_us.sum()],
    }  # fmt: skip
    return cudf.DataFrame(totals).astype(FEATURES)


class Together:
    """The greatest of some columns and the sums of others, computed at once."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def compute(self) -> Any:
        """Return one row."""
        import dask

        found = {name: [value] for part in dask.compute(*self.parts) for name, value in part.to_pandas().items()}
        return cudf.DataFrame(found).astype({"most": "i8", "longest_us": "i8", "gaps_us": "i8"})


def q4(read: Read) -> Any:
    """Return the sum of an expression."""
    events = read("events", ["amount", "quantity"])
    a, q = events["amount"], events["quantity"]
    terms = a * q + 0.19 * a - 0.05 * a * q
    return terms.to_frame("total").sum().to_frame("total")

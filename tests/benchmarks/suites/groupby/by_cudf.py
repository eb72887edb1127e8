"""The group-by questions in classic cuDF, reading only the columns that are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf

Read = Callable[..., Any]
IDS = ["id1", "id2", "id3", "id4", "id5", "id6"]


def grouped(read: Read, by: list[str], values: list[str]) -> Any:
    """Return the groups; null is one of them."""
    return read("x", [*by, *values]).groupby(by, dropna=False, as_index=False)


def q1(read: Read) -> Any:
    """Sum by a text of 100 values."""
    return grouped(read, ["id1"], ["v1"]).agg({"v1": "sum"})


def q2(read: Read) -> Any:
    """Sum by two texts."""
    return grouped(read, ["id1", "id2"], ["v1"]).agg({"v1": "sum"})


def q3(read: Read) -> Any:
    """Sum and mean by a text of many values."""
    return grouped(read, ["id3"], ["v1", "v3"]).agg({"v1": "sum", "v3": "mean"})


def q4(read: Read) -> Any:
    """Means by an integer of 100 values."""
    return grouped(read, ["id4"], ["v1", "v2", "v3"]).agg({"v1": "mean", "v2": "mean", "v3": "mean"})


def q5(read: Read) -> Any:
    """Sums by an integer of many values."""
    return grouped(read, ["id6"], ["v1", "v2", "v3"]).agg({"v1": "sum", "v2": "sum", "v3": "sum"})


def q6(read: Read) -> Any:
    """Median and standard deviation."""
    return grouped(read, ["id4", "id5"], ["v3"]).agg(median=("v3", "median"), sd=("v3", "std"))


def q7(read: Read) -> Any:
    """Range."""
    found = grouped(read, ["id3"], ["v1", "v2"]).agg({"v1": "max", "v2": "min"})
    found["range"] = found["v1"] - found["v2"]
    return found[["id3", "range"]]


def q8(read: Read) -> Any:
    """The two greatest."""
    rows = read("x", ["id6", "v3"]).dropna(subset=["v3"]).sort_values("v3", ascending=False)
    return rows.groupby("id6", dropna=False).head(2, preserve_order=False).rename(columns={"v3": "largest"})


def q9(read: Read) -> Any:
    """Squared correlation, of the sums of powers."""
    rows = read("x", ["id2", "id4", "v1", "v2"]).dropna(subset=["v1", "v2"])
    rows = rows.astype({"v1": "float64", "v2": "float64"})
    rows["v11"], rows["v22"], rows["v12"] = rows["v1"] ** 2, rows["v2"] ** 2, rows["v1"] * rows["v2"]
    rows["n"] = 1
    names = ["v1", "v2", "v11", "v22", "v12", "n"]
    found = rows.groupby(["id2", "id4"], dropna=False, as_index=False).agg(dict.fromkeys(names, "sum"))
    v1, v2, v11, v22, v12, n = (found[name] for name in names)
    found["r2"] = (n * v12 - v1 * v2) ** 2 / ((n * v11 - v1**2) * (n * v22 - v2**2))
    return found[["id2", "id4", "r2"]]


def q10(read: Read) -> Any:
    """Sum and count by all keys; the count is a sum too, since a count of v3 would leave nulls out."""
    rows = read("x", [*IDS, "v3"])
    rows["count"] = 1
    found = rows.groupby(IDS, dropna=False, sort=False, as_index=False).agg({"v3": "sum", "count": "sum"})
    return cudf.DataFrame({"groups": [len(found)], "v3": [found["v3"].sum()], "count": [found["count"].sum()]})

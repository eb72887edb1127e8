"""The features in classic cuDF: a merge of each category with its numbered values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf
import cupy

from .by_polars import LEAST, NAMES, NUMBERS

Read = Callable[..., Any]


def q1(read: Read) -> Any:
    """Make features of 13 counts and 26 categories."""
    clicks = read("clicks", [*NUMBERS, *NAMES])
    sums: dict[str, Any] = {}
    for name in NUMBERS:
        values = cupy.log1p(clicks[name].fillna(0).clip(lower=0).astype("float64").to_cupy())
        scaled = (values - values.mean()) / values.std()
        sums[name] = [float((scaled * scaled).sum())]
    for name in NAMES:
        column = clicks[[name]]
        counted = column.dropna().groupby(name, as_index=False).size()
        counted = counted[counted["size"] >= LEAST].sort_values(["size", name], ascending=[False, True])
        counted["id"] = cupy.arange(2, 2 + len(counted), dtype="int64")
        found = column.merge(counted[[name, "id"]], on=name, how="left")
        found["id"] = found["id"].fillna(1).where(found[name].notna(), 0)
        sums[name] = [int(found["id"].sum())]
    return cudf.DataFrame(sums)

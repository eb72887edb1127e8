"""Rows in time order, and windows over them of every function that can keep its state across partitions."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from tables import table

START = datetime(2024, 1, 1)
TYPES = {
    "ts": "timestamp",
    "k": "int32",
    "g": "string",
    "x": "int64",
    "f": "float64",
    "s": "string",
    "d": "decimal(12, 2)",
}
CALLS = {
    "places": "row_number()", "ranks": "dense_rank()", "sums": "cum_sum(x)", "products": "cum_prod(f)",
    "counts": "cum_count(s)", "means": "cum_mean(f)", "least": "cum_min(f)", "greatest": "cum_max(d)",
    "some": "cum_sum(x) FILTER (WHERE x > 3)", "decimals": "cum_sum(d)", "filled": "ffill(s)", "first": "first(s)",
    "before": "lag(x)", "third": "lag(s, 3, 'none')", "values": "lag(x, 2, ignore_nulls => true)", "here": "lag(x, 0)",
    "steps": "diff(x)", "changes": "pct_change(f, 2)", "gaps": "ts - lag(ts)", "three": "rolling_sum(x, 3)",
    "spread": "rolling_std(f, 4)", "hour": "rolling_mean(f, interval '1 hour')", "now": "rolling_max(x, interval '0 s')",
    "recent": "ewm_mean(f, half_life => interval '1 hour')", "decayed": "decayed_sum(f, half_life => 600.0)",
    "pairs": "rolling_covar_samp(x, f, 3)", "middle": "rolling_median(x, interval '1 hour')", "kinds": "rolling_count_distinct(s, 3)", "latest": "rolling_first(s, 3) FILTER (WHERE x > 0)",
    "second": "rolling_nth_value(s, 2, 3)", "volatility": "ewm_std(f, half_life => interval '1 hour', adjust => true)",
    "drift": "ewm_var(x, half_life => interval '1 hour', adjust => true, min_periods => 3)",
    "running": "cum_sum(x, 'carry')", "number": "cum_count(s, 'carry')", "average": "cum_mean(d, 'carry')", "longest": "cum_max(s, 'carry')",
    "sessions": "session_id(gap => interval '20 minutes')",
}  # fmt: skip
COMBINED = {name: call for name, call in CALLS.items() if not call.startswith("cum_prod")}
"""Those whose states can be combined. Products cannot: a zero from one partition hides an infinity of another."""


def or_null(rng: np.random.Generator, values: list[Any]) -> list[Any]:
    """Return the values, a quarter of them null."""
    return [None if rng.random() < 0.25 else value for value in values]


def rows_in_time(seed: int, count: int, floats: list[float] | None = None, minutes: int = 300) -> pa.Table:
    """Return rows with ties within so many minutes; keys and values are null now and then."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, minutes, count)) // 7 * 7
    columns = [
        [START + timedelta(minutes=int(minute)) for minute in times],
        or_null(rng, rng.integers(0, 3, count).tolist()),
        or_null(rng, rng.choice(["a", "bb"], count).tolist()),
        or_null(rng, rng.integers(-9, 9, count).tolist()),
        or_null(rng, (rng.integers(-40, 40, count) / 8 if floats is None else rng.choice(floats, count)).tolist()),
        or_null(rng, [f"text {number}" for number in range(count)]),
        or_null(rng, [Decimal(number) / 4 for number in range(count)]),
    ]
    return table(TYPES, *zip(*columns, strict=True))

"""Makes the events: seeded, so that every machine has the same rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, USERS, FILES, ROW_GROUP = 5_000_000, 50_000, 5, 250_000
START, DAYS = np.datetime64("2026-01-01", "us"), 90
CATEGORIES = [f"category_{i:02}" for i in range(20)]
REGIONS = ["africa", "america", "antarctica", "asia", "europe", "oceania"]


def make(folder: Path) -> None:
    """Write events/part-*.parquet and users.parquet, unless they are there.

    Users are skewed, 2 % of the amounts are null, and no two events of a user have one time.
    """
    if (folder / "users.parquet").exists():
        return
    rng = np.random.default_rng(20260101)
    (folder / "events").mkdir(parents=True, exist_ok=True)
    moments = np.unique(rng.integers(0, DAYS * 86_400_000_000, ROWS + ROWS // 1000))
    events = pa.table(
        {
            "event_id": np.arange(ROWS),
            "user_id": (USERS * rng.random(ROWS) ** 3).astype(np.int64),
            "ts": START + rng.permutation(moments)[:ROWS].astype("m8[us]"),
            "amount": pa.array(rng.gamma(2.0, 20.0, ROWS).round(2), mask=rng.random(ROWS) < 0.02),
            "quantity": rng.integers(0, 6, ROWS, dtype=np.int32),
            "category": np.array(CATEGORIES)[rng.integers(0, len(CATEGORIES), ROWS)],
        }
    )
    for i in range(FILES):
        part = events.slice(i * ROWS // FILES, ROWS // FILES)
        pq.write_table(part, folder / "events" / f"part-{i}.parquet", row_group_size=ROW_GROUP)
    users = pa.table(
        {
            "user_id": np.arange(USERS),
            "region": np.array(REGIONS)[rng.integers(0, len(REGIONS), USERS)],
            "born": rng.integers(1940, 2010, USERS, dtype=np.int32),
        }
    )
    pq.write_table(users, folder / "users.parquet")

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


def make(folder: Path, rows: int = ROWS, users: int = USERS, files: int = FILES, row_group: int = ROW_GROUP) -> None:
    """Write events/part-*.parquet and users.parquet, unless they are there.

    Users are skewed, 2 % of the amounts are null, and no two events of a user have one time.
    """
    if (folder / "users.parquet").exists():
        return
    rng = np.random.default_rng(20260101)
    (folder / "events").mkdir(parents=True, exist_ok=True)
    moments = np.unique(rng.integers(0, DAYS * 86_400_000_000, rows + rows // 1000))
    events = pa.table(
        {
            "event_id": np.arange(rows),
            "user_id": (users * rng.random(rows) ** 3).astype(np.int64),
            "ts": START + rng.permutation(moments)[:rows].astype("m8[us]"),
            "amount": pa.array(rng.gamma(2.0, 20.0, rows).round(2), mask=rng.random(rows) < 0.02),
            "quantity": rng.integers(0, 6, rows, dtype=np.int32),
            "category": np.array(CATEGORIES)[rng.integers(0, len(CATEGORIES), rows)],
        }
    )
    for i in range(files):
        part = events.slice(i * rows // files, rows // files)
        pq.write_table(part, folder / "events" / f"part-{i}.parquet", row_group_size=row_group)
    people = pa.table(
        {
            "user_id": np.arange(users),
            "region": np.array(REGIONS)[rng.integers(0, len(REGIONS), users)],
            "born": rng.integers(1940, 2010, users, dtype=np.int32),
        }
    )
    pq.write_table(people, folder / "users.parquet")

"""Makes the events and their users: seeded, so that every machine has the same rows."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES, ROW_GROUP = 8, 1_000_000
START, SPAN_US = np.datetime64("2026-01-01", "us"), 90 * 86_400_000_000
CATEGORIES = pa.array([f"category_{i:02}" for i in range(20)])
REGIONS = pa.array(["africa", "america", "antarctica", "asia", "europe", "oceania"])


def make(folder: Path, rows: int, in_order: bool = False, files: int = FILES) -> None:
    """Write events/*.parquet, as many files as asked for, and users/*.parquet.

    A hundred events a user, skewed: the first of a million users has a hundredth of all events.  Events are in no order,
    or in that of time, file after file, as a log is; no two have one time, so that an order by time has no ties.
    """
    users = max(1000, rows // 100)
    for table in ("events", "users"):
        (folder / table).mkdir(parents=True)
    with ThreadPoolExecutor(min(files, len(os.sched_getaffinity(0)))) as threads:
        write = lambda part: write_events(folder / "events", part, files, rows // files, users, in_order)  # noqa: E731
        list(threads.map(write, range(files)))
    pq.write_table(people(users), folder / "users" / "0.parquet", compression="snappy")


def write_events(folder: Path, part: int, files: int, rows: int, users: int, in_order: bool) -> None:
    """Write one of the files of events: each time is in a slot of its own, which the files have in turns, or in order."""
    rng = np.random.default_rng([20260101, part])
    slot_us = SPAN_US // (rows * files)
    slots = np.arange(rows) + part * rows if in_order else rng.permutation(rows) * files + part
    events = pa.table(
        {
            "user_id": (users * rng.random(rows) ** 3).astype(np.int64),
            "ts": START + (slots * slot_us + rng.integers(0, slot_us, rows)).astype("m8[us]"),
            "amount": pa.array(rng.gamma(2.0, 20.0, rows).round(2), mask=rng.random(rows) < 0.02),
            "quantity": rng.integers(0, 10, rows, dtype=np.int32),
            "lat": degrees(rng, 90, rows),
            "lon": degrees(rng, 180, rows),
            "category": texts(rng, CATEGORIES, rows),
        }
    )
    pq.write_table(events, folder / f"{part}.parquet", row_group_size=ROW_GROUP, compression="snappy")


def people(users: int) -> pa.Table:
    """Return a row for each user."""
    rng = np.random.default_rng(20260102)
    return pa.table(
        {
            "id": rng.permutation(users),
            "region": texts(rng, REGIONS, users),
            "home_lat": degrees(rng, 90, users),
            "home_lon": degrees(rng, 180, users),
        }
    )


def degrees(rng: np.random.Generator, most: int, rows: int) -> np.ndarray:
    """Return angles from -most to most."""
    return ((rng.random(rows, dtype=np.float32) * 2 - 1) * most).astype(np.float32)


def texts(rng: np.random.Generator, values: pa.Array, rows: int) -> pa.Array:
    """Return texts, each of the values equally often."""
    return values.take(pa.array(rng.integers(0, len(values), rows, dtype=np.int32)))

"""Makes trades and quotes: a day of each in the order of time, with keys that are drawn evenly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES, ROW_GROUP = 8, 1_000_000
DAY_US = 86_400_000_000
FIRST_US = 1_793_577_600_000_000
"""Midnight of the day, 2 November 2026, in microseconds."""


def make(folder: Path, rows: int) -> None:
    """Write trades, as many rows as asked for, and quotes, a tenth of them, of a hundredth of them as keys."""
    keys = max(1, rows // 100)
    with ThreadPoolExecutor(FILES) as threads:
        jobs = [*parts(folder / "trades", rows, keys, "size"), *parts(folder / "quotes", rows // 10, keys, "price")]
        list(threads.map(lambda job: job(), jobs))


def parts(folder: Path, rows: int, keys: int, value: str) -> Iterator[Callable[[], None]]:
    """Yield what writes each file of a table: one after another in time."""
    folder.mkdir(parents=True)
    files = FILES if rows >= 1_000_000 else 1
    for part in range(files):
        yield partial(write, folder / f"{part}.parquet", part, files, rows // files, keys, value)


def write(path: Path, part: int, files: int, rows: int, keys: int, value: str) -> None:
    """Write one file: its share of the day. Times differ; quotes have odd ones and trades even ones."""
    rng = np.random.default_rng([part, rows])
    share = DAY_US // files
    places = np.sort(rng.integers(0, share // 2 - rows, rows)) + np.arange(rows)
    times = 2 * places + share * part + FIRST_US + (value == "price")
    values = (rng.random(rows) * 100).round(6) if value == "price" else rng.integers(1, 100, rows).astype(np.int32)
    columns = {
        "key": pa.array(rng.integers(0, keys, rows)),
        "ts": pa.array(times, pa.timestamp("us")),
        value: pa.array(values),
    }
    pq.write_table(pa.table(columns), path, row_group_size=ROW_GROUP, compression="snappy")

"""Makes clicks in the shape of Criteo's: columns, shares of nulls and numbers of categories are like those."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES, ROW_GROUP = 16, 500_000
CATEGORIES = (
    1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27, 14992, 5461306, 10, 5652,
    2173, 4, 7046547, 18, 15, 286181, 105, 142572,
)  # fmt: skip
"""The numbers of values of the 26 columns of Criteo's Kaggle data."""
COUNTS = 13


def make(folder: Path, rows: int) -> None:
    """Write clicks, as many rows as asked for."""
    target = folder / "clicks"
    target.mkdir(parents=True)
    files = FILES if rows >= 1_000_000 else 1
    with ThreadPoolExecutor(FILES) as threads:
        list(threads.map(lambda part: write(target / f"{part:02}.parquet", part, rows // files), range(files)))


def write(path: Path, part: int, rows: int) -> None:
    """Write one file; few values of a category are frequent, and most are rare."""
    rng = np.random.default_rng([part, rows])
    columns = {"label": pa.array((rng.random(rows) < 0.25).astype(np.int32))}
    for number in range(1, COUNTS + 1):
        values = (rng.exponential(8.0 * number, rows) - 1).astype(np.int32)
        columns[f"I{number}"] = pa.array(values, mask=rng.random(rows) < 0.03 * number)
    for number, count in enumerate(CATEGORIES, 1):
        drawn = (count * rng.random(rows) ** 4).astype(np.uint64)
        values = (drawn * np.uint64(2654435761) % np.uint64(1 << 31)).astype(np.int32)
        columns[f"C{number}"] = pa.array(values, mask=rng.random(rows) < 0.01 * (number % 5))
    pq.write_table(pa.table(columns), path, row_group_size=ROW_GROUP, compression="snappy")

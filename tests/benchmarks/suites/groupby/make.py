"""Makes the group-by table by the benchmark's recipe (_data/groupby-datagen.R): K = 100, 5 % of keys and values null."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES, ROW_GROUP = 8, 1_000_000
K, NULLS = 100, 0.05


def make(folder: Path, rows: int) -> None:
    """Write x/*.parquet."""
    (folder / "x").mkdir(parents=True)
    sizes = {"id1": K, "id2": K, "id3": rows // K, "id4": K, "id5": K, "id6": rows // K}
    rng = np.random.default_rng(108)
    keys = {name: keys_of(rng, name, size) for name, size in sizes.items()}
    with ThreadPoolExecutor(FILES) as threads:
        list(threads.map(lambda part: write(folder / "x", part, rows // FILES, keys), range(FILES)))


def keys_of(rng: np.random.Generator, name: str, size: int) -> pa.Array:
    """Return the values of a key, 1 to `size`, some of them null; of id1 to id3 they are texts."""
    numbers = pa.array(np.arange(1, size + 1, dtype=np.int32), mask=some(rng, size))
    if name in {"id4", "id5", "id6"}:
        return numbers
    digits = 10 if name == "id3" else 3
    return pa.array([None if key is None else f"id{key:0{digits}}" for key in numbers.to_pylist()])


def write(folder: Path, part: int, rows: int, keys: dict[str, pa.Array]) -> None:
    """Write one file."""
    rng = np.random.default_rng([108, part])
    columns = {name: key.take(pa.array(rng.integers(0, len(key), rows, dtype=np.int32))) for name, key in keys.items()}
    for name, most in (("v1", 5), ("v2", 15)):
        columns[name] = pa.array(rng.integers(1, most + 1, rows, dtype=np.int32), mask=rng.random(rows) < NULLS)
    columns["v3"] = pa.array((rng.random(rows) * 100).round(6), mask=rng.random(rows) < NULLS)
    pq.write_table(pa.table(columns), folder / f"{part}.parquet", row_group_size=ROW_GROUP, compression="snappy")


def some(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return which of `size` values are null: exactly the share, rounded down."""
    mask = np.zeros(size, dtype=np.bool_)
    mask[rng.choice(size, int(size * NULLS), replace=False)] = True
    return mask

"""Makes the tables of the join questions by the benchmark's recipe (_data/join-datagen.R), 5 % of the left side's null."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

FILES, ROW_GROUP = 8, 1_000_000
NULLS = 0.05
Keys = list[np.ndarray]


def make(folder: Path, rows: int) -> None:
    """Write x, as many rows as asked for, and small, medium and big with a millionth, a thousandth and all of them.

    Nine tenths of the keys are on both sides.  The left side has each key of id3 once and those of id1 and id2 often; a
    right table has each of its last key once.
    """
    sizes = [max(10, rows // 1_000_000), max(10, rows // 1000), rows]
    with ThreadPoolExecutor(FILES) as threads:
        split = list(threads.map(lambda size: split_keys(np.random.default_rng(size), size), sizes))
        left, right = [x for x, _ in split], [x for _, x in split]
        jobs = [*parts(folder / "x", left, rows, [unmatched(keys) for keys in left])]
        for name, size, number in (("small", sizes[0], 1), ("medium", sizes[1], 2), ("big", rows, 3)):
            jobs += parts(folder / name, right[:number], size, None)
        list(threads.map(lambda job: job(), jobs))


def parts(folder: Path, keys: Keys, rows: int, nulls: Keys | None) -> Iterator[Callable[[], None]]:
    """Yield what writes each file of a table."""
    folder.mkdir(parents=True)
    files = FILES if rows >= 1_000_000 else 1
    for part in range(files):
        yield partial(write, folder / f"{part}.parquet", part, rows // files, keys, nulls)


def split_keys(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of the left and of the right side, in random order."""
    keys = rng.permutation(size * 11 // 10).astype(np.int32) + 1
    common, right = keys[: size * 9 // 10], keys[size:]
    return keys[:size], rng.permutation(np.concatenate([common, right])[:size])


def unmatched(keys: np.ndarray) -> np.ndarray:
    """Return which of the keys 0, 1, 2… are null on the left side."""
    rng = np.random.default_rng(len(keys))
    mask = np.zeros(int(keys.max()) + 1, dtype=np.bool_)
    mask[rng.choice(keys, int(len(keys) * NULLS), replace=False)] = True
    return mask


def write(path: Path, part: int, rows: int, keys: Keys, nulls: Keys | None) -> None:
    """Write one file: the last key of those that are as many as the table has rows goes round once, the others are drawn."""
    rng = np.random.default_rng([part, len(keys[-1]), rows])
    columns = {}
    for number, key in enumerate(keys, start=1):
        once = number == len(keys) and len(key) >= rows * (part + 1)
        drawn = key[part * rows : (part + 1) * rows] if once else key[rng.integers(0, len(key), rows)]
        columns[f"id{number}"] = pa.array(drawn, mask=nulls[number - 1][drawn] if nulls else None)
    for number in range(1, len(keys) + 1):
        columns[f"id{number + 3}"] = texts(columns[f"id{number}"])
    values = (rng.random(rows) * 100).round(6)
    columns["v1" if nulls else "v2"] = pa.array(values, mask=rng.random(rows) < NULLS if nulls else None)
    pq.write_table(pa.table(columns), path, row_group_size=ROW_GROUP, compression="snappy")


def texts(numbers: pa.Array) -> pa.Array:
    """Return `id7` for 7."""
    return pc.binary_join_element_wise("id", numbers.cast(pa.string()), "")

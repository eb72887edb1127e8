"""A compressed CSV file of any size for benchmarks of memory: numbers, timestamps, and strings of few and many values."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from gpuetl import Pipeline, expr
from gpuetl.table import Table

BLOCK_ROWS = 1 << 18
NOTE_WORDS = 12
WORDS = pa.array([
    "red", "green", "blue", "small", "large", "fast", "slow", "early", "late", "north", "south", "east", "west", "new",
    "old", "open", "closed", "left", "right", "upper", "lower",
])  # fmt: skip
KINDS = pa.array([f"kind-{number}" for number in range(8)])
SCHEMA = {
    "id": "int64", "user": "int64", "kind": "string", "at": "timestamp", "number": "int64", "price": "float64",
    "note": "string",
}  # fmt: skip

Operation = Callable[[Pipeline, Path], Table]


def rows(pipeline: Pipeline, data: Path) -> Table:
    """Read the file."""
    return pipeline.read_csv("rows", data / "rows.csv.gz", SCHEMA)


def sums(pipeline: Pipeline, data: Path, key: str) -> Table:
    """Count the rows of each value of a column, and add up their prices."""
    return rows(pipeline, data).aggregate(key, n=expr("count(*)"), s=expr("sum(price)"))


def joined(pipeline: Pipeline, data: Path) -> Table:
    """Join the 8 kinds."""
    kinds = pipeline.read_parquet("kinds", data / "kinds.parquet")
    return rows(pipeline, data).join(kinds, "kind", validate="many_to_one")


OPERATIONS: dict[str, Operation] = {
    "pass through": rows,
    "group by, 10 rows a group": lambda pipeline, data: sums(pipeline, data, "user"),
    "sort by an integer": lambda pipeline, data: rows(pipeline, data).sort("number"),
    "group by, 8 groups": lambda pipeline, data: sums(pipeline, data, "kind"),
    "join with 8 rows": joined,
    "filter": lambda pipeline, data: rows(pipeline, data).filter(expr("price > 500")),
    "group by strings, 1 row a group": lambda pipeline, data: sums(pipeline, data, "note"),
}


def make_rows(data: Path, count: int) -> dict[str, int]:
    """Write the file and the kinds that it is joined with, unless they are there; return the bytes of text and files."""
    sizes = data / "sizes.json"
    if not sizes.exists():
        data.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"kind": KINDS, "weight": np.arange(8.0)}), data / "kinds.parquet")
        text = 0
        with gzip.open(data / "rows.csv.gz", "wb", compresslevel=1) as file:
            for block in made_ahead(count):
                file.write(block)
                text += len(block)
        sizes.write_text(json.dumps({"text": text, "rows.csv.gz": (data / "rows.csv.gz").stat().st_size}))
    found: dict[str, int] = json.loads(sizes.read_text())
    return found


def made_ahead(count: int) -> Iterator[bytes]:
    """Yield the text block by block; a thread makes the next one."""
    with ThreadPoolExecutor(1) as thread:
        starts = range(0, count, BLOCK_ROWS)
        following = thread.submit(block_text, 0, count)
        for start in starts:
            text = following.result()
            following = thread.submit(block_text, start + BLOCK_ROWS, count)
            yield text


def block_text(start: int, count: int) -> bytes:
    """Return the text of a block of rows, the first with the header."""
    text = io.BytesIO()
    header = start == 0
    pc_csv.write_csv(block(start, count), text, pc_csv.WriteOptions(include_header=header, quoting_style="none"))
    return text.getvalue()


def block(start: int, count: int) -> pa.Table:
    """Return a block of rows, by a generator of its own."""
    rng, size = np.random.default_rng(start), max(0, min(BLOCK_ROWS, count - start))

    def drawn(values: pa.Array) -> pa.Array:
        return values.take(pa.array(rng.integers(0, len(values), size)))

    note = pc.binary_join_element_wise(*(drawn(WORDS) for _ in range(NOTE_WORDS)), " ")
    ids = np.arange(start, start + size)
    columns: dict[str, Any] = {
        "id": ids, "user": rng.integers(0, max(1, count // 10), size), "kind": drawn(KINDS),
        "at": pa.array(1_700_000_000 + ids // 50, pa.timestamp("s")), "number": rng.integers(0, 1 << 40, size),
        "price": np.round(rng.random(size) * 1000, 2),
        "note": note,
    }  # fmt: skip
    return pa.table(columns)

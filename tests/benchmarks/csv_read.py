"""Reading CSV: gpuetl on each engine that runs here, next to cuDF, Polars, DuckDB and Arrow.

python tests/benchmarks/csv_read.py FOLDER [--rows 20000000] [--runs 3] [--quoted] [--readers NAMES] [--results FILE]

Writes a file of integers, floats, strings and timestamps into the folder, once.  Prints the least time of some runs, and
the bytes of text per second; each reader gives the same rows and the same sums.  The page cache holds the file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
from environment import described

from gpuetl import Pipeline
from gpuetl.errors import GpuetlError

TYPES = {"id": "int64", "quantity": "int32", "price": "float64", "category": "string", "seen": "timestamp"}
WRITTEN_ROWS = 1 << 20
Reader = Callable[[], tuple[int, int]]
"""Reads the file once; returns its rows and the sum of the ids."""


def write(path: Path, rows: int, quoted: bool) -> None:
    """Write a file, some rows at a time."""
    draw = np.random.default_rng(7)
    names = np.array(
        ["books", "toys", "garden, tools", 'the "best"'] if quoted else ["books", "toys", "garden", "best"]
    )
    schema = None
    with path.open("wb") as file:
        for start in range(0, rows, WRITTEN_ROWS):
            count = min(WRITTEN_ROWS, rows - start)
            table = pa.table({
                "id": np.arange(start, start + count), "quantity": draw.integers(0, 100, count, np.int32),
                "price": draw.random(count).round(4) * 100, "category": names[draw.integers(0, 4, count)],
                "seen": pa.array(1_700_000_000_000_000 + draw.integers(0, 10**14, count), pa.timestamp("us")),
            })  # fmt: skip
            style = "needed" if quoted else "none"
            options = pa.csv.WriteOptions(include_header=schema is None, quoting_style=style)
            pa.csv.write_csv(table, file, options)
            schema = table.schema


def by_engine(engine: str, path: Path) -> Reader:
    """Return a run of a pipeline that keeps the rows as the engine's frame: with planning and all that a run does."""

    def read() -> tuple[int, int]:
        pipeline = Pipeline("csv", root=path.parent)
        pipeline.read_csv("t", path.name, TYPES).stage("s")
        result = pipeline.run(engine=engine, keep=["s"])["s"]
        rows = result.backend.rows(result.frame)
        return rows, pa.compute.sum(result.to_arrow().column("id")).as_py() if CHECKS else 0

    return read


def by_arrow(path: Path) -> Reader:
    """Return Arrow's reader."""
    convert = pa.csv.ConvertOptions(column_types={"seen": pa.timestamp("us"), "quantity": pa.int32()})

    def read() -> tuple[int, int]:
        table = pa.csv.read_csv(path, convert_options=convert)
        return table.num_rows, pa.compute.sum(table.column("id")).as_py() if CHECKS else 0

    return read


def by_polars(path: Path) -> Reader:
    """Return Polars' reader."""
    polars = import_module("polars")

    def read() -> tuple[int, int]:
        frame = polars.read_csv(path, try_parse_dates=True)
        return frame.height, frame["id"].sum() if CHECKS else 0

    return read


def by_duckdb(path: Path) -> Reader:
    """Return DuckDB's reader, into a table in memory."""
    duckdb = import_module("duckdb")

    def read() -> tuple[int, int]:
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM read_csv(?)", [str(path)])
            rows, total = connection.execute("SELECT count(*), sum(id)::bigint FROM t").fetchone()
            return int(rows), int(total)

    return read


def by_cudf(path: Path) -> Reader:
    """Return cuDF's reader."""
    cudf, cupy = import_module("cudf"), import_module("cupy")

    def read() -> tuple[int, int]:
        frame = cudf.read_csv(path, parse_dates=["seen"])
        cupy.cuda.get_current_stream().synchronize()
        return len(frame), int(frame["id"].sum()) if CHECKS else 0

    return read


READERS: dict[str, Callable[[Path], Reader]] = {
    "gpuetl pandas": lambda path: by_engine("pandas", path), "gpuetl cudf": lambda path: by_engine("cudf", path),
    "cudf": by_cudf, "arrow": by_arrow, "polars": by_polars, "duckdb": by_duckdb,
}  # fmt: skip
CHECKS = True
"""Whether readers sum a column, in the run that is not timed."""


def main() -> None:
    """Print a line for each reader that there is here."""
    global CHECKS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quoted", action="store_true")
    parser.add_argument("--readers", default=",".join(READERS), help="names, with commas between them")
    parser.add_argument("--results", type=Path, help="a file to write what was measured to")
    given = parser.parse_args()
    path = given.folder / f"csv-{given.rows}{'-quoted' * given.quoted}.csv"
    if not path.exists():
        write(path, given.rows, given.quoted)
    size = path.stat().st_size
    print(f"{size / 1e9:.2f} GB, {given.rows:,} rows, {'with' if given.quoted else 'no'} quotes")
    found = dict[str, list[float]]()
    for name, make in READERS.items():
        if name not in given.readers.split(","):
            continue
        with suppress(ImportError, GpuetlError):
            read, CHECKS = make(path), True
            if read() != (given.rows, given.rows * (given.rows - 1) // 2):
                raise SystemExit(f"{name} reads other rows")
            CHECKS, seconds = False, []
            for _ in range(given.runs):
                start = time.perf_counter()
                read()
                seconds.append(time.perf_counter() - start)
            found[name] = seconds
            print(f"{name:14} {min(seconds):7.3f} s  {size / min(seconds) / 1e9:6.2f} GB/s", flush=True)
    if given.results:
        write_results(given.results, found, {"rows": given.rows, "bytes": size, "quoted": given.quoted})


def write_results(path: Path, found: dict[str, list[float]], data: dict[str, Any]) -> None:
    """Write the seconds of all runs."""
    where = described(["gpuetl", "cudf-cu12", "pylibcudf-cu12", "pyarrow", "polars", "duckdb"])
    if "gpuetl cudf" in found:
        properties = import_module("cupy").cuda.runtime.getDeviceProperties(0)
        where["hardware"]["gpu"] = properties["name"].decode()
    path.write_text(json.dumps({"benchmark": "csv", **where, "input": data, "seconds": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()

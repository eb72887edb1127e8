"""Window functions over rows in memory, beside Polars, DuckDB and cuDF in the same process.

    python tests/benchmarks/windows.py [--rows 20000000] [--group-rows 200] [--limit 60] [--results FILE]

Each library has the rows in its own memory, in the order of groups; gpuetl and DuckDB sort them all the same.  Results are
compared before a time counts.  The least of three runs after a first one counts for GPUs, of two for Polars; DuckDB runs
once.  After `--limit` seconds no other library starts.  Results go to results/windows-DATE.json, docs/performance.md
is rendered from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import cudf  # noqa: TID251
import cupy
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from environment import described, today
from numpy.typing import NDArray
from operations import best_ms, exprs, planned
from suites.results import gpu, installed

from gpuetl import Table
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.cudf_engine import CudfBackend

HERE = Path(__file__).parent
SIZE = 100
X = pl.col("x")
OVER = f"OVER (PARTITION BY k ORDER BY i ROWS {SIZE - 1} PRECEDING)"
CASES: dict[str, tuple[pl.Expr, str | None, Callable[[Any], Any] | None]] = {
    "ewm_var(x, span => 20)": (X.ewm_var(span=20, adjust=False, ignore_nulls=True), None, None),
    f"rolling_median(x, {SIZE})": (X.rolling_median(SIZE, min_samples=1), f"median(x) {OVER}", None),
    f"rolling_quantile(x, 0.9, {SIZE})": (
        X.rolling_quantile(0.9, interpolation="linear", window_size=SIZE, min_samples=1),
        f"quantile_cont(x, 0.9) {OVER}",
        None,
    ),
    f"rolling_std(x, {SIZE})": (
        X.rolling_std(SIZE, min_samples=2),
        f"stddev_samp(x) {OVER}",
        lambda rolling: rolling.std(),
    ),
}
"""By our text: Polars' expression, DuckDB's, and cuDF's method, None where there is none."""
Values = NDArray[np.float64]


def main() -> None:
    """Measure all, and keep the results after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--group-rows", type=int, default=200)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--results", type=Path, default=HERE / "results" / f"windows-{today()}.json")
    given = parser.parse_args()
    started = time.perf_counter()
    table = rows(given.rows, given.group_rows)
    found: dict[str, Any] = {
        "benchmark": "windows", **described(installed()), "rows": given.rows, "group_rows": given.group_rows,
        "frame_rows": SIZE, "windows": [],
    }  # fmt: skip
    found["hardware"] |= gpu()
    measured = {text: {"window": text, "ms": {}} for text in CASES}
    for text, library, milliseconds in times(table, lambda: time.perf_counter() - started < given.limit):
        measured[text]["ms"][library] = milliseconds  # type: ignore[index]
        print(f"{text:30} {library:10} {milliseconds:10,.1f} ms", flush=True)
        found["windows"] = [*measured.values()]
        given.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def rows(count: int, group_rows: int) -> pa.Table:
    """Return rows of groups, in order."""
    draws = np.random.default_rng(5)
    place = np.arange(count)
    return pa.table({"k": place // group_rows, "i": place, "x": draws.normal(size=count)})


def rolling_by_cudf(device: Any, method: Callable[[Any], Any]) -> Any:
    """Return what a method of cuDF's rolling windows gives, with the sorting into groups that they begin with."""
    return method(device.groupby("k")["x"].rolling(SIZE, min_periods=1))


def times(table: pa.Table, goes_on: Callable[[], bool]) -> Iterator[tuple[str, str, float]]:
    """Yield the text, the library and its milliseconds: gpuetl's first, then the others' as long as time is left."""
    backend = CudfBackend()
    frame = Frame({name: from_arrow(table[name], backend.machine) for name in table.column_names}, table.num_rows)
    expected: dict[str, Values] = {}
    for text in CASES:
        columns = exprs({"y": text})
        node = planned(frame, partial(Table.window, by="k", order_by="i", **columns))
        expected[text] = values(to_arrow(backend.run(node, frame).columns["y"], backend.machine))
        yield text, "gpuetl", best_ms(partial(backend.run, node, frame), 3)
    eager = pl.from_arrow(table)
    assert isinstance(eager, pl.DataFrame)
    device = cudf.DataFrame({name: cupy.asarray(table[name].to_numpy()) for name in ("k", "x")})
    database = duckdb.connect()
    database.register("arrow", table)
    database.execute("CREATE TABLE t AS FROM arrow")
    for text, (polars, sql, method) in CASES.items():
        if method and goes_on():
            by_cudf = partial(rolling_by_cudf, device, method)
            same(by_cudf().to_numpy(), expected[text], f"cuDF, {text}")
            yield text, "cuDF", best_ms(by_cudf, 3)
        if goes_on():
            took = []
            for _ in range(2):
                start = time.perf_counter()
                result = eager.select(polars.over("k"))
                took.append(time.perf_counter() - start)
            same(values(result.to_series().to_arrow()), expected[text], f"Polars, {text}")
            yield text, "Polars", min(took) * 1e3
        if sql and goes_on():
            start = time.perf_counter()
            database.execute(f"CREATE OR REPLACE TABLE r AS SELECT i, {sql} AS y FROM t")
            took_ms = (time.perf_counter() - start) * 1e3
            found = database.execute("SELECT y FROM r ORDER BY i").fetchnumpy()["y"]
            same(np.ma.filled(found.astype(np.float64), np.nan), expected[text], f"DuckDB, {text}")
            yield text, "DuckDB", took_ms


def values(column: pa.Array | pa.ChunkedArray) -> Values:
    """Return numbers, NaN for null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    result: Values = np.asarray(whole.to_numpy(zero_copy_only=False), np.float64)
    return result


def same(got: Values, expected: Values, what: str) -> None:
    """Refuse a time of other results; floats may differ by rounding."""
    if not np.allclose(got.astype(np.float64), expected, rtol=1e-6, atol=1e-8, equal_nan=True):
        raise SystemExit(f"{what}: the answers differ")


if __name__ == "__main__":
    main()

"""A regular expression of each row on the device, beside a constant one, cuDF's constant one, Polars and DuckDB.

    python tests/benchmarks/row_patterns.py [--rows 20000000] [--host-rows 2000000] [--runs 3] [--results FILE]

Each row has a text of some 40 bytes and one of 10, or of 1,000 distinct patterns, such as `item-7[0-9]* for`.  Rows are in
device memory, or in that of the host for Polars and DuckDB, which get fewer.  The counts of matches are compared first.
cuDF takes constants alone: with columns of patterns it searches all rows once for each of 10.  Times are the least of some
runs after a first one, which is named too: there kernels are compiled, and patterns are read.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cudf  # noqa: TID251  a peer
import cupy
import duckdb
import polars
import pyarrow as pa
import pyarrow.compute as pc
from environment import described
from suites.results import gpu, installed

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.runtime.gpu_machine import machine
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import SCALARS, Scope
from gpuetl.types.data_types import STRING
from gpuetl.types.schema import Schema

ROWS = """
SELECT 'order ' || (i * 7919) % 1000003 || ' of item-' || hash(i) % 2000 || ' for user ' || i % 99991 AS t,
  'item-' || hash(i + 1) % {patterns} || '[0-9]* for' AS p
FROM range({rows}) r(i)
"""
CONSTANT = "item-7[0-9]* for"
CALLS = {"like": "regexp_like(t, p)", "extract": "regexp_extract(t, p)", "count": "regexp_count(t, p)"}


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--host-rows", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    found = [each for patterns in (10, 1_000) for each in measured(given.rows, given.host_rows, patterns, given.runs)]
    if given.results:
        result = {"benchmark": "row_patterns", **described(installed()), "measured": found}
        result["hardware"] |= gpu()
        given.results.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def measured(rows: int, host_rows: int, patterns: int, runs: int) -> list[dict[str, Any]]:
    """Measure all ways for a number of distinct patterns."""
    table = duckdb.sql(ROWS.format(rows=rows, patterns=patterns)).to_arrow_table()
    table = table.cast(pa.schema({"t": STRING, "p": STRING}))
    on_device = machine()
    plain = {name: from_arrow(table.column(name), on_device) for name in ("t", "p")}
    frames = {"": plain, ", patterns coded": {**plain, "p": with_dictionary(plain["p"], on_device)}}
    results = list[dict[str, Any]]()

    def note(name: str, count: int, work: Callable[[], Any]) -> Any:
        answer, times = None, list[float]()
        for _ in range(runs + 1):
            cupy.cuda.Device().synchronize()
            began = time.perf_counter()
            answer = work()
            cupy.cuda.Device().synchronize()
            times.append(time.perf_counter() - began)
        each = {"way": name, "patterns": patterns, "rows": count, "first_s": times[0], "best_s": min(times[1:])}
        results.append(each)
        print(
            f"{patterns:6,} patterns {name:34} {count:12,} rows  first {times[0]:8.3f} s  best {min(times[1:]):8.4f} s  "
            f"{count / min(times[1:]) / 1e6:9.1f} M rows/s", flush=True,
        )  # fmt: skip
        return answer

    def ours(sql: str, frame: Any) -> Callable[[], Any]:
        expr = resolve(parse_expression(sql), Scope(Schema({"t": STRING, "p": STRING}), {}, SCALARS))
        return lambda: evaluate({"": expr}, frame, rows, on_device)[""]

    hits = 0
    for kind, frame in frames.items():
        for name, sql in CALLS.items():
            answer = note(f"gpuetl {name}{kind}", rows, ours(sql, frame))
            if name == "like":
                hits = int(cupy.asarray(answer.data[:host_rows]).sum())
    note("gpuetl like, a constant", rows, ours(f"regexp_like(t, '{CONSTANT}')", plain))
    series = cudf.Series.from_arrow(table.column("t").combine_chunks())
    note("cuDF contains, a constant", rows, lambda: series.str.contains(CONSTANT))
    if patterns == 10:
        kinds = cudf.Series.from_arrow(table.column("p").combine_chunks())
        note("cuDF, once for each pattern", rows, lambda: each_pattern(series, kinds, table.column("p")))
    data = table.slice(0, host_rows)

    count = note(
        "DuckDB regexp_matches",
        host_rows,
        lambda: duckdb.sql("SELECT count(*) FROM data WHERE regexp_matches(t, p)").fetchall()[0][0],
    )
    frame = polars.from_arrow(data)
    theirs = note(
        "Polars str.contains",
        host_rows,
        lambda: frame.select(polars.col("t").str.contains(polars.col("p")).sum()).item(),
    )
    if not hits == count == theirs:
        raise SystemExit(f"the counts differ: {hits} {count} {theirs}")
    return results


def each_pattern(texts: Any, kinds: Any, column: Any) -> Any:
    """Return which texts match their pattern, by a search of all texts for each pattern."""
    found = cudf.Series(cupy.zeros(len(texts), bool))
    for pattern in pc.unique(column).to_pylist():
        found |= texts.str.contains(pattern) & (kinds == pattern)
    return found


if __name__ == "__main__":
    main()

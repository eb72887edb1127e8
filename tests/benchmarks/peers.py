"""The demo and the events pipeline beside the same work by hand in pandas, Polars and DuckDB, on this machine's CPUs.

python tests/benchmarks/peers.py        checks that all agree, writes results/peers-<date>.json, renders docs/performance.md

Every contestant runs in a process of its own, which imports it and runs once before the clock starts.  The rounds go
from contestant to contestant, so that a busy moment of the machine meets all of them.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
from environment import described, today
from peers.events import make as events
from render import render

from gpuetl.testing import Tolerance, assert_tables_equal

HERE = Path(__file__).parent
WORK = HERE / "work"
CONTESTANTS = ("gpuetl", "pandas", "polars", "duckdb")
ROUNDS = 3
ROUNDING = Tolerance(rtol=1e-6, atol=1e-6)  # sums of millions of floats, in any order; a rolling sum that subtracts

SOURCES = {"flights": HERE.parents[1] / "data" / "flights", "events": WORK / "events"}
KEYS = {
    "flights": {"rotations": ["tailnum", "departure", "flight"], "carrier_months.parquet": [], "top_routes.csv": []},
    "events": {"features.parquet": ["user_id", "ts"], "days.parquet": []},
}
"""The outputs of each pipeline, and the columns that order the rows of those that have no order of their own."""


def contest(pipeline: str, contestant: str) -> None:
    """Run as a process of one contestant: a line in asks for a run, a line out has its seconds and peak memory."""
    module = import_module(f"peers.{pipeline}.by_{contestant}")
    out = output(pipeline, contestant)
    out.mkdir(parents=True, exist_ok=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        module.run(SOURCES[pipeline], out)
        seconds = time.perf_counter() - start
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]), flush=True)


def output(pipeline: str, contestant: str) -> Path:
    """Return where a contestant writes."""
    return WORK / "out" / pipeline / contestant


class Process:
    """A contestant's process, which runs when it is told to."""

    def __init__(self, pipeline: str, contestant: str) -> None:
        command = [sys.executable, __file__, "--contest", pipeline, contestant]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seconds: list[float] = []
        self.peak_bytes = 0

    def run(self) -> float:
        """Run once; return the seconds."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        seconds, self.peak_bytes = json.loads(self.process.stdout.readline())
        return float(seconds)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def measure(pipeline: str) -> dict[str, Any]:
    """Check that all contestants agree, then return each one's times and memory."""
    processes = {name: Process(pipeline, name) for name in CONTESTANTS}
    for name, process in processes.items():
        print(f"{pipeline}: {name} warmed in {process.run():.2f} s", flush=True)
    for name in CONTESTANTS[1:]:
        assert_agree(pipeline, name)
    for number in range(ROUNDS):
        for process in processes.values():
            process.seconds.append(process.run())
        times = ", ".join(f"{name} {process.seconds[-1]:.2f} s" for name, process in processes.items())
        print(f"{pipeline}: round {number + 1} of {ROUNDS}: {times}", flush=True)
    for process in processes.values():
        process.close()
    own = statistics.median(processes["gpuetl"].seconds)
    return {
        name: {
            "median_s": statistics.median(process.seconds), "min_s": min(process.seconds),
            "max_s": max(process.seconds), "peak_bytes": process.peak_bytes,
            "gpuetl_takes": own / statistics.median(process.seconds),
        }
        for name, process in processes.items()
    }  # fmt: skip


def assert_agree(pipeline: str, contestant: str) -> None:
    """Raise `AssertionError` unless a contestant's outputs are gpuetl's."""
    for name, keys in KEYS[pipeline].items():
        expected = read(output(pipeline, "gpuetl") / name, keys)
        got = read(output(pipeline, contestant) / name, keys)
        assert_tables_equal(
            as_planned(got, expected.schema), expected, ordered=True, tolerance=ROUNDING, what=f"{contestant}'s {name}"
        )


def read(path: Path, keys: list[str]) -> pa.Table:
    """Return the rows of an output."""
    if path.suffix == ".csv":
        return pyarrow.csv.read_csv(path)
    rows = pyarrow.dataset.dataset(path, partitioning="hive").to_table() if path.is_dir() else pq.read_table(path)
    return rows.sort_by([(key, "ascending") for key in keys]) if keys else rows


def as_planned(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows in gpuetl's types: others widen less, and pandas has NaN where a value is missing."""
    return pa.table({field.name: _column(rows[field.name], field.type) for field in schema}, schema=schema)


def _column(column: pa.ChunkedArray, dtype: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if pa.types.is_timestamp(column.type) and dtype == pa.date32():
        column = column.cast(pa.timestamp("s"))
    return column.cast(dtype)


def size(folder: Path) -> dict[str, int]:
    """Return the rows and bytes of a folder's Parquet files."""
    files = sorted(folder.rglob("*.parquet"))
    return {"rows": sum(pq.read_metadata(f).num_rows for f in files), "bytes": sum(f.stat().st_size for f in files)}


def main() -> None:
    """Make the data, measure, store, render."""
    events.make(SOURCES["events"])
    pipelines = {name: {"input": size(SOURCES[name]), "contestants": measure(name)} for name in KEYS}
    packages = ("gpuetl", "pyarrow", "pandas", "numpy", "polars", "duckdb")
    result = {"benchmark": "peers", **described(packages), "rounds": ROUNDS, "pipelines": pipelines}
    path = HERE / "results" / f"peers-{today()}.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    render()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--contest", nargs=2, metavar=("PIPELINE", "CONTESTANT"))
    asked = arguments.parse_args()
    if asked.contest:
        contest(*asked.contest)
    else:
        main()

"""Operations under a memory limit: what the plan expected, what the run took, and how long it ran.

    python tests/benchmarks/memory_limits.py FOLDER --rows 5000000 --limits 200MB,500MB,1GB
    python tests/benchmarks/memory_limits.py FOLDER --rows 20000000 --limits 1GB,2GB,4GB --engine cudf
    python tests/benchmarks/memory_limits.py FOLDER --rows 80000000 --limits 500MB --source csv.gz

On the pandas engine each run is a process of its own that loads the engine by a run over a few rows, and notes its
resident set.  Then it plans and runs, and reads from /proc/self/status how far the resident set grew at most.  Spilled
files that are mapped count too.  `--source csv.gz` reads one compressed CSV file in place of Parquet files; 80 million
rows are 10 GB of text.
On the cudf engine all runs are in this process, each operation once before it is measured, and RMM counts the bytes.
All runs of an operation must give the same rows.  Results are written to results/memory-limits-ENGINE-DATE.json, of CSV
to results/memory-csv-ENGINE-DATE.json.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from csv_rows import OPERATIONS as CSV_OPERATIONS
from csv_rows import make_rows
from environment import described, today
from suites.results import gpu

from gpuetl import GpuetlError, Pipeline, RunOptions, expr
from gpuetl.report.run_report import RunReport
from gpuetl.table import Table
from gpuetl.telemetry.memory_meter import HIGHEST, PROCESS, resident_set, status_bytes
from gpuetl.units import read_size

HERE = Path(__file__).parent
UNLIMITED = "none"
FILES, GROUP_ROWS = 4, 1 << 18
ENOUGH_S = 280
"""A run over 5 million rows that takes longer is stopped."""
WARM_UP_ROWS = 1000
PACKAGES = {"pandas": ("gpuetl", "pyarrow", "numpy"), "cudf": ("gpuetl", "pyarrow", "pylibcudf-cu12", "cupy-cuda12x")}

Operation = Callable[[Pipeline, Path], Table]


def source(pipeline: Pipeline, data: Path, name: str) -> Table:
    """Read a folder of the generated data."""
    return pipeline.read_parquet(name, data / name)


def rows(pipeline: Pipeline, data: Path) -> Table:
    """Return the rows that most operations take."""
    return source(pipeline, data, "rows")


def exploded(pipeline: Pipeline, data: Path) -> Table:
    """Give each element of a list a row."""
    return source(pipeline, data, "lists").explode("tags")


OPERATIONS: dict[str, Operation] = {
    "sort by an integer": lambda p, data: rows(p, data).sort("number"),
    "sort by strings": lambda p, data: rows(p, data).sort("name"),
    "join, unique keys": lambda p, data: rows(p, data).join(source(p, data, "keys"), "id", validate="many_to_one"),
    "join, keys that repeat": lambda p, data: rows(p, data).join(source(p, data, "repeats"), "group"),
    "window": lambda p, data: rows(p, data).window("group", "id", s=expr("cum_sum(price)"), before=expr("lag(price)")),
    "group by": lambda p, data: rows(p, data).aggregate("id", n=expr("count(*)"), s=expr("sum(price)")),
    "distinct": lambda p, data: rows(p, data).select("id", "number").distinct("id", "number"),
    "explode": exploded,
    "filter to Parquet": lambda p, data: rows(p, data).filter(expr("price > 0.1")),
    "filter to CSV": lambda p, data: rows(p, data).filter(expr("price > 0.1")),
    "filter to partitions": lambda p, data: rows(p, data).filter(expr("price > 0.1")),
}


def pipeline_of(operation: str, data: Path, out: Path) -> Pipeline:
    """Return the pipeline of an operation, from files to files."""
    pipeline = Pipeline("limits")
    table = {**OPERATIONS, **CSV_OPERATIONS}[operation](pipeline, data).stage("made")
    if operation.endswith("CSV"):
        table.write_csv("out", str(out))
    else:
        table.write_parquet("out", str(out), partition_by="kind" if operation.endswith("partitions") else None)
    return pipeline


def main() -> None:
    """Measure."""
    asked = arguments()
    if asked.child:
        operation, limit = asked.child
        print(json.dumps(run_on_pandas(operation, limit, asked.folder, asked.rows)))
        return
    is_csv = asked.source == "csv.gz"
    data, few = (data_folder(asked.folder, count, is_csv) for count in (asked.rows, WARM_UP_ROWS))
    for folder, count in ((data, asked.rows), (few, WARM_UP_ROWS)):
        (make_rows if is_csv else make)(folder, count)
    names = [name for name in (CSV_OPERATIONS if is_csv else OPERATIONS) if not asked.only or asked.only in name]
    found: dict[str, Any] = {
        "benchmark": "memory-csv" if is_csv else "memory-limits", "engine": asked.engine,
        **described(PACKAGES[asked.engine]), "rows": asked.rows, "runs": [],
        "bytes": make_rows(data, asked.rows) if is_csv else source_bytes(data), "group_rows": GROUP_ROWS,
    }  # fmt: skip
    if asked.engine == "cudf":
        found["hardware"] |= gpu()
    for name in names:
        answers = set()
        for limit in asked.limits if is_csv else [UNLIMITED, *asked.limits]:
            measured = (
                run_on_cudf(name, limit, asked.folder, asked.rows)
                if asked.engine == "cudf"
                else run_apart(asked, name, limit)
            )
            found["runs"].append({"operation": name, "limit": limit, **measured})
            answers.add(found["runs"][-1].pop("answer", None))
            print(found["runs"][-1], flush=True)
            asked.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        if len(answers - {None}) > 1:
            raise SystemExit(f"{name}: runs with a limit gave other rows")


def data_folder(folder: Path, rows: int, is_csv: bool) -> Path:
    """Return where the sources of so many rows are."""
    return folder / f"{'csv' if is_csv else 'data'}-{rows}"


def source_bytes(data: Path) -> dict[str, int]:
    """Return the bytes of each source's files."""
    return {folder.name: sum(file.stat().st_size for file in folder.iterdir()) for folder in sorted(data.iterdir())}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--limits", type=lambda text: text.split(","), default=["200MB", "500MB", "1GB"])
    parser.add_argument("--engine", choices=list(PACKAGES), default="pandas")
    parser.add_argument("--source", choices=["parquet", "csv.gz"], default="parquet")
    parser.add_argument("--only", help="operations whose names have this in them")
    parser.add_argument("--results", type=Path, help="by default in results/")
    parser.add_argument("--child", nargs=2, metavar=("OPERATION", "LIMIT"), help="one run, in this process")
    asked = parser.parse_args()
    name = "memory-limits" if asked.source == "parquet" else "memory-csv"
    asked.results = asked.results or HERE / "results" / f"{name}-{asked.engine}-{today()}.json"
    return asked


def run_apart(asked: argparse.Namespace, operation: str, limit: str) -> dict[str, Any]:
    """Run one operation in a process of its own; return what it took."""
    command = [sys.executable, __file__, str(asked.folder), "--rows", str(asked.rows), "--child", operation, limit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=enough_s(asked.rows), check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def enough_s(rows: int) -> float:
    """Return the seconds after which a run is stopped."""
    return ENOUGH_S * max(1, rows / 5_000_000)


def run_on_pandas(operation: str, limit: str, folder: Path, rows: int) -> dict[str, Any]:
    """Run one operation in this process and measure how far its resident set grows."""
    pipeline, options = prepared(operation, limit, folder, WARM_UP_ROWS)
    pipeline.run(engine="pandas", options=options, keep=())  # loads code, which is no memory of a run
    pipeline, options = prepared(operation, limit, folder, rows)
    gc.collect()
    pa.default_memory_pool().release_unused()
    before = resident_set()
    (PROCESS / "clear_refs").write_text("5")
    began = time.perf_counter()
    try:
        report = pipeline.run(engine="pandas", options=options, keep=()).report
    except GpuetlError as error:
        return {"error": str(error), "taken": status_bytes(HIGHEST) - before}
    seconds, process = time.perf_counter() - began, status_bytes(HIGHEST)
    measured = {"taken": process - before, "process": process, "seconds": seconds}
    return {**measured, **described_run(report, options, folder)}


def run_on_cudf(operation: str, limit: str, folder: Path, rows: int) -> dict[str, Any]:
    """Run one operation in this process, its first run apart, and read RMM's peak of the second and the time of the third."""
    seconds, taken = 0.0, 0
    for profile in (False, True, False):
        pipeline, options = prepared(operation, limit, folder, rows)
        began = time.perf_counter()
        try:
            report = pipeline.run(engine="cudf", options=replace(options, profile=profile), keep=()).report
        except GpuetlError as error:
            return {"error": str(error), "bytes_limit": options.memory}
        seconds = time.perf_counter() - began
        taken = report.memory["device memory"] if profile else taken
    return {"taken": taken, "seconds": seconds, **described_run(report, options, folder)}


def prepared(operation: str, limit: str, folder: Path, rows: int) -> tuple[Pipeline, RunOptions]:
    """Return an operation's pipeline, with no output there, and the options of its run."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    memory = None if limit == UNLIMITED else read_size(limit)
    return pipeline_of(operation, data_folder(folder, rows, operation in CSV_OPERATIONS), out), RunOptions(
        memory=memory
    )


def described_run(report: RunReport, options: RunOptions, folder: Path) -> dict[str, Any]:
    """Return what the report and the sink say about a run."""
    return {
        "expected": report.expected_memory, "bytes_limit": options.memory, "spilled": sum(report.spilled.values()),
        "notes": list(report.notes), "answer": answer(folder / "out"),
    }  # fmt: skip


def answer(out: Path) -> str:
    """Return a digest of a sink's rows that does not depend on their order, nor on how files are cut."""
    suffix = "csv" if any(out.rglob("*.csv")) else "parquet"
    dataset = ds.dataset(out, format=suffix, partitioning="hive")
    totals: dict[str, Any] = {"rows": 0}
    for batch in dataset.to_batches():
        totals["rows"] += batch.num_rows
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_integer(column.type):
                totals[name] = totals.get(name, 0) + (pc.sum(column).as_py() or 0)
            elif pa.types.is_string(column.type):
                totals[name] = totals.get(name, 0) + (pc.sum(pc.binary_length(column)).as_py() or 0)
    return hashlib.sha256(json.dumps(totals, sort_keys=True).encode()).hexdigest()


def make(data: Path, count: int) -> None:
    """Write the sources, in files of a few row groups each; they stay for later runs."""
    if data.exists():
        return
    begun = data.with_name(data.name + ".begun")
    shutil.rmtree(begun, ignore_errors=True)
    rng = np.random.default_rng(1)
    ids = rng.permutation(count)
    for name in ("rows", "keys", "repeats", "lists"):
        (begun / name).mkdir(parents=True)
    for file in range(FILES):
        own = ids[file * count // FILES : (file + 1) * count // FILES]
        write(begun / "rows" / f"{file}.parquet", made_rows(own, count, rng))
        write(begun / "keys" / f"{file}.parquet", {"id": np.sort(own), "weight": rng.random(len(own))})
        few = rng.integers(0, count // 5, len(own) // 2)
        write(begun / "repeats" / f"{file}.parquet", {"group": few, "weight": rng.random(len(few))})
        lengths = rng.integers(0, 5, len(own) // 2)
        ends = np.concatenate([[0], np.cumsum(lengths)])
        tags = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(rng.integers(0, 1000, ends[-1])))
        write(begun / "lists" / f"{file}.parquet", {"id": own[: len(lengths)], "tags": tags})
    begun.rename(data)


def made_rows(ids: Any, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return columns: unique, of few rows each, of few values, and strings that differ in all rows."""
    numbers = rng.integers(0, 1 << 40, len(ids))
    return {
        "id": ids, "number": numbers, "group": ids % (count // 5), "price": rng.random(len(ids)),
        "kind": rng.integers(0, 8, len(ids)).astype(np.int32), "name": [f"name-{number:014}" for number in numbers],
    }  # fmt: skip


def write(path: Path, columns: dict[str, Any]) -> None:
    """Write a file."""
    pq.write_table(pa.table(columns), path, row_group_size=GROUP_ROWS)


if __name__ == "__main__":
    main()

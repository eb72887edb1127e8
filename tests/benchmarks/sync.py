"""What it costs to bring files to disk before a commit: runs with and without `--no-sync`, in turns.

    python tests/benchmarks/sync.py FOLDER --disk "ext4 on a virtual disk"

Outputs go to FOLDER, on the disk that is measured.  Before each run the outputs of the last one are removed, and all that
waits to be written is written.  Results go to results/sync-DATE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today
from render import render

import gpuetl
from gpuetl import Pipeline, RunOptions
from gpuetl.places.local.commit.moves import sync_all

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MEGABYTE_ROWS = 125_000
"""Rows of one random float64, which no codec makes smaller."""
PLAIN_ROUNDS = 5
FILES, COLUMNS, LARGE_ROWS = 200, 8, 15_625_000


def large(folder: Path) -> Pipeline:
    """Write 1 GB as one file."""
    pipeline = Pipeline("large", root=folder)
    pipeline.read_parquet("t", folder / "large.parquet").write_parquet("out", "out/large.parquet", mode="overwrite")
    return pipeline


def many(folder: Path) -> Pipeline:
    """Write 200 files of 1 MB, one in each partition."""
    pipeline = Pipeline("many", root=folder)
    rows = pipeline.read_parquet("t", folder / "many.parquet")
    rows.write_parquet("out", "out/many", mode="overwrite", partition_by=["k"])
    return pipeline


def flights(folder: Path) -> Pipeline:
    """Run the demo, whose sinks are small."""
    return gpuetl.load(folder / "flights/pipelines/flights.yaml")


CASES: dict[str, tuple[Callable[[Path], Pipeline], int]] = {
    "1 file of 1 GB": (large, 1),
    "200 files of 1 MB": (many, 1),
    "flights": (flights, 4),
}
"""The pipelines, and how many times more often than the first one each is run."""


def make(folder: Path) -> None:
    """Write the sources, which stay for later runs."""
    rng = np.random.default_rng(1)
    if not (folder / "large.parquet").exists():
        columns = {f"x{number}": rng.random(LARGE_ROWS) for number in range(COLUMNS)}
        pq.write_table(pa.table(columns), folder / "large.parquet", compression="none", use_dictionary=False)
    if not (folder / "many.parquet").exists():
        rows = {"k": np.repeat(np.arange(FILES), MEGABYTE_ROWS), "x": rng.random(FILES * MEGABYTE_ROWS)}
        pq.write_table(pa.table(rows), folder / "many.parquet", compression="none", use_dictionary=False)
    if not (folder / "flights").exists():
        shutil.copytree(ROOT / "pipelines", folder / "flights/pipelines")
        (folder / "flights/data").symlink_to(ROOT / "data")


def run(pipeline: Pipeline, folder: Path, sync: bool) -> dict[str, Any]:
    """Run a pipeline once; return its seconds, the files and their bytes."""
    for place in ("out", "flights/pipelines/out"):
        shutil.rmtree(folder / place, ignore_errors=True)
    os.sync()
    began = time.perf_counter()
    report = pipeline.run(engine="pandas", options=RunOptions(sync=sync), keep=()).report
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds, "files": sum(sink.files for sink in report.sinks),
        "bytes": sum(sink.file_bytes for sink in report.sinks),
    }  # fmt: skip


def plain_sync(folder: Path, count: int, size: int) -> dict[str, float]:
    """Write so many files of so many bytes without gpuetl, and sync them as a run does; return seconds of the syncs."""
    data, taken = os.urandom(size), []
    for _ in range(PLAIN_ROUNDS):
        place = folder / "plain"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        os.sync()
        files = [place / str(number) for number in range(count)]
        for file in files:
            file.write_bytes(data)
        began = time.perf_counter()
        sync_all([*files, place])
        taken.append(time.perf_counter() - began)
    shutil.rmtree(place)
    return spread(taken)


def main() -> None:
    """Measure, store, render."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--disk", required=True, help="what the folder is on, for people")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    make(given.folder)
    found: dict[str, Any] = {
        "benchmark": "sync", **described(("gpuetl", "pyarrow", "numpy")), "disk": given.disk, "rounds": given.rounds,
        "load": os.getloadavg()[1], "cases": {},
    }  # fmt: skip
    for name, (made, times) in CASES.items():
        pipeline = made(given.folder)
        first = run(pipeline, given.folder, True)
        runs: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(2 * given.rounds * times):
            runs[turn % 2 == 0].append(run(pipeline, given.folder, turn % 2 == 0)["seconds"])
        found["cases"][name] = {
            "files": first["files"], "bytes": first["bytes"], "runs": given.rounds * times,
            **{f"{key}_s": spread(runs[sync]) for key, sync in (("sync", True), ("no_sync", False))},
        }  # fmt: skip
        print(name, found["cases"][name], flush=True)
    found["plain"] = {"1 file of 1 GB": plain_sync(given.folder, 1, 10**9)}
    found["plain"]["200 files of 1 MB"] = plain_sync(given.folder, FILES, 10**6)
    (HERE / "results" / f"sync-{today()}.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    render()


def spread(seconds: list[float]) -> dict[str, float]:
    """Return the least, the median and the greatest."""
    return {"min": min(seconds), "median": statistics.median(seconds), "max": max(seconds)}


if __name__ == "__main__":
    main()

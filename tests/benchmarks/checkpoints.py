"""What a checkpoint costs, and what it saves: runs without one, runs that write one, and runs that resume from it.

    python tests/benchmarks/checkpoints.py FOLDER --engine pandas --rows 4000000 --disk "ext4 on a virtual disk"

Two stages have it in turn: `filtered` does little for many rows, so it is the worst case; `windowed` computes windows over
each user's events.  The runs take turns in one process.  Results go to results/checkpoints-ENGINE-DATE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today
from suites.results import gpu

from gpuetl import Pipeline, RunOptions, col, expr

HERE = Path(__file__).parent
KINDS = ("view", "click", "cart", "purchase")
FILES = 8
PACKAGES = ("gpuetl", "pyarrow", "numpy", "cudf")
WAYS = {"without": (False, False), "writing": (True, False), "resuming": (True, True)}
"""Whether the stage has a checkpoint, and whether the run resumes."""


def make(folder: Path, rows: int) -> int:
    """Write the events, in files that stay for later runs; return their bytes."""
    place = folder / f"events-{rows}"
    if not place.exists():
        place.mkdir(parents=True)
        rng, each = np.random.default_rng(1), rows // FILES
        for number in range(FILES):
            kinds = pa.DictionaryArray.from_arrays(rng.integers(0, 4, each).astype(np.int32), pa.array(KINDS))
            columns = {
                "user": rng.integers(0, rows // 50, each).astype(np.int64),
                "at": np.arange(each, dtype=np.int64) + number * each,
                "amount": rng.random(each).round(2),
                "kind": kinds.cast(pa.string()),
            }
            file = place / f"part-{number}.parquet"
            pq.write_table(pa.table(columns), file, compression="snappy", row_group_size=1 << 20)
            os.utime(file, (0, 0))
    return sum(file.stat().st_size for file in place.iterdir())


def filtered(folder: Path, rows: int, checkpoint: bool) -> Pipeline:
    """Filter the events, and sum them."""
    pipeline = Pipeline("filtered", root=folder)
    events = pipeline.read_parquet("events", f"events-{rows}/*.parquet")
    kept = events.filter(col("amount") > 0.2).stage("kept", checkpoint=checkpoint)
    summed = kept.aggregate("kind", total=expr("sum(amount)"), rows=expr("count(*)")).sort("kind").stage("summed")
    summed.write_parquet("out", "out/summed.parquet", mode="overwrite")
    return pipeline


def windowed(folder: Path, rows: int, checkpoint: bool) -> Pipeline:
    """Compute windows over each user's events, and sum them."""
    pipeline = Pipeline("windowed", root=folder)
    events = pipeline.read_parquet("events", f"events-{rows}/*.parquet")
    windows = events.window(
        by="user",
        order_by="at",
        number=expr("row_number()"),
        so_far=expr("cum_sum(amount)"),
        before=expr("lag(amount)"),
    )
    kept = windows.stage("kept", checkpoint=checkpoint)
    summed = kept.aggregate("kind", total=expr("sum(so_far)"), rows=expr("max(number)")).sort("kind").stage("summed")
    summed.write_parquet("out", "out/summed.parquet", mode="overwrite")
    return pipeline


CASES = {"filtered": filtered, "windowed": windowed}


def run(pipeline: Pipeline, engine: str, resume: bool) -> tuple[float, Any]:
    """Run a pipeline once; return its seconds and its report."""
    began = time.perf_counter()
    report = pipeline.run(engine=engine, keep=(), resume=resume, options=RunOptions(sync=False)).report
    return time.perf_counter() - began, report


def measured(folder: Path, name: str, engine: str, rows: int, rounds: int) -> dict[str, Any]:
    """Measure a case; the first round of each way is left out."""
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    reports: dict[str, Any] = {}
    for turn in range(rounds + 1):
        for way, (checkpoint, resume) in WAYS.items():
            seconds, reports[way] = run(CASES[name](folder, rows, checkpoint), engine, resume)
            taken[way] += [seconds] * (turn > 0)
    (written,), (reused,) = reports["writing"].checkpoints, reports["resuming"].checkpoints
    assert (written.state, reused.state) == ("written", "reused")
    assert pq.read_table(folder / "out/summed.parquet").num_rows == len(KINDS)
    least = {way: min(seconds) for way, seconds in taken.items()}
    return {
        "rows": written.rows, "bytes": written.bytes, "check_s": reused.seconds, "write_thread_s": written.seconds,
        **{f"{way}_s": {"min": min(s), "median": statistics.median(s), "max": max(s)} for way, s in taken.items()},
        "writing_ratio": least["writing"] / least["without"], "resuming_ratio": least["resuming"] / least["without"],
    }  # fmt: skip


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--engine", default="pandas")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--disk", required=True, help="what the folder is on, for people")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    size, found = make(given.folder, given.rows), described(PACKAGES)
    found["hardware"] |= gpu() if given.engine == "cudf" else {}
    found = {
        "benchmark": f"checkpoints-{given.engine}", **found, "engine": given.engine, "disk": given.disk,
        "rounds": given.rounds, "load": os.getloadavg()[0], "data": {"rows": given.rows, "bytes": size}, "cases": {},
    }  # fmt: skip
    for name in CASES:
        found["cases"][name] = measured(given.folder, name, given.engine, given.rows, given.rounds)
        print(name, found["cases"][name], flush=True)
    place = given.results or HERE / "results" / f"checkpoints-{given.engine}-{today()}.json"
    place.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

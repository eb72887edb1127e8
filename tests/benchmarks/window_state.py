"""What a day costs with window state kept between runs, and what it costs to compute all days again.

    python tests/benchmarks/window_state.py FOLDER --engine pandas --rows 50000 --users 25000
    python tests/benchmarks/window_state.py FOLDER --engine cudf --every 60 --seconds 80

Each day is one file of events in time order.  With state, a run reads the day's file and goes on from the stored state.
Without, it reads the files of all days so far, computes the same windows, and keeps the rows of the day: that is done on
every 30th day only.  The rows of those days are compared.  Results go to results/window-state-ENGINE-DATE.json, or to
--out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today

from gpuetl import Pipeline, Table, col, expr
from gpuetl.testing import assert_tables_equal

HERE = Path(__file__).parent
DAY_US = 86_400_000_000
START_US = 1_704_067_200_000_000
CALLS = {
    "place": "row_number()", "total": "cum_sum(cents)", "gap": "ts - lag(ts)",
    "session": "session_id(gap => interval '30 minutes')", "recent": "decayed_sum(cents, half_life => interval '1 day')",
    "last_five": "rolling_mean(cents, 5)",
}  # fmt: skip
"""Six numbers of a user: how many events, cents, since the last one, sessions, fading sum, and the mean of five."""
WEEK = {"week": "rolling_sum(cents, interval '7 days')"}
"""Its state has all rows of seven days."""
CASES = {"last rows": CALLS, "an interval of 7 days": WEEK}


def write_days(folder: Path, given: argparse.Namespace) -> None:
    """Write the events of all days to the folder `made`."""
    (folder / "made").mkdir(parents=True)
    (folder / "in").mkdir()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(write_day, folder, given.rows, given.users), range(given.days), chunksize=8))


def write_day(folder: Path, rows: int, users: int, day: int) -> None:
    """Write the events of a day."""
    rng = np.random.default_rng(day)
    times = np.sort(rng.integers(0, DAY_US, rows)) + START_US + day * DAY_US
    table = pa.table({
        "ts": pa.array(times, pa.timestamp("us")),
        "user": pa.array((rng.pareto(1.2, rows) * users / 20).astype(np.int64) % users),
        "cents": pa.array(rng.integers(1, 10_000, rows)),
        "day": pa.array(np.full(rows, day, np.int32)),
    })  # fmt: skip
    pq.write_table(table, folder / "made" / f"{day:04}.parquet")


def windowed(events: Table, calls: dict[str, str], **options: Any) -> Table:
    """Return the windows of a user."""
    columns = {name: expr(call) for name, call in calls.items()}
    return events.window("user", "ts", **options, **columns)


def with_state(folder: Path, day: int, calls: dict[str, str]) -> Pipeline:
    """Return the run of a day that goes on from the last one."""
    pipeline = Pipeline("kept", root=folder)
    pipeline.param("path", "string", f"in/{day:04}.parquet")
    events = pipeline.read_parquet("events", "${params.path}")
    windowed(events, calls, state="keep").write_parquet("out", "kept.parquet", mode="overwrite")
    return pipeline


def recomputed(folder: Path, day: int, calls: dict[str, str]) -> Pipeline:
    """Return the run that computes all days so far."""
    pipeline = Pipeline("recomputed", root=folder)
    rows = windowed(pipeline.read_parquet("events", "in"), calls).filter(col("day") == day)
    rows.write_parquet("out", "recomputed.parquet", mode="overwrite")
    return pipeline


def seconds_of(pipeline: Pipeline, engine: str) -> float:
    """Run a pipeline once."""
    began = time.perf_counter()
    pipeline.run(engine=engine, keep=())
    return time.perf_counter() - began


def state_bytes(folder: Path) -> int:
    """Return the bytes of the state's files."""
    return sum(file.stat().st_size for file in (folder / ".gpuetl" / "kept").rglob("*.arrow"))


def same_rows(folder: Path) -> None:
    """Compare the rows of both runs of a day."""
    found, expected = (pq.read_table(folder / f"{name}.parquet") for name in ("kept", "recomputed"))
    assert_tables_equal(found, expected, what="a day with state")


def measure(folder: Path, given: argparse.Namespace, calls: dict[str, str], until: float) -> dict[str, Any]:
    """Run day after day; return seconds of each, of samples computed anew, and the state's bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    write_days(folder, given)
    kept, again, sizes = list[float](), dict[int, float](), dict[int, int]()
    for day in range(given.days):
        (folder / "made" / f"{day:04}.parquet").rename(folder / "in" / f"{day:04}.parquet")
        kept.append(seconds_of(with_state(folder, day, calls), given.engine))
        is_over = time.perf_counter() > until
        if (day + 1) % given.every == 0 or day + 1 == given.days or is_over:
            again[day + 1] = seconds_of(recomputed(folder, day, calls), given.engine)
            sizes[day + 1] = state_bytes(folder)
            same_rows(folder)
            print(day + 1, f"{statistics.median(kept[-given.every :]):.3f} s, anew {again[day + 1]:.3f} s", flush=True)
        if is_over:
            break
    medians = {day: statistics.median(kept[max(0, day - given.every) : day]) for day in again}
    return {"days": len(kept), "kept_s": medians, "recomputed_s": again, "state_bytes": sizes, "all_kept_s": sum(kept)}


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--engine", default="pandas")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--rows", type=int, default=200_000, help="events a day")
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--every", type=int, default=30, help="days between those that are computed anew")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after the day in which these are over")
    parser.add_argument("--case", choices=CASES, action="append", help="by default all")
    parser.add_argument("--device", default="", help="the GPU, for people")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    packages = ("gpuetl", "pyarrow", "numpy", *(["cudf-cu12", "cudf-cu13"] if given.engine == "cudf" else []))
    found: dict[str, Any] = {
        "benchmark": f"window-state-{given.engine}", **described(packages), "rows": given.rows, "users": given.users,
        "every": given.every, "load": os.getloadavg()[1], "cases": {},
    }  # fmt: skip
    found["versions"] = {name: one for name, one in found["versions"].items() if one != "not installed"}
    if given.device:
        found["hardware"] = {**found["hardware"], "gpu": given.device}
    began = time.perf_counter()
    cases = given.case or list(CASES)
    for number, name in enumerate(cases, 1):
        until = began + given.seconds * number / len(cases)
        found["cases"][name] = measure(given.folder / str(number), given, CASES[name], until)
    out = given.out or HERE / "results" / f"window-state-{given.engine}-{today()}.json"
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

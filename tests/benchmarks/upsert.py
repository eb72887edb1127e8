"""What an upsert costs: its target, the share of rows that change and how they lie, beside other modes.

    python tests/benchmarks/upsert.py FOLDER [--engine pandas] [--rows 4000000] [--out FILE]

The target has 100 partitions by day.  Ids grow with the days, as those of orders do.  Each case begins with the same
target.  Results go to FILE, by default results/upsert-ENGINE-DATE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today

from gpuetl import Pipeline, RunOptions
from gpuetl.executors.row_changes import RowChanges

HERE = Path(__file__).parent
DAYS, PAYLOAD = 100, 6
UPSERT, WITH_DAY = {"mode": "upsert", "on": ["id"]}, {"mode": "upsert", "on": ["id", "day"]}
CASES: tuple[tuple[str, str, float, dict[str, Any]], ...] = (
    ("upsert on id", "last 2 days", 0.001, UPSERT),
    ("upsert on id, day", "last 2 days", 0.001, WITH_DAY),
    ("upsert on id", "last 2 days", 0.01, UPSERT),
    ("upsert on id, day", "last 2 days", 0.01, WITH_DAY),
    ("upsert on id", "all days", 0.001, UPSERT),
    ("upsert on id", "all days", 0.1, UPSERT),
    ("overwrite", "all rows", 1.0, {"mode": "overwrite"}),
    ("append", "last 2 days", 0.01, {"mode": "append"}),
)
"""The mode, the days of the rows that change, their share of the target's rows, and the keys of the sink."""


def rows_of(ids: np.ndarray, rows: int, seed: int) -> pa.Table:
    """Return rows of ids: the day follows from the id, the payload is random."""
    rng = np.random.default_rng(seed)
    days = (ids * DAYS // rows).astype(np.int32)
    columns = {"id": ids, "day": days, **{f"x{number}": rng.random(len(ids)) for number in range(PAYLOAD)}}
    return pa.table(columns)


def changed_ids(rows: int, share: float, where: str) -> np.ndarray:
    """Return ids of rows that change, each once."""
    rng = np.random.default_rng(7)
    first = rows - 2 * rows // DAYS if where == "last 2 days" else 0
    count = min(int(rows * share), rows - first)
    return np.sort(rng.choice(np.arange(first, rows, dtype=np.int64), count, replace=False))


def run(folder: Path, source: str, keys: dict[str, Any], engine: str) -> dict[str, Any]:
    """Write rows to the target once; return seconds and what became of rows."""
    pipeline = Pipeline("upsert", root=folder)
    pipeline.read_parquet("t", folder / source).write_parquet("out", "out", partition_by=["day"], **keys)
    os.sync()
    began = time.perf_counter()
    report = pipeline.run(engine=engine, options=RunOptions(), keep=()).report
    seconds = time.perf_counter() - began
    (sink,) = report.sinks
    changes = sink.changes or RowChanges(sink.rows, 0, 0)
    phases = {
        name: seconds for name, seconds in report.seconds.items() if name in ("run", "find keys", "merge", "commit")
    }
    return {
        "seconds": seconds, "phases": phases, "written_bytes": sink.file_bytes, "rows": sink.rows,
        "inserted": changes.inserted, "updated": changes.updated, "kept": changes.kept, "partitions": changes.partitions,
    }  # fmt: skip


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--engine", default="pandas")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--gpu", default="", help="the GPU, for people")
    parser.add_argument("--remark", default="", help="what to know of the numbers")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows_of(np.arange(given.rows, dtype=np.int64), given.rows, 1), given.folder / "all.parquet")
    found: dict[str, Any] = {
        "benchmark": "upsert", **described(("gpuetl", "pyarrow", "numpy")), "engine": given.engine, "rows": given.rows,
        "load": os.getloadavg()[1], "remarks": [given.remark] if given.remark else [], "cases": [],
    }  # fmt: skip
    found["hardware"] |= {"gpu": given.gpu} if given.gpu else {}
    shutil.rmtree(given.folder / "out", ignore_errors=True)
    run(given.folder, "all.parquet", {"mode": "overwrite"}, given.engine)
    found["target_bytes"] = sum(file.stat().st_size for file in (given.folder / "out").rglob("*.parquet"))
    shutil.copytree(given.folder / "out", given.folder / "first")
    for mode, where, share, keys in CASES:
        shutil.rmtree(given.folder / "out")
        shutil.copytree(given.folder / "first", given.folder / "out")
        source = "all.parquet"
        if where != "all rows":
            source = "changes.parquet"
            pq.write_table(rows_of(changed_ids(given.rows, share, where), given.rows, 2), given.folder / source)
        case = {"mode": mode, "where": where, "share": share, **run(given.folder, source, keys, given.engine)}
        found["cases"].append(case)
        print(case, flush=True)
        assert not case["partitions"] or case["updated"] + case["inserted"] == int(given.rows * share)
    shutil.rmtree(given.folder)
    out = given.out or HERE / "results" / f"upsert-{given.engine}-{today()}.json"
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The JSON file that results are merged into."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from gpuetl import load

from . import Job
from .peers import PEERS

PACKAGES = (
    "gpuetl", "pyarrow", "duckdb", "polars",
    *(f"{name}-cu{cuda}" for name in ("cudf", "pylibcudf", "cudf-polars") for cuda in (12, 13)),
    "cupy-cuda12x", "cupy-cuda13x", "distributed", "dask-cuda", *(f"dask-cudf-cu{cuda}" for cuda in (12, 13)),
)  # fmt: skip


class Results:
    """The results of a day and a machine, kept in a JSON file."""

    def __init__(self, path: Path, now: dict[str, Any]) -> None:
        self.path = path
        now["hardware"] |= gpu()
        self.found: dict[str, Any] = {"benchmark": "gpu", **now, "jobs": {}}
        if path.exists():
            before = json.loads(path.read_text(encoding="utf-8"))
            if before["hardware"] != now["hardware"]:
                raise SystemExit(f"{path} is of another machine, {before['hardware']}: give another --results")
            self.found["jobs"] = before["jobs"]

    def add(self, job: Job, data: Path, engine: str, peer: str, record: dict[str, Any]) -> None:
        """Keep a result beside those of other peers on the same data; write the file."""
        size = {path.name: table_size(path) for path in sorted(data.iterdir())}
        kept = self.found["jobs"].get(str(job), {})
        if kept.get("tables") != size:
            kept = {"what": what(job), "tables": size, "peers": {}}
        if peer == "gpuetl":
            record = {"engine": engine, **record}
        kept["peers"] = {
            name: {**kept["peers"], peer: record}[name] for name in PEERS if name in {*kept["peers"], peer}
        }
        self.found["jobs"][str(job)] = kept
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")


def first_and_best(seconds: list[float]) -> dict[str, Any]:
    """Return what is told of runs: the first, which compiles and warms, apart from the best of those after it."""
    return {"first_s": seconds[0], "best_s": min(seconds[1:] or seconds), "seconds": seconds}


def printed(record: dict[str, Any]) -> dict[str, Any]:
    """Print a result, and return it."""
    print(json.dumps(record), flush=True)
    return record


def what(job: Job) -> str:
    """Return what a job is, as its pipeline says."""
    return load(job.file(".yaml")).spec.description.strip()


def table_size(folder: Path) -> dict[str, int]:
    """Return the rows and bytes of a table."""
    files = sorted(folder.glob("*.parquet"))
    return {"rows": sum(pq.read_metadata(f).num_rows for f in files), "bytes": sum(f.stat().st_size for f in files)}


def installed() -> list[str]:
    """Return which of the packages are installed."""
    found = []
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            version(package)
            found.append(package)
    return found


def gpu() -> dict[str, str]:
    """Return the first GPU's name and driver, and how many this process sees, where there is one."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    if shutil.which(query[0]) is None:
        return {}
    lines = subprocess.run(query, capture_output=True, text=True, check=False).stdout.splitlines()
    if visible := os.environ.get("CUDA_VISIBLE_DEVICES"):
        lines = lines[: len(visible.split(","))]
    several = f"{len(lines)} × " if len(lines) > 1 else ""
    return {"gpu": several + lines[0].replace(", ", ", driver ")} if lines else {}

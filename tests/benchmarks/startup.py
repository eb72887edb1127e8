"""Whole-process times of the command line and of the demo: the median of several runs after one that warms the cache.

python tests/benchmarks/startup.py        writes results/startup-<date>.json and renders docs/performance.md
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from environment import described
from render import render

ROOT = Path(__file__).parents[2]
GPUETL = Path(sys.executable).with_name("gpuetl")
RUNS = 9
COMMANDS = {
    "--help": ["--help"],
    "validate pipelines/hello.yaml": ["validate", "pipelines/hello.yaml"],
    "validate pipelines/flights.yaml": ["validate", "pipelines/flights.yaml"],
    "plan pipelines/flights.yaml": ["plan", "pipelines/flights.yaml"],
    "run pipelines/hello.yaml": ["run", "pipelines/hello.yaml"],
    "run pipelines/flights.yaml": ["run", "pipelines/flights.yaml"],
}


def seconds_of(arguments: list[str]) -> float:
    """Run the command once and return its wall time."""
    start = time.perf_counter()
    subprocess.run([GPUETL, *arguments], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start


def measure(arguments: list[str]) -> dict[str, float]:
    """Return the least, median and greatest of several runs."""
    seconds_of(arguments)
    times = [seconds_of(arguments) for _ in range(RUNS)]
    return {"min_s": min(times), "median_s": statistics.median(times), "max_s": max(times)}


def source_size() -> dict[str, int]:
    """Return the rows and bytes of the demo's sources."""
    files = sorted((ROOT / "data" / "flights").glob("*.parquet"))
    return {"rows": sum(pq.read_metadata(f).num_rows for f in files), "bytes": sum(f.stat().st_size for f in files)}


def main() -> None:
    """Measure, store, render."""
    result: dict[str, Any] = {
        "benchmark": "startup",
        **described(("gpuetl", "pyarrow", "pandas", "numpy", "sqlglot")),
        "runs": RUNS,
        "input": source_size(),
        "commands": {name: measure(arguments) for name, arguments in COMMANDS.items()},
    }
    path = Path(__file__).parent / "results" / f"startup-{result['date']}.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{path}: " + ", ".join(f"{name} {times['median_s']:.2f} s" for name, times in result["commands"].items()))
    render()


if __name__ == "__main__":
    main()

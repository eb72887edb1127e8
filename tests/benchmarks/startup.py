"""Whole-process times of the command line and of the demo, and how many modules each command imports.

python tests/benchmarks/startup.py        writes results/startup-<date>.json and renders docs/performance.md
python tests/benchmarks/startup.py --gpu --results FILE        the cudf engine instead: see startup_gpu.py

Where the cudf engine can run, `--gpu` need not be said.

CPU seconds, of all threads, are what others on the machine change least.  Python may keep bytecode, as it does where the
package is installed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from environment import described
from render import render
from startup_gpu import RUNS as GPU_RUNS
from startup_gpu import measure_on_gpu

from gpuetl.engines.registry import look_for_gpu

ROOT = Path(__file__).parents[2]
GPUETL = (sys.executable, "-m", "gpuetl")
RUNS = 20
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ON_PANDAS = ("--engine", "pandas")
COMMANDS = {
    "--help": ["--help"],
    "validate pipelines/hello.yaml": ["validate", "pipelines/hello.yaml"],
    "validate pipelines/flights.yaml": ["validate", "pipelines/flights.yaml"],
    "plan pipelines/hello.yaml": ["plan", "pipelines/hello.yaml", *ON_PANDAS],
    "plan pipelines/flights.yaml": ["plan", "pipelines/flights.yaml", *ON_PANDAS],
    "run pipelines/hello.yaml": ["run", "pipelines/hello.yaml", *ON_PANDAS],
    "run pipelines/flights.yaml": ["run", "pipelines/flights.yaml", *ON_PANDAS],
}
PACKAGES = ("gpuetl", "numpy", "pyarrow", "pandas", "sqlglot", "rich")
"""Of these, modules are counted apart."""


def run_once(arguments: list[str]) -> tuple[float, float]:
    """Run the command once; return its wall time and the CPU seconds of the process.

    Raises
    ------
    RuntimeError
        Where the command fails.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [*GPUETL, *arguments], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"gpuetl {' '.join(arguments)} ended with {process.returncode}")
    return wall, used.ru_utime + used.ru_stime


def measure(arguments: list[str], runs: int) -> dict[str, Any]:
    """Return the least, median and greatest wall time of several runs, the median of CPU seconds, and the imports."""
    run_once(arguments)
    walls, cpus = zip(*(run_once(arguments) for _ in range(runs)), strict=True)
    return {
        "min_s": min(walls), "median_s": statistics.median(walls), "max_s": max(walls),
        "cpu_median_s": statistics.median(cpus), "cpu_min_s": min(cpus),
        "modules": imported(arguments),
    }  # fmt: skip


def imported(arguments: list[str]) -> dict[str, int]:
    """Return how many modules the command imports, by package and in all."""
    command = [sys.executable, "-X", "importtime", *GPUETL[1:], *arguments]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:") and "[us]" not in line)
    names = {line.rpartition("|")[2].strip() for line in lines}
    counts = Counter(name.partition(".")[0] for name in names)
    return {"all": len(names), **{package: counts[package] for package in PACKAGES}}


def source_size() -> dict[str, int]:
    """Return the rows and bytes of the demo's sources."""
    files = sorted((ROOT / "data" / "flights").glob("*.parquet"))
    return {"rows": sum(pq.read_metadata(f).num_rows for f in files), "bytes": sum(f.stat().st_size for f in files)}


def main() -> None:
    """Measure, store, render."""
    parser = ArgumentParser(description="Whole-process times of the command line.")
    parser.add_argument("--gpu", action="store_true", help="measure the cudf engine; so where it can run")
    parser.add_argument("--runs", type=int, help="how often each process runs")
    parser.add_argument("--results", type=Path, help="where to write the results")
    given = parser.parse_args()
    if given.gpu or look_for_gpu().gpu:
        measured = {"benchmark": "process_start", **described(()), **measure_on_gpu(given.runs or GPU_RUNS)}
        if given.results:
            given.results.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
        return
    result: dict[str, Any] = {
        "benchmark": "startup",
        **described(("gpuetl", "pyarrow", "pandas", "numpy", "sqlglot")),
        "runs": given.runs or RUNS,
        "input": source_size(),
        "commands": {name: measure(arguments, given.runs or RUNS) for name, arguments in COMMANDS.items()},
    }
    path = given.results or Path(__file__).parent / "results" / f"startup-{result['date']}.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{path}: " + ", ".join(f"{name} {times['median_s']:.2f} s" for name, times in result["commands"].items()))
    if not given.results:
        render()


if __name__ == "__main__":
    main()

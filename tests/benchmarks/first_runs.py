"""First runs of pipelines on a GPU, each in a process of its own, by what is in the kernel cache.

python tests/benchmarks/first_runs.py [--runs 3] [PIPELINE…]        prints a line for each case as it is measured

Every case but "empty" has the closed set.  Times are the least of all runs: of the whole process, and of its run alone.
NVRTC keeps programs by itself where there is a driver, so its cache is empty, too.
Programs are those that the run added to the cache: what the list of the plan named, and what the run asked for beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
GPUETL = (sys.executable, "-m", "gpuetl")
CASES = {
    "empty": "nothing is there, the closed set neither",
    "closed set": "a first run",
    "closed set, --skip compile_ahead": "a first run that compiles when it asks",
    "kernel build FILE": "a first run after a build of its file",
    "second run": "all is there",
}


def main() -> None:
    """Measure all cases of all pipelines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "pipelines", nargs="*", type=Path, default=[ROOT / "pipelines" / f"{n}.yaml" for n in ("hello", "flights")]
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        closed = Path(folder) / "closed"
        gpuetl("kernel", "build", "--to", str(closed))
        for pipeline in given.pipelines:
            for case in given.cases:
                measured = [measure(case, pipeline, closed, Path(folder) / "cache") for _ in range(given.runs)]
                process, run, added = (min(values) for values in zip(*measured, strict=True))
                print(
                    f"{pipeline.stem}: {case} ({CASES[case]}): process {process:.2f} s, run {run:.2f} s, {added} programs",
                    flush=True,
                )


def measure(case: str, pipeline: Path, closed: Path, cache: Path) -> tuple[float, float, int]:
    """Return the seconds of a process and of its run, and the programs that it has added to the cache."""
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    if case != "empty":
        shutil.copytree(closed, cache, dirs_exist_ok=True)
    if case == "kernel build FILE":
        gpuetl("kernel", "build", "--to", str(cache), str(pipeline))
    report = cache.with_suffix(".json")
    command = ["run", str(pipeline), "--engine", "cudf", "--report", str(report)]
    if case == "second run":
        gpuetl(*command, cache=cache)
    before, start = len(list(cache.glob("*.cubin"))), time.perf_counter()
    gpuetl(*command, *(["--skip", "compile_ahead"] if "--skip" in case else []), cache=cache)
    process, added = time.perf_counter() - start, len(list(cache.glob("*.cubin"))) - before
    return process, float(json.loads(report.read_text(encoding="utf-8"))["seconds"]["run"]), added


def gpuetl(*arguments: str, cache: Path | None = None) -> None:
    """Run the command line; raise where it fails."""
    environment = dict(os.environ)
    if cache is not None:
        environment |= {"GPUETL_KERNEL_CACHE": str(cache), "CUDA_CACHE_PATH": str(cache / "nvrtc")}
    subprocess.run([*GPUETL, *arguments], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

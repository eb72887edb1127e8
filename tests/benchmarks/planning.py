"""How long planning takes for plans that programs make: thousands of stages, keys, columns, files, sinks and mistakes.

    python tests/benchmarks/planning.py [--shapes chain files] [--sizes 2500 5000 10000] [--results FILE]

Every shape is planned at its size and at a half and a quarter of it, each in a process of its own.  Where planning is
linear, each doubling takes about twice as long.  Results go to results/planning-DATE.json; docs/performance.md is
rendered from them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from environment import described, today
from suites.large_plans import SHAPES, Shape

import gpuetl as ge
from gpuetl.engines.capacity import Capacity
from gpuetl.options import RunOptions
from gpuetl.plan.plan import Plan
from gpuetl.run.planning import explained, planned

HERE = Path(__file__).parent
MEMORY = 8 << 30
LIMIT_S = 600
Phases = dict[str, float]


def timed(phases: Phases, name: str, work: Callable[[], Any]) -> Any:
    """Do some work, and note its seconds."""
    start = time.perf_counter()
    result = work()
    phases[name] = time.perf_counter() - start
    return result


def measure(shape: Shape, size: int, folder: Path) -> Phases:
    """Return the seconds of each phase of planning one pipeline.

    `explain` is all of `gpuetl plan` after binding, `plan` that part of a run.  A pipeline with mistakes has only the
    phases up to the error.
    """
    phases: Phases = {}
    pipeline = shape.make(size, folder)
    if isinstance(pipeline, str):
        pipeline = timed(phases, "read", partial(ge.loads, pipeline, folder))
    elif callable(pipeline):
        pipeline = timed(phases, "declare", pipeline)
    with suppress(ge.GpuetlError):
        plan: Plan = timed(phases, "bind", pipeline.plan)
        plan = plan.with_results()
        options = RunOptions(memory=MEMORY)
        timed(phases, "plan", lambda: planned(plan, options, "pandas", Capacity(MEMORY)))
        timed(phases, "explain", lambda: explained(plan, options, "pandas"))
        timed(phases, "validate", pipeline.validate)
        return phases
    timed(phases, "message", lambda: message_of(pipeline))
    return phases


def message_of(pipeline: ge.Pipeline) -> str:
    """Return the text of what is wrong with a pipeline."""
    try:
        pipeline.plan()
    except ge.GpuetlError as error:
        return str(error)
    raise AssertionError("there is no mistake in it")


def in_a_process(shape: str, size: int) -> Phases:
    """Measure in a process of its own; raise where it fails or takes too long."""
    command = [sys.executable, __file__, "--one", shape, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S)
    phases: Phases = json.loads(done.stdout.splitlines()[-1])
    return phases


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES, metavar="SHAPE")
    parser.add_argument("--sizes", nargs="+", type=int, help="in the place of each shape's own")
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "SIZE"), help="measure once, and print the phases")
    parser.add_argument("--results", type=Path, default=HERE / "results" / f"planning-{today()}.json")
    given = parser.parse_args()
    if given.one:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            pq.write_table(pa.table({"x": pa.array([1, 2], pa.int64()), "y": pa.array(["a", "b"])}), root / "t.parquet")
            print(json.dumps(measure(SHAPES[given.one[0]], int(given.one[1]), root)))
        return
    measured = []
    for name in given.shapes:
        shape = SHAPES[name]
        sizes = given.sizes or [shape.size // 4, shape.size // 2, shape.size]
        runs = []
        for size in sizes:
            runs.append({"size": size, "phases": in_a_process(name, size)})
            phases = ", ".join(f"{phase} {s:.2f}" for phase, s in runs[-1]["phases"].items())
            print(f"{name} {size:,}: {phases}", flush=True)
        measured.append({"shape": name, "what": shape.what, "runs": runs})
    result = {"benchmark": "planning", **described(("gpuetl", "pyarrow", "sqlglot")), "shapes": measured}
    given.results.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Pipeline E in less memory than it would take: what partitions, spilling and carries cost.

    python tests/benchmarks/memory.py FOLDER --rows 100000000 --limits 8GB,4GB,2GB --engine cudf

Runs the whole pipeline over events in no order and in the order of time, in all the memory that there is and within each
limit; in the order of time also with stateful windows where little is carried.  The outputs of all runs over the same events must be equal.  Results are
written to results/memory-ENGINE-DATE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from environment import described, today
from suites import Job
from suites.answers import assert_same_answers
from suites.events.make import make
from suites.folders import make_whole
from suites.results import gpu, installed, printed, table_size

from gpuetl import OutOfMemory, RunOptions, load
from gpuetl.units import read_size

HERE = Path(__file__).parent
UNLIMITED = "all there is"
ORDERS = {"in no order": (None,), "in time order": (None, 0.25)}
"""And the share of a partition that windows may carry, of each: None is the planner's rule."""


def main() -> None:
    """Measure."""
    asked = arguments()
    found: dict[str, Any] = {"benchmark": "memory", **described(installed()), "engine": asked.engine, "runs": []}
    found["hardware"] |= gpu()
    for order, ways in ORDERS.items():
        data = asked.folder / "data" / f"events-{asked.rows}{order.replace(' ', '-')}"
        make_whole(data, lambda begun, order=order: make(begun, asked.rows, in_order="time" in order))  # type: ignore[misc]
        for share in ways:
            for limit in [UNLIMITED, *asked.limits]:
                found["runs"].append(run(asked, data, order, share, limit))
                asked.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        found["events"] = table_size(data / "events")
        shutil.rmtree(asked.folder / "first")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--rows", type=int, default=100_000_000, help="events")
    parser.add_argument("--limits", type=lambda text: text.split(","), default=["8GB", "4GB", "2GB"])
    parser.add_argument("--engine", default="cudf")
    parser.add_argument("--results", type=Path, help="by default in results/")
    asked = parser.parse_args()
    asked.results = asked.results or HERE / "results" / f"memory-{asked.engine}-{today()}.json"
    return asked


def run(asked: argparse.Namespace, data: Path, order: str, share: float | None, limit: str) -> dict[str, Any]:
    """Run the pipeline twice; compare its outputs with the first ones over these events, and return what it took."""
    out = asked.folder / "out"
    os.environ["DATA"], os.environ["OUT"] = str(data), str(out)
    memory = None if limit == UNLIMITED else read_size(limit)
    record: dict[str, Any] = {"order": order, "carried_share": share, "memory": limit}
    seconds = []
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        began = time.perf_counter()
        try:
            pipeline = load(Job("events", "pipeline").file(".yaml"))
            report = pipeline.run(engine=asked.engine, options=RunOptions(memory=memory, carried_share=share)).report
        except OutOfMemory as error:
            return printed({**record, "error": str(error)})
        seconds.append(time.perf_counter() - began)
    first = asked.folder / "first"
    if first.exists():
        assert_same_answers(out, first)
    else:
        out.rename(first)
    files = next(sink.files for sink in report.sinks if sink.name == "features_out")
    record |= {"first_s": seconds[0], "best_s": min(seconds), "files": files, "spilled": dict(report.spilled)}
    return printed({**record, "expected_bytes": report.expected_memory, "notes": list(report.notes)})


if __name__ == "__main__":
    main()

"""What expectations cost: pipeline E with five row checks beside pipeline E, in one process, in turns.

    python tests/benchmarks/expectations.py FOLDER                         100 million events on the engine cudf
    python tests/benchmarks/expectations.py FOLDER --engine pandas --rows 1000000

Makes the data in FOLDER unless it is there, reads it once (the page cache is warm), runs each pipeline once, then both
in turns, each first as often as the other, and prints the medians, their ratio, and what was found of each rule.  The
result goes to results/expectations-DATE.json, or where --results says; docs/performance.md is rendered from it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from environment import described, today
from suites.events.make import make
from suites.folders import make_whole
from suites.results import gpu, installed

from gpuetl import Pipeline, loads
from gpuetl.report.run_report import RunReport

SUITE = Path(__file__).parent / "suites" / "events"
EXPECT = """\
    expect:
      - not_null: [user_id, ts, km]
      - in: {region: [africa, america, antarctica, asia, europe, oceania]}
      - range: {km: [0, 20100]}
      - matches: {category: 'category_[0-9]{2}'}
      - that: n >= 1 AND spent >= 0
"""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).absolute(), help="where data and outputs go")
    parser.add_argument("--rows", type=int, default=100_000_000, help="events")
    parser.add_argument("--runs", type=int, default=15, help="of each pipeline, after the first one")
    parser.add_argument("--engine", default="cudf")
    default = Path(__file__).parent / "results" / f"expectations-{today()}.json"
    parser.add_argument("--results", type=Path, default=default, help="the file for the result")
    given = parser.parse_args()
    data = given.folder / "data" / f"events-{given.rows}"
    make_whole(data, lambda begun: make(begun, given.rows))
    for path in data.rglob("*.parquet"):
        path.read_bytes()
    os.environ.update(DATA=str(data), OUT=str(given.folder / "out"))
    result = described(installed())
    result["hardware"] |= gpu()
    size = sum(path.stat().st_size for path in data.rglob("*.parquet"))
    result |= {"engine": given.engine, "input": {"rows": given.rows, "bytes": size}}
    result |= measured(given.engine, given.runs)
    given.results.write_text(json.dumps({"benchmark": "expectations", **result}, indent=1) + "\n", encoding="utf-8")


def pipelines() -> dict[str, Pipeline]:
    """Return pipeline E as it is, and with expectations of its stage of features."""
    text = (SUITE / "pipeline.yaml").read_text(encoding="utf-8")
    checked = text.replace("  totals:\n", f"{EXPECT}  totals:\n", 1)
    return {"pipeline E": loads(text, SUITE), "with five row checks": loads(checked, SUITE)}


def measured(engine: str, runs: int) -> dict[str, Any]:
    """Run both pipelines in turns, and print what that took; return the median and the best time, and the rules."""
    both = pipelines()
    seconds: dict[str, list[float]] = {name: [] for name in both}
    reports: dict[str, RunReport] = {}
    for turn in range(runs + 1):
        for name in list(both)[:: 1 if turn % 2 else -1]:
            began = time.perf_counter()
            reports[name] = both[name].run(engine=engine, keep=()).report
            seconds[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    for name, times in seconds.items():
        print(f"{name:22} median {medians[name] * 1e3:9.1f} ms, best {min(times[1:]) * 1e3:9.1f} ms of {runs} runs")
    plain, checked = medians.values()
    print(f"ratio of the medians {checked / plain:.4f}: {(checked - plain) * 1e3:+.1f} ms")
    report = reports["with five row checks"]
    for check in report.checks:
        print(f"    {check.rule}: {check.broken:,} of {check.rows:,} rows, {check.verdict}")
    for stage in report.stages:
        print(f"    {stage.kind} {stage.name}: {stage.seconds * 1e3:.1f} ms")
    rules = [{"rule": check.rule, "rows": check.rows, "broken": check.broken} for check in report.checks]
    best = {name: min(times[1:]) for name, times in seconds.items()}
    return {"runs": runs, "medians_s": medians, "best_s": best, "ratio": checked / plain, "rules": rules}


if __name__ == "__main__":
    main()

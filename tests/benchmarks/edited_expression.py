"""An expression that is edited in a process that has run the pipeline: the first run after the edit beside the second one.

    python tests/benchmarks/edited_expression.py [--engine cudf] [--edits 5] [--results FILE]

The pipeline is flights.yaml.  An edit changes the code of one expression, so that its kernel is in no cache: a filter,
arithmetic, a CASE, strings, a window function.  Prints, for each, the milliseconds of the run
after the edit, of the second run and of what lies between them, as medians of the edits.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from environment import described
from suites.results import gpu, installed

import gpuetl

FLIGHTS = Path(__file__).parents[2] / "pipelines" / "flights.yaml"
EDITS = {
    "filter": ("seats >= $min_seats", "seats >= $min_seats AND seats <> {n}"),
    "arithmetic": ("kmh:      km / (air_time / 60.0)", "kmh:      km / (air_time / 60.0) + 0.{n}"),
    "case": ("hour < 12 THEN 'morning'", "hour < 12 AND hour <> {n} THEN 'morning'"),
    "strings": ("origin || '-' || dest", "origin || '-{n}-' || dest"),
    "window": ("rolling_mean(dep_delay, 10)", "rolling_mean(dep_delay, {n})"),
}
"""What is replaced in the file, by what; {n} is another number in each edit."""
FIRST_NUMBER = 30


def main() -> None:
    """Measure each kind of edit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="cudf")
    parser.add_argument("--edits", type=int, default=5)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    text = FLIGHTS.read_text(encoding="utf-8")
    run_ms(text, given.engine)
    found: dict[str, Any] = {"benchmark": "edited-expression", **described(installed()), "edits": given.edits, "ms": {}}
    if given.engine == "cudf":
        found["hardware"] |= gpu()
    for kind, (old, new) in EDITS.items():
        assert text.count(old) == 1, f"{old!r} must stand once in {FLIGHTS.name}"
        pairs = []
        for edit in range(given.edits):
            edited = text.replace(old, new.format(n=FIRST_NUMBER + edit))
            pairs.append((run_ms(edited, given.engine), run_ms(edited, given.engine)))
        first, second = (statistics.median(times) for times in zip(*pairs, strict=True))
        more = statistics.median(one - other for one, other in pairs)
        print(f"{kind:12} first {first:7.0f} ms, second {second:7.0f} ms, {more:+5.0f} ms", flush=True)
        found["ms"][kind] = {"first": first, "second": second, "more": more}
    if given.results:
        given.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def run_ms(text: str, engine: str) -> float:
    """Return the milliseconds from the text to the end of its run, which writes no sink."""
    start = time.perf_counter()
    gpuetl.loads(text, FLIGHTS.parent).run(engine=engine, write=False)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()

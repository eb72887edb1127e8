"""Renders what upserts cost, of each engine that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from render_text import conditions, remarks, table

PHASES = {"run": "new rows", "find keys": "find keys", "merge": "merge", "commit": "commit"}
SHARES = {0.001: "0.1 %", 0.01: "1 %", 0.1: "10 %", 1.0: "100 %"}


def upsert_section(results: Sequence[dict[str, Any]]) -> list[str]:
    """Render one table for each engine; nothing where none was measured."""
    if not results:
        return []
    lines = [
        "### Upserts", "",
        "`tests/benchmarks/upsert.py`: seconds of one warm run. The target has 100 partitions by day, and ids that grow with the",
        "days. `find keys` reads the keys of the target that lie between the least and the greatest new key. `merge` reads and",
        "writes the partitions that change. With the day in `on`, no key of other partitions is read.", "",
    ]  # fmt: skip
    for result in results:
        target = f"{result['rows'] / 1e6:,.0f} M rows, {result['target_bytes'] / 1e6:,.0f} MB"
        lines += [f"Engine {result['engine']}, target of {target}. {conditions(result)}.", "", *remarks(result)]
        heads = ("mode", "rows that change", "partitions", "MB written", *PHASES.values(), "all, s")
        lines += table(heads, map(upsert_row, result["cases"]))
    return lines


def upsert_row(case: dict[str, Any]) -> str:
    """Return the line of a case."""
    phases = (f"{case['phases'][name]:.2f}" if name in case["phases"] else "" for name in PHASES)
    rows = f"{SHARES[case['share']]}, {case['where']}"
    partitions = f"{case['partitions'][0]} of {case['partitions'][1]}" if case["partitions"] else ""
    written = f"{case['written_bytes'] / 1e6:,.1f}"
    return f"| {case['mode']} | {rows} | {partitions} | {written} | {' | '.join(phases)} | {case['seconds']:.2f} |"

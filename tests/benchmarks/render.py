"""Renders results/*.json into docs/performance.md, docs/kernel-examples.md and docs/lab/gpu-parts.md, the newest of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from render_first_runs import edits_section, first_runs_section, flights_section, process_start_section, suites_of
from render_gpu import (
    asof_section,
    cluster_section,
    codecs_section,
    criteo_section,
    csv_readers_section,
    gpu_section,
    kernel_section,
    large_section,
    operations_section,
    row_patterns_section,
    windows_section,
)
from render_host import (
    checkpoints_section,
    expectations_section,
    peers_section,
    planning_section,
    startup_section,
    stores_section,
    sync_section,
)
from render_kernels import kernels_page
from render_lab import lab_page
from render_memory import csv_section, limits_section, memory_section
from render_scaling import scaling_section
from render_summary import summary
from render_text import measured, newest, table
from render_upsert import upsert_section
from render_window_state import window_state_section

HERE = Path(__file__).parent
CODECS = ("zstd", "snappy", "none")
"""Of the pipeline's files: a result for each."""
PAGE = HERE.parents[1] / "docs" / "performance.md"
BENCHMARKS = (
    "gpu", "first-runs", "edited-expression", "process-start", "large", "operations", "kernels", "memory-cudf",
    "memory-pandas", "memory-limits-cudf", "memory-limits-pandas", "memory-csv-pandas", "scaling", "cluster", "peers", "startup", "planning",
    "expectations", "sync", "object-stores", "csv", *(f"pipeline-{codec}" for codec in CODECS),
)  # fmt: skip
"""Those of the page, in its order."""

HEAD = """# Performance

Measurements and how they were made. `tests/benchmarks/render.py` makes this page from `tests/benchmarks/results`. A ratio
within one table counts. An absolute time belongs to its machine. [Method](#method) has machines, versions and rules.
[Notes on benchmarks](lab/benchmark-notes.md) says what limits the numbers and what was tried.
"""
METHOD = """## Method

- Answers come first. A time counts only if the rows are equal to the others' rows.
- All libraries of a table ran in the same session on the same machine. Each ran in a process of its own.
- The page cache holds the files. `best` is the best warm run. `first` is the first run of a job in a process.
- *Pipeline E* is a whole pipeline from files to files. It filters, joins, runs a user's CUDA kernel and computes seven window
  features of each event. It writes all of them, and totals.
- `make bench` measures the CPU tables again. Each section names the script for the others.

Versions:
"""


def versions_table(results: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield a line for each set of versions, with the benchmarks that had it."""
    found: dict[str, list[str]] = {}
    for name, result in results:
        hardware = ", ".join(
            f"{value} {key}" if key == "cores" else str(value) for key, value in result["hardware"].items()
        )
        versions = ", ".join(f"{package} {number}" for package, number in result["versions"].items())
        found.setdefault(f"{hardware} | {versions}", []).append(f"{name} ({result['date']})")
    for key, names in found.items():
        yield f"| {', '.join(names)} | {key} |"


def page() -> str:
    """Return the page."""
    results = {name: newest(name) for name in BENCHMARKS}
    checkpoints = [one for engine in ("pandas", "cudf") for one in measured(f"checkpoints-{engine}")]
    upserts = [one for engine in ("cudf", "pandas") for one in measured(f"upsert-{engine}")]
    gpu, first_runs = results["gpu"], results["first-runs"]
    asof = [one for rows in ("100m", "10m") for one in measured(f"asof-{rows}")]
    criteo = [*measured("criteo-10m")]
    windows = [*measured("windows")]
    row_patterns = [*measured("row_patterns")]
    states = [one for engine in ("pandas", "cudf") for one in measured(f"window-state-{engine}")]
    named = [
        (one["benchmark"], one) for one in (*checkpoints, *states, *upserts, *asof, *criteo, *windows, *row_patterns)
    ]
    again = suites_of(first_runs) if first_runs["date"] > gpu["date"] else []
    lines = [
        *summary(results),
        "## One GPU", "",
        *gpu_section(gpu, again),
        *codecs_section({codec: results[f"pipeline-{codec}"] for codec in CODECS}),
        *asof_section(asof),
        *criteo_section(criteo),
        *csv_readers_section(results["csv"]),
        *first_runs_section(first_runs, gpu["jobs"]),
        *flights_section(first_runs),
        *edits_section(results["edited-expression"]),
        *process_start_section(results["process-start"]),
        *large_section(results["large"]),
        *operations_section(results["operations"]),
        *windows_section(windows),
        *row_patterns_section(row_patterns),
        *kernel_section(results["kernels"]),
        "## Memory", "",
        *memory_section(results["memory-cudf"]),
        *memory_section(results["memory-pandas"]),
        *limits_section(results["memory-limits-cudf"]),
        *limits_section(results["memory-limits-pandas"]),
        *csv_section(results["memory-csv-pandas"]),
        "## Several GPUs", "",
        *scaling_section(results["scaling"]),
        *cluster_section(results["cluster"]),
        *peers_section(results["peers"]),
        *stores_section(results["object-stores"]),
        *startup_section(results["startup"]),
        *planning_section(results["planning"]),
        "## Expectations and commits", "",
        *expectations_section(results["expectations"]),
        *sync_section(results["sync"]),
        *upsert_section(upserts),
        *checkpoints_section(checkpoints),
        *window_state_section(states),
        METHOD,
        *table(("benchmark", "machine", "versions"), versions_table([*results.items(), *named])),
    ]  # fmt: skip
    return "\n".join([HEAD, *lines])


def render() -> None:
    """Write the pages."""
    lab = PAGE.parent / "lab" / "gpu-parts.md"
    lab.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    (PAGE.parent / "kernel-examples.md").write_text(kernels_page(measured("kernel-examples")), encoding="utf-8")
    lab.write_text(lab_page(newest("parts"), newest("aggregates"), newest("engines")), encoding="utf-8")


if __name__ == "__main__":
    render()

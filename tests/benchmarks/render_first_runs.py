"""Renders first runs beside cudf-polars, and what the start of a process on a GPU takes."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from math import exp, log
from typing import Any


def first_runs_section(result: dict[str, Any], where: str) -> str:
    """Render first and best runs of jobs."""
    jobs = result["jobs"]
    suites = dict.fromkeys(name.partition("/")[0] for name in jobs)
    rows = [row(name, job["gpuetl"], job["cudf-polars"]) for name, job in jobs.items()]
    for suite in suites:
        own = [job for name, job in jobs.items() if name.startswith(f"{suite}/")]
        both = [
            {time: mean(job[peer][time] for job in own) for time in ("first_s", "best_s")}
            for peer in ("gpuetl", "cudf-polars")
        ]
        rows.append(row(f"**{suite}, geometric mean**", *both))
    return "\n".join([
        "## First runs beside cudf-polars", "",
        "Milliseconds from Parquet files in a warm page cache to rows on the host: the first run of a job, in which programs of its",
        "own are compiled, and the best of three after it.  The ratio is how many times as long cudf-polars takes, best runs of both.",
        f"{where}", "",
        "| | gpuetl, first | cudf-polars, first | gpuetl, best | cudf-polars, best | ratio |", "|---|---|---|---|---|---|", *rows, "",
        *result["remarks"], "",
    ])  # fmt: skip


def row(name: str, ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Return a line of the table."""
    times = [ours["first_s"], theirs["first_s"], ours["best_s"], theirs["best_s"]]
    return f"| {name} | {' | '.join(f'{1e3 * time:.0f}' for time in times)} | {theirs['best_s'] / ours['best_s']:.2f} |"


def mean(values: Iterable[float]) -> float:
    """Return the geometric mean."""
    return exp(statistics.fmean(map(log, values)))


def process_start_section(result: dict[str, Any], where: str) -> str:
    """Render whole processes beside the least that a process on a GPU does."""
    times = result["times_s"]
    floor = statistics.median(times["floor"])
    rows = [
        f"| {name} | {statistics.median(own):.2f} | {min(own):.2f} | {statistics.median(own) / floor:.2f} |"
        for name, own in times.items()
    ]
    runs = len(times["floor"])
    return "\n".join([
        "## The start of a process on a GPU", "",
        f"`tests/benchmarks/startup.py --gpu`: seconds of whole processes, {runs} runs each in turns, caches warm.  `gpuetl` is",
        "`gpuetl run pipelines/hello.yaml --engine cudf`.  The floor imports pylibcudf and CuPy, opens the CUDA context and reads the",
        f"same file.  {where}", "",
        "| process | median, s | least, s | of the floor's median |", "|---|---|---|---|", *rows, "",
    ])  # fmt: skip

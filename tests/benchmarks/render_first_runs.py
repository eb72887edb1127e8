"""Renders first runs beside cudf-polars, runs after an edit, aggregates, and the start of a process on a GPU."""

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
        "Milliseconds from Parquet files in a warm page cache to rows on the host: the first run of a job, for which nothing of its",
        "own is compiled before, and the best of three after it.  The ratio is how many times as long cudf-polars takes, best runs of both.",
        f"{where}", "",
        "| | gpuetl, first | cudf-polars, first | gpuetl, best | cudf-polars, best | ratio |", "|---|---|---|---|---|---|", *rows, "",
        *result["remarks"], "",
        "`pipelines/flights.yaml` on 4 cores, a process each, `tests/benchmarks/first_runs.py`:", "",
        "| in the cache | process, s | programs compiled |", "|---|---|---|",
        *(f"| {case} | {each['process_s']:.2f} | {each['programs']} |" for case, each in result["flights_4_cores"].items()), "",
    ])  # fmt: skip


def edits_section(result: dict[str, Any], where: str) -> str:
    """Render runs after an edit beside the second runs."""
    rows = [
        f"| {kind} | {each['first']:.0f} | {each['second']:.0f} | {each['more']:.0f} |"
        for kind, each in result["ms"].items()
    ]
    return "\n".join([
        "## An edited expression in a warm process", "",
        "`tests/benchmarks/edited_expression.py`: milliseconds from the text of `pipelines/flights.yaml` to its rows, without sinks.",
        f"Medians of {result['edits']} edits of one expression.  Most of the difference is planning.  Edits of constants in\nstrings and windows compile nothing; another function there still does, for 0.1 to 0.5 s.  {where}", "",
        "| edited | first run after it | second run | more |", "|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def aggregates_section(result: dict[str, Any], where: str) -> str:
    """Render aggregates by precompiled kernels beside those that were generated for each plan before."""
    rows = [
        f"| {case} | {each['generated']:.2f} | {each['precompiled']:.2f} | {each['generated'] / each['precompiled']:.2f} |"
        for case, each in result["ms"].items()
    ]
    e = result["pipeline_e_s"]
    best = [1e3 * e[way]["best_s"] for way in ("generated", "precompiled")]
    return "\n".join([
        "## Aggregates", "",
        f"`tests/benchmarks/aggregates.py`: {result['rows'] / 1e6:,.0f} million rows in device memory, milliseconds, best of",
        f"{result['runs']} runs.  *Generated* is the version before: a kernel for each plan.  Both in one call.  Pipeline E of the",
        f"events took {best[0]:.0f} ms before and {best[1]:.0f} ms after.  {where}", "",
        "| aggregate | generated | precompiled | ratio |", "|---|---|---|---|", *rows, "",
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

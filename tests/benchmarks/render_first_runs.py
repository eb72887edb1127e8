"""Renders first runs beside cudf-polars, runs after an edit, and the start of a process on a GPU."""

from __future__ import annotations

import statistics
from typing import Any

from render_text import conditions, mean, remarks, table

PEERS = ("gpuetl", "cudf-polars")
COMPILED = {
    "closed set": "the closed set",
    "second run": "all, by an earlier run",
    "kernel build FILE": "all, by `gpuetl kernel build`",
}
"""What is compiled before a process of the flights demo."""


def means_of(result: dict[str, Any], suite: str) -> list[dict[str, float]]:
    """Return the geometric means of a suite's first and best runs, of gpuetl and of cudf-polars."""
    own = [job for name, job in result["jobs"].items() if name.startswith(f"{suite}/")]
    return [{time: mean(job[peer][time] for job in own) for time in ("first_s", "best_s")} for peer in PEERS]


def suites_of(result: dict[str, Any]) -> list[str]:
    """Return the suites of a result, each once."""
    return list(dict.fromkeys(name.partition("/")[0] for name in result["jobs"]))


def first_runs_section(result: dict[str, Any], jobs: dict[str, Any]) -> list[str]:
    """Render first and best runs of jobs; `jobs` says what each is."""
    rows = []
    for suite in suites_of(result):
        own = {name: job for name, job in result["jobs"].items() if name.startswith(f"{suite}/")}
        whats = {name: jobs.get(name, {}).get("what", "").rstrip(".") for name in own}
        rows += [row(f"{name} | {whats[name]}", job["gpuetl"], job["cudf-polars"]) for name, job in own.items()]
        rows.append(row(f"**{suite}** | **geometric mean**", *means_of(result, suite)))
    heads = ("job", "what", "gpuetl, first", "cudf-polars, first", "gpuetl, best", "cudf-polars, best", "× gpuetl")
    return [
        "### Group-by and PDS-H, first and best runs", "",
        "Milliseconds from Parquet files in a warm page cache to rows on the host. *First* is the first run of a job, with nothing of",
        "its own compiled before. *Best* is the best of three runs after it. × is cudf-polars' best time over gpuetl's. PDS-H is",
        f"derived from TPC-H and not comparable with its published results. {conditions(result)}.", "",
        *table(heads, rows),
        *remarks(result),
    ]  # fmt: skip


def flights_section(result: dict[str, Any]) -> list[str]:
    """Render whole processes of the flights demo by what was compiled before."""
    rows = (
        f"| {COMPILED[case]} | {each['process_s']:.2f} | {each['programs']} |"
        for case, each in result["flights_4_cores"].items()
    )
    return [
        "### The flights demo by what is compiled", "",
        "`tests/benchmarks/first_runs.py`: `pipelines/flights.yaml` on one GPU and 4 cores, a process each, medians of three",
        f"rounds. {conditions(result)}.", "",
        *table(("compiled before", "process, s", "programs that the run compiles"), rows),
    ]  # fmt: skip


def edits_section(result: dict[str, Any]) -> list[str]:
    """Render runs after an edit beside the second runs."""
    rows = [
        f"| {kind} | {each['first']:.0f} | {each['second']:.0f} | {each['more']:.0f} |"
        for kind, each in result["ms"].items()
    ]
    return [
        "### An edited expression in a warm process", "",
        "`tests/benchmarks/edited_expression.py`: milliseconds from the text of `pipelines/flights.yaml` to its rows, without sinks.",
        f"Medians of {result['edits']} edits of one expression. Most of the difference is planning. An edited constant compiles nothing. Another",
        f"function in a string or window still does, for 0.1 to 0.5 s. {conditions(result)}.", "",
        *table(("edited", "first run after it", "second run", "difference"), rows),
    ]  # fmt: skip


def row(name: str, ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Return a line of the table."""
    times = [ours["first_s"], theirs["first_s"], ours["best_s"], theirs["best_s"]]
    return f"| {name} | {' | '.join(f'{1e3 * time:.0f}' for time in times)} | {theirs['best_s'] / ours['best_s']:.2f} |"


def process_start_section(result: dict[str, Any]) -> list[str]:
    """Render whole processes beside the least that a process on a GPU does."""
    times = result["times_s"]
    floor = statistics.median(times["floor"])
    rows = [
        f"| {name} | {statistics.median(own):.2f} | {min(own):.2f} | {statistics.median(own) / floor:.2f} |"
        for name, own in times.items()
    ]
    return [
        "### The start of a process on a GPU", "",
        f"`tests/benchmarks/startup.py --gpu`: seconds of whole processes, {len(times['floor'])} runs each in turns, caches warm. `gpuetl` is",
        "`gpuetl run pipelines/hello.yaml --engine cudf`. The floor imports pylibcudf and CuPy, opens the CUDA context and reads",
        f"the same file. {conditions(result)}.", "",
        *table(("process", "median, s", "least, s", "× the floor's median"), rows),
    ]  # fmt: skip

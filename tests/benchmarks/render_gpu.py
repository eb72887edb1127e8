"""Renders the comparison on a GPU: the means of ratios, then a table of each suite with bars."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from typing import Any

WIDTH = 24
SUITES = {
    "events": "Events of users",
    "groupby": "Group-by questions of the database-like ops benchmark",
    "join": "Join questions of the database-like ops benchmark",
    "pdsh": "PDS-H, derived from TPC-H and not comparable with its published results",
}


def gpu_section(result: dict[str, Any], where: str) -> str:
    """Render the result of gpu.py."""
    suites = {suite: of_suite(result, suite) for suite in SUITES}
    return "\n".join([
        "## One GPU beside cuDF, cudf-polars, Polars and DuckDB", "",
        "`tests/benchmarks/gpu.py`: milliseconds from Parquet files in a warm page cache to rows on the host or to written files;",
        "each peer in a process of its own, tuned (RMM pools, 16 KvikIO threads, all cores), its first run apart from the best of",
        f"those after it.  A time stands only where the answer is equal.  {where}", "",
        "How many times as long as gpuetl a peer takes, the geometric mean over the jobs that both did more than once; some had",
        "time for a first run alone, in which kernels are compiled:", "",
        *means({suite: jobs for suite, jobs in suites.items() if jobs}), "",
        *(line for suite, jobs in suites.items() if jobs for line in table(suite, jobs)),
        *result.get("remarks", []), "",
    ])  # fmt: skip


def large_section(result: dict[str, Any], where: str) -> str:
    """Render the events where they are a billion."""
    lines = [
        "## A billion events on one GPU",
        "",
        f"The same jobs; what is decoded takes 51 GB of the card.  {where}",
        "",
    ]
    return "\n".join([*lines, *table("events", of_suite(result, "events")), *result.get("remarks", []), ""])


def cluster_section(result: dict[str, Any], where: str) -> str:
    """Render the events on all GPUs of a machine, beside one."""
    lines = [
        "## Several GPUs of one machine",
        "",
        "The same jobs: `gpuetl` on one GPU, the others on all, each on a dask cluster that was started before, gpuetl's and",
        f"dask-cuDF's over UCX, dask-cuDF shuffling by tasks, cudf-polars by its `DaskEngine`.  {where}",
        "",
    ]
    return "\n".join([*lines, *table("events", of_suite(result, "events")), *result.get("remarks", []), ""])


def of_suite(result: dict[str, Any], suite: str) -> dict[str, Any]:
    """Return the jobs of a suite by their names, in order."""
    found = {name.partition("/")[2]: job for name, job in result["jobs"].items() if name.startswith(f"{suite}/")}
    return {name: found[name] for name in sorted(found, key=lambda name: (len(name), name))}


def means(suites: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield a table of the mean ratio of each peer in each suite, with the number of jobs."""
    peers = list(dict.fromkeys(p for jobs in suites.values() for job in jobs.values() for p in job["peers"]))
    peers = [peer for peer in peers if peer != "gpuetl"]
    yield f"| | {' | '.join(peers)} |"
    yield "|---|" + "---|" * len(peers)
    for suite, jobs in suites.items():
        warm = {p: [r for job in jobs.values() if is_warm(job, p) and (r := ratio(job, p))] for p in peers}
        yield f"| {suite} | {' | '.join(map(mean, warm.values()))} |"


def is_warm(job: dict[str, Any], peer: str) -> bool:
    """Tell whether a peer and gpuetl both have more than a first run, in which kernels are compiled."""
    return all(len(job["peers"].get(name, {}).get("seconds", ())) > 1 for name in (peer, "gpuetl"))


def mean(ratios: list[float]) -> str:
    """Return the geometric mean of ratios, and of how many it is."""
    return f"{exp(sum(map(log, ratios)) / len(ratios)):.1f} ({len(ratios)})" if ratios else "–"


def ratio(job: dict[str, Any], peer: str) -> float | None:
    """Return a peer's best time over gpuetl's, where both have one."""
    best = [job["peers"].get(name, {}).get("best_s") for name in (peer, "gpuetl")]
    return best[0] / best[1] if all(best) else None


def table(suite: str, jobs: dict[str, Any]) -> Iterator[str]:
    """Yield a suite's table."""
    largest = next(iter(jobs.values()))["tables"]
    rows, size = (sum(table[key] for table in largest.values()) for key in ("rows", "bytes"))
    yield from (f"### {SUITES[suite]}", "", f"{rows:,} rows in {size / 1e9:.2f} GB of Parquet, snappy.", "")
    yield from ("| job | by | first, ms | best, ms | × gpuetl | |", "|---|---|---|---|---|---|")
    for name, job in jobs.items():
        slowest = max((told.get("best_s", 0) for told in job["peers"].values()), default=0)
        for place, (peer, told) in enumerate(job["peers"].items()):
            yield f"| {name if place == 0 else ''} | {peer} | {times(told, ratio(job, peer), slowest)} |"
    yield ""
    yield from (f"- {name}: {job['what']}" for name, job in jobs.items())
    yield ""


def times(told: dict[str, Any], factor: float | None, slowest: float) -> str:
    """Return the columns after a peer's name: its times and a bar, or why there are none."""
    if "best_s" not in told:
        reason = told.get("left_out") or told["error"].splitlines()[0]
        return f"| | | {reason[:120].replace('|', '/')}"
    bar = "█" * max(1, round(WIDTH * told["best_s"] / slowest))
    best = told["best_s"] * 1e3
    return f"{told['first_s'] * 1e3:,.0f} | {best:,.{1 if best < 100 else 0}f} | {f'{factor:.1f}' if factor else '–'} | {bar}"

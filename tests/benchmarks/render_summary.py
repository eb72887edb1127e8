"""Renders the summary of docs/performance.md: what users ask first, each answer with its conditions."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from render_first_runs import COMPILED, means_of, suites_of
from render_gpu import SUITES, mean_ratio, of_suite, ratio
from render_scaling import pipeline_runs, weak_scaling
from render_text import conditions, mean, measured, table

Results = Mapping[str, dict[str, Any]]
PEERS = ("cudf", "cudf-polars", "polars", "duckdb", "pandas")
LABELS = {"cudf": "cuDF", "cudf-polars": "cudf-polars", "polars": "Polars", "duckdb": "DuckDB", "pandas": "pandas"}
NAMES = {"pdsh": "PDS-H, scale 10", "groupby": "group-by questions, 100 M rows", "join": "join questions, 100 M rows"}


def summary(results: Results) -> list[str]:
    """Return the summary: speed beside other libraries, then all else."""
    speed, others = list(speed_rows(results)), list(other_rows(results))
    return [
        "## Summary", "",
        "How many times as long as gpuetl another library takes, in warm runs: above 1, gpuetl is faster. The number of jobs",
        "is in parentheses; the ratio is then the geometric mean.", "",
        *table(("work", "gpuetl", *(LABELS[peer] for peer in PEERS), "measured"), speed),
        *results["gpu"].get("summary_notes", []), "",
        *table(("question", "answer", "measured"), others),
    ]  # fmt: skip


def speed_row(work: str, time: str, ratios: Mapping[str, str], result: dict[str, Any]) -> str:
    """Return a line of the first table."""
    return f"| {work} | {time} | {' | '.join(ratios.get(peer, '–') for peer in PEERS)} | {conditions(result)} |"


def speed_rows(results: Results) -> Iterator[str]:
    """Yield work, gpuetl's time and the ratios of others."""
    gpu, first_runs = results["gpu"], results["first-runs"]
    events = of_suite(gpu, "events")
    pipeline = events.pop("pipeline")
    compressed = results["pipeline-zstd"]
    zstd = "[pipeline E](#the-pipeline-by-codec), 100 M events, files to files, all of them in zstd"
    yield pipeline_row(zstd, of_suite(compressed, "events")["pipeline"], compressed)
    plain = "[pipeline E](#queries-and-a-pipeline), gpuetl's files without a codec, the others' in snappy"
    yield pipeline_row(plain, pipeline, gpu)
    yield suite_row("queries of 100 M events", events, gpu)
    for suite in suites_of(first_runs):
        ours, theirs = means_of(first_runs, suite)
        count = sum(name.startswith(f"{suite}/") for name in first_runs["jobs"])
        faster = f"{theirs['best_s'] / ours['best_s']:.1f} ({count})"
        name = f"[{NAMES[suite]}](#group-by-and-pds-h-first-and-best-runs)"
        yield speed_row(name, f"{1e3 * ours['best_s']:.0f} ms", {"cudf-polars": faster}, first_runs)
    for suite in SUITES:
        if suite in NAMES and suite not in suites_of(first_runs) and (jobs := of_suite(gpu, suite)):
            yield suite_row(NAMES[suite], jobs, gpu)
    yield from large_job_rows()
    for name, found in results["peers"]["pipelines"].items():
        contestants = {peer: f"{1 / t['gpuetl_takes']:.1f}" for peer, t in found["contestants"].items()}
        ours = found["contestants"]["gpuetl"]["median_s"]
        work = f"[{name}, no GPU](#without-a-gpu), {found['input']['rows'] / 1e6:.1f} M rows"
        yield speed_row(work, f"{ours:.2f} s", contestants, results["peers"])


def large_job_rows() -> Iterator[str]:
    """Yield the first question of suites that have a result of their own."""
    asof = "[as-of join](#as-of-joins) of 100 M trades with 10 M quotes, 1 M keys; the others ran once"
    criteo = "[features of a table shaped as Criteo's](#features-of-clicks), 10 M rows"
    for name, suite, work, digits in (("asof-100m", "asof", asof, 0), ("criteo-10m", "criteo", criteo, 1)):
        for result in measured(name):
            q1 = of_suite(result, suite)["q1"]
            ratios = {peer: f"{found:.{digits}f}" for peer in PEERS if (found := ratio(q1, peer))}
            yield speed_row(work, f"{1e3 * q1['peers']['gpuetl']['best_s']:.0f} ms", ratios, result)


def pipeline_row(work: str, pipeline: dict[str, Any], result: dict[str, Any]) -> str:
    """Return the line of the pipeline."""
    ratios = {peer: f"{found:.1f}" for peer in PEERS if (found := ratio(pipeline, peer))}
    return speed_row(work, f"{pipeline['peers']['gpuetl']['best_s']:.2f} s", ratios, result)


def suite_row(work: str, jobs: dict[str, Any], result: dict[str, Any]) -> str:
    """Return the line of several jobs."""
    found = {peer: mean_ratio(jobs, peer) for peer in PEERS}
    ratios = {peer: f"{times:.1f} ({count})" for peer, (times, count) in ((p, f) for p, f in found.items() if f)}
    ours = mean(job["peers"]["gpuetl"]["best_s"] for job in jobs.values())
    return speed_row(work, f"{1e3 * ours:.0f} ms", ratios, result)


def other_rows(results: Results) -> Iterator[str]:
    """Yield questions and answers beside speed in warm runs."""
    first_runs, start, scaling = results["first-runs"], results["process-start"], results["scaling"]
    for suite in suites_of(first_runs):
        ours, theirs = (1e3 * means["first_s"] for means in means_of(first_runs, suite))
        answer = f"{ours:.0f} ms, cudf-polars {theirs:.0f} ms (geometric means)"
        yield f"| First run of a query: {NAMES[suite]} | {answer} | {conditions(first_runs)} |"
    flights = first_runs["flights_4_cores"]
    times = "; ".join(f"{COMPILED[case]}: {each['process_s']:.1f} s" for case, each in flights.items())
    yield f"| A process of the flights demo, by what is compiled | {times} | {conditions(first_runs)}, 4 used |"
    floor, own = (statistics.median(start["times_s"][name]) for name in ("floor", "gpuetl"))
    answer = f"{own:.2f} s; importing CuPy and pylibcudf and reading the same file takes {floor:.2f} s"
    yield f"| The smallest run on a GPU, from start to exit | {answer} | {conditions(start)} |"
    for engine in ("cudf", "pandas"):
        yield memory_row(results[f"memory-{engine}"])
    large = of_suite(results["large"], "events")["pipeline"]["peers"]["gpuetl"]["best_s"]
    yield f"| Pipeline E, a billion events, 26 GB of files | {large:.1f} s on one GPU | {conditions(results['large'])} |"
    runs = pipeline_runs(scaling)
    weak = [run for run in runs if run["rows"] == run["gpus"] * runs[0]["rows"]]
    answer = ", ".join(
        f"{run['gpus']} GPU{'s' * (run['gpus'] > 1)} {run['best_s']:.2f} s ({weak_scaling(runs, run):.0%})"
        for run in weak
    )
    yield f"| Pipeline E, 100 M events per GPU | {answer} | {conditions(scaling)} |"
    rules = results["expectations"]
    answer = (
        f"{rules['ratio'] - 1:+.1%} for {len(rules['rules'])} rules on {rules['rules'][0]['rows'] / 1e6:.0f} M rows"
    )
    yield f"| What expectations cost | {answer} | {conditions(rules)} |"


def memory_row(result: dict[str, Any]) -> str:
    """Return what limits of memory cost a pipeline, of events in no order."""
    runs = [run for run in result["runs"] if run["order"] == "in no order" and "error" not in run]
    best = runs[0]["best_s"]
    limited = ", ".join(f"{run['memory']}: {run['best_s'] / best:.1f} ×" for run in runs[1:])
    answer = f"without a limit {best:.2f} s; {limited} that time"
    rows = result["events"]["rows"] / 1e6
    return f"| Pipeline E, {rows:.0f} M events, in less memory, {result['engine']} | {answer} | {conditions(result)} |"

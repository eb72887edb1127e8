"""Renders what several GPUs of one machine take: scaling.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from render_text import conditions, remarks, table


def scaling_section(result: dict[str, Any]) -> list[str]:
    """Render the pipeline on more and more GPUs, an exchange, and what the host gives."""
    rates = "; ".join(f"{rate['link']} {rate['gb_s']:.0f} GB/s by {rate['threads']} threads" for rate in result["host"])
    exchanges = [run for run in result["runs"] if "exchanged_bytes_a_gpu" in run]
    return [
        "### One pipeline on more and more GPUs", "",
        "`tests/benchmarks/scaling.py`: pipeline E from files to files in the page cache, the best run after the first. One GPU is the",
        f"engine `cudf`, more are `dask-cuda` with a worker each. All totals are equal. {conditions(result)}.", "",
        f"The host's page cache gives and takes: {rates}.", "",
        *table(
            ("GPUs", "events", "first, s", "best, s", "rows per GPU and second, of one GPU's", "× one GPU on as many rows"),
            pipeline_rows(pipeline_runs(result)),
        ),
        "An exchange by hash of frames in device memory, 24 bytes a row:", "",
        *table(("GPUs and size", "seconds", "GB/s per GPU"), exchange_rows(exchanges)),
        *remarks(result),
    ]  # fmt: skip


def pipeline_runs(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of the pipeline."""
    return [run for run in result["runs"] if "rows" in run]


def weak_scaling(runs: Sequence[dict[str, Any]], run: dict[str, Any]) -> float:
    """Return the rows that each GPU of a run computes in a second, as a share of the first run's of one GPU."""
    first = next(each for each in runs if each["gpus"] == 1)
    return float(run["rows"] / run["gpus"] / run["best_s"] / (first["rows"] / first["best_s"]))


def pipeline_rows(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each number of GPUs and rows."""
    alone = {run["rows"]: run["best_s"] for run in runs if run["gpus"] == 1}
    for run in runs:
        times = f"{alone[run['rows']] / run['best_s']:.2f}" if run["gpus"] > 1 and run["rows"] in alone else ""
        share = f"{weak_scaling(runs, run):.0%}"
        yield f"| {run['gpus']} | {run['rows']:,} | {run['first_s']:.2f} | {run['best_s']:.2f} | {share} | {times} |"


def exchange_rows(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each exchange."""
    for run in runs:
        size = run["exchanged_bytes_a_gpu"] / 1e9
        yield f"| {run['gpus']} GPUs, {size:.1f} GB each | {run['best_s']:.3f} | {size / run['best_s']:.0f} |"

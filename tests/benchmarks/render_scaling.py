"""Renders what several GPUs of one machine take: scaling.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def scaling_section(result: dict[str, Any], where: str) -> str:
    """Render the pipeline on more and more GPUs, an exchange, and what the host gives."""
    rates = ", ".join(f"{rate['link']} {rate['gb_s']:.0f} GB/s by {rate['threads']} threads" for rate in result["host"])
    pipeline = [run for run in result["runs"] if "rows" in run]
    exchanges = [run for run in result["runs"] if "exchanged_bytes_a_gpu" in run]
    return "\n".join([
        "## One pipeline on more and more GPUs", "",
        "`tests/benchmarks/scaling.py`: the pipeline from files to files in the page cache, the best run after the first; one GPU is",
        f"the engine `cudf`, more are `dask-cuda`, a worker each.  All totals equal.  The host's page cache: {rates}.  {where}", "",
        "| GPUs | events | first, s | best, s | of one GPU's rows a GPU and second | times as fast as one GPU on as many rows |",
        "|---|---|---|---|---|---|", *pipeline_rows(pipeline), "",
        "| exchange by hash of frames on the devices, 24 bytes a row | seconds | GB/s a GPU |", "|---|---|---|",
        *exchange_rows(exchanges), "", *result.get("remarks", []), "",
    ])  # fmt: skip


def pipeline_rows(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each number of GPUs and rows."""
    alone = {run["rows"]: run["best_s"] for run in runs if run["gpus"] == 1}
    first = next(run for run in runs if run["gpus"] == 1)
    for run in runs:
        speed = run["rows"] / run["gpus"] / run["best_s"]
        share = f"{speed / (first['rows'] / first['best_s']):.0%}"
        times = f"{alone[run['rows']] / run['best_s']:.2f}" if run["gpus"] > 1 and run["rows"] in alone else ""
        yield f"| {run['gpus']} | {run['rows']:,} | {run['first_s']:.2f} | {run['best_s']:.2f} | {share} | {times} |"


def exchange_rows(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each exchange."""
    for run in runs:
        size = run["exchanged_bytes_a_gpu"] / 1e9
        yield f"| {run['gpus']} GPUs, {size:.1f} GB each | {run['best_s']:.3f} | {size / run['best_s']:.0f} |"

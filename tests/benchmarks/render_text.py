"""Words that the sections of docs/performance.md share: dates, machines, sizes and means."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from math import exp, log
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def newest(benchmark: str) -> dict[str, Any]:
    """Return the newest result of a benchmark."""
    path = max(RESULTS.glob(f"{benchmark}-*.json"))
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def measured(benchmark: str) -> list[dict[str, Any]]:
    """Return the newest result of a benchmark, if there is one."""
    return [newest(benchmark)] if any(RESULTS.glob(f"{benchmark}-*.json")) else []


def conditions(result: dict[str, Any]) -> str:
    """Return when and on what a benchmark ran."""
    return f"{result['date']}, {machine_of(result)}"


def machine_of(result: dict[str, Any]) -> str:
    """Return the GPUs and cores of a result's machine."""
    hardware = result["hardware"]
    gpu = str(hardware.get("gpu", "")).partition(", driver")[0]
    gpus = [gpu if "×" in gpu else f"one {gpu}"] if gpu else []
    cores = [f"{hardware['cores']} cores"] if "cores" in hardware else []
    return ", ".join([*gpus, *cores])


def size_of(data: dict[str, Any]) -> str:
    """Return the rows and bytes of what was read."""
    return f"{data['rows']:,} rows in {data['bytes'] / 1e6:.1f} MB of Parquet"


def mean(values: Iterable[float]) -> float:
    """Return the geometric mean."""
    return exp(statistics.fmean(map(log, values)))


def table(heads: Iterable[str], rows: Iterable[str]) -> list[str]:
    """Return the lines of a table and an empty one; rows have their bars already."""
    heads = list(heads)
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *rows, ""]


def remarks(result: dict[str, Any]) -> list[str]:
    """Return what a result's file says about it, and an empty line."""
    return [*result["remarks"], ""] if result.get("remarks") else []

"""Renders docs/lab/gpu-parts.md: single parts of a run, and states of the code that are gone."""

from __future__ import annotations

from typing import Any

from render_text import conditions, table

HEAD = """# Parts of a run on a GPU

Made by `tests/benchmarks/render.py` from `tests/benchmarks/results`. These are notes from the laboratory: single parts of a
run, ways that were tried, and states of the code that are gone. [Performance](../performance.md) has the results that hold.
[Notes on benchmarks](benchmark-notes.md) says what limits them.
"""


def parts_section(result: dict[str, Any]) -> list[str]:
    """Render what single parts of a run take on a GPU, and what was checked there."""
    tables = [line for each in result["tables"] for line in part_table(each)]
    return [
        "## Parts", "",
        f"Milliseconds, the best of a few runs. Limits of that machine: {result['ceilings']}. {conditions(result)}.", "", *tables,
        "## What was checked on such a machine that day", "", result["checks"], "",
    ]  # fmt: skip


def part_table(each: dict[str, Any]) -> list[str]:
    """Return the lines of one table."""
    return [f"{each['what']}:", "", *table(("", "ms"), (f"| {name} | {ms:,} |" for name, ms in each["rows"]))]


def aggregates_section(result: dict[str, Any]) -> list[str]:
    """Render aggregates by precompiled kernels beside those that were generated for each plan before."""
    rows = [
        f"| {case} | {each['generated']:.2f} | {each['precompiled']:.2f} | {each['generated'] / each['precompiled']:.2f} |"
        for case, each in result["ms"].items()
    ]
    e = result["pipeline_e_s"]
    best = [1e3 * e[way]["best_s"] for way in ("generated", "precompiled")]
    return [
        "## Aggregates, generated and precompiled", "",
        f"`tests/benchmarks/aggregates.py`: {result['rows'] / 1e6:,.0f} million rows in device memory, milliseconds, best of {result['runs']} runs.",
        "*Generated* is the version before: a kernel for each plan. *Precompiled* is what gpuetl does. Both in one call.",
        f"Pipeline E took {best[0]:.0f} ms before and {best[1]:.0f} ms after. {conditions(result)}.", "",
        *table(("aggregate", "generated", "precompiled", "ratio"), rows),
    ]  # fmt: skip


def engines_section(result: dict[str, Any]) -> list[str]:
    """Render the engines beside each other, stage by stage, before sinks were encoded on the GPU."""
    rows = []
    for pipeline, found in result["pipelines"].items():
        engines = found["engines"]
        for pandas, cudf in zip(engines["pandas"]["stages"], engines["cudf"]["stages"], strict=True):
            ratio = pandas["seconds"] / max(cudf["seconds"], 1e-9)
            seconds = f"{pandas['seconds']:.3f} | {cudf['seconds']:.3f}"
            rows.append(f"| {pipeline} | {cudf['name']} | {cudf['rows_out']:,} | {seconds} | {ratio:.1f} |")
        seconds = f"{engines['pandas']['best_s']:.2f} | {engines['cudf']['best_s']:.2f}"
        ratio = engines["pandas"]["best_s"] / engines["cudf"]["best_s"]
        rows.append(f"| {pipeline} | **whole, warm** | | {seconds} | {ratio:.1f} |")
    return [
        "## The engines stage by stage, before sinks were encoded on the GPU", "",
        "`tests/benchmarks/engines.py`: seconds of each stage's own work in a warm process. The run waits for the device after each",
        f"operation. The outputs are equal. The CPU wrote the sinks on both engines then. {conditions(result)}.", "",
        *table(("pipeline", "stage", "rows out", "pandas, s", "cudf, s", "×"), rows),
    ]  # fmt: skip


def lab_page(parts: dict[str, Any], aggregates: dict[str, Any], engines: dict[str, Any]) -> str:
    """Return the page."""
    lines = [*aggregates_section(aggregates), *engines_section(engines), *parts_section(parts)]
    return "\n".join([HEAD, *lines])

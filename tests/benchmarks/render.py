"""Renders results/*.json into docs/performance.md, the newest result of each benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from render_first_runs import aggregates_section, edits_section, first_runs_section, process_start_section
from render_gpu import cluster_section, gpu_section, large_section
from render_scaling import scaling_section

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "performance.md"

HEAD = """# Performance

Made by `tests/benchmarks/render.py` from the measurements in `tests/benchmarks/results/`; `make bench` measures the
first two tables again.  A ratio within one table counts; an absolute time belongs to its machine.
"""


def newest(benchmark: str) -> dict[str, Any]:
    """Return the newest result of a benchmark."""
    path = max((HERE / "results").glob(f"{benchmark}-*.json"))
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def where(result: dict[str, Any]) -> str:
    """Say when, on what and with which versions."""
    hardware = ", ".join(
        f"{value} {key}" if key == "cores" else str(value) for key, value in result["hardware"].items()
    )
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return f"{result['date']}; {hardware}; {versions}."


def size_of(data: dict[str, Any]) -> str:
    """Return the rows and bytes of what was read."""
    return f"{data['rows']:,} rows in {data['bytes'] / 1e6:.1f} MB of Parquet"


def startup_table(result: dict[str, Any]) -> str:
    """Render whole-process times."""
    size = size_of(result["input"])
    rows = [
        f"| `gpuetl {name}` | {t['cpu_median_s']:.2f} | {t['median_s']:.2f} | {t['min_s']:.2f} | {t['max_s']:.2f} "
        f"| {t['modules']['all']:,} | {t['modules']['gpuetl']:,} |"
        for name, t in result["commands"].items()
    ]
    return "\n".join([
        "## Start-up and the demo, pandas engine", "",
        f"Whole processes, {result['runs']} runs each with a warm file cache: the median of the CPU seconds of all threads, and",
        "seconds from start to exit, which other work on the machine lengthens.  Then the modules that the command imports, in all",
        f"and gpuetl's own.  The demo, flights, reads {size}, and writes three sinks.  {where(result)}", "",
        "| command | CPU, s | wall, median | least | greatest | modules | gpuetl's |",
        "|---|---|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def peers_table(result: dict[str, Any]) -> str:
    """Render pipelines beside the same work by hand."""
    rows = [
        f"| {pipeline} | {name} | {t['median_s']:.2f} | {t['min_s']:.2f} to {t['max_s']:.2f} | {t['gpuetl_takes']:.2f} | {t['peak_bytes'] / 1e9:.1f} |"
        for pipeline, measured in result["pipelines"].items()
        for name, t in measured["contestants"].items()
    ]
    sizes = "; ".join(f"{name}: {size_of(m['input'])}" for name, m in result["pipelines"].items())
    return "\n".join([
        "## Without a GPU, beside pandas, Polars and DuckDB", "",
        "The pandas engine, and the same pipeline by hand with each peer (tests/benchmarks/peers), from files to files: all",
        f"outputs equal first, then the median of {result['rounds']} rounds in processes that are warm.  {sizes}.  {where(result)}", "",
        "| pipeline | by | median, s | from, to | gpuetl's time is × | peak GB |", "|---|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def engines_table(result: dict[str, Any]) -> str:
    """Render the engines beside each other, stage by stage."""
    rows = []
    for pipeline, measured in result["pipelines"].items():
        engines = measured["engines"]
        for pandas, cudf in zip(engines["pandas"]["stages"], engines["cudf"]["stages"], strict=True):
            ratio = pandas["seconds"] / max(cudf["seconds"], 1e-9)
            seconds = f"{pandas['seconds']:.3f} | {cudf['seconds']:.3f}"
            rows.append(f"| {pipeline} | {cudf['name']} | {cudf['rows_out']:,} | {seconds} | {ratio:.1f} |")
        seconds = f"{engines['pandas']['best_s']:.2f} | {engines['cudf']['best_s']:.2f}"
        rows.append(
            f"| {pipeline} | **whole, warm** | | {seconds} | {engines['pandas']['best_s'] / engines['cudf']['best_s']:.1f} |"
        )
    process, parts = result["process"], ", ".join(f"{name} {s:.2f}" for name, s in result["parts_s"].items())
    median = sorted(process["cudf_s"])[len(process["cudf_s"]) // 2]
    return "\n".join([
        "## One GPU beside the pandas engine", "",
        "`tests/benchmarks/engines.py`: seconds of each stage's own work in a warm process, the device waited for after each",
        f"operation; the outputs are compared first.  {where(result)}", "",
        "| pipeline | stage | rows out | pandas, s | cudf, s | × |", "|---|---|---|---|---|---|", *rows, "",
        "The sinks are written by the CPU on both engines.  From process start to exit the flights demo takes",
        f"{median:.2f} s on cudf (median of {len(process['cudf_s'])}; {process['what']}); with no kernel compiled before,",
        f"{' and '.join(f'{s:.0f} s' for s in process['cudf_without_kernel_cache_s'])} on two machines.  Where the time goes, s: {parts}.", "",
    ])  # fmt: skip


def kernel_table(result: dict[str, Any]) -> str:
    """Render kernels on a GPU against the device copy of the same run."""
    rows = [
        f"| {k['kernel']} | {k['rows']:,} | {k['bytes_a_row']} | {k['ms']:.2f} | {k['gb_a_s']:,.0f} | {k['gb_a_s'] / result['copy_gb_a_s']:.0%} |"
        for k in result["kernels"]
    ]
    return "\n".join([
        "## Shipped kernels on a GPU", "",
        f"In device memory, best of {result['runs']}; the device copy of the same run moves {result['copy_gb_a_s']:,.0f} GB/s (read and",
        f"write).  {result['checks']}  {where(result)}", "",
        "| kernel | rows | bytes a row | ms | GB/s | of the copy |", "|---|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def parts_tables(result: dict[str, Any]) -> str:
    """Render what single parts of a run take on a GPU, and what was checked there."""
    tables = [line for table in result["tables"] for line in part_table(table)]
    return "\n".join([
        "## Parts on a GPU", "",
        f"Milliseconds, the best of a few.  Ceilings there: {result['ceilings']}.  {where(result)}", "", *tables,
        f"What was checked on such a machine that day: {result['checks']}", "",
    ])  # fmt: skip


def part_table(table: dict[str, Any]) -> list[str]:
    """Return the lines of one table."""
    rows = (f"| {name} | {ms:,} |" for name, ms in table["rows"])
    return [f"{table['what']}:", "", "| | ms |", "|---|---|", *rows, ""]


def operations_table(result: dict[str, Any]) -> str:
    """Render operations in device memory beside their goals, libcudf's and the device's copy."""
    rows = [operation_row(each, result["copy_gb_a_s"]) for each in result["operations"]]
    return "\n".join([
        "## Operations in device memory", "",
        f"`tests/benchmarks/operations.py`: {result['rows']:,} events, the least of {result['runs']} runs after a first one.  The device copies",
        f"{result['copy_gb_a_s']:,.0f} GB/s, read and written; an operation's bytes are those of the columns it reads and makes.  {where(result)}", "",
        "| operation | ms | goal | libcudf's, ms | of the copy |", "|---|---|---|---|---|", *rows, "",
        *result.get("remarks", []), "",
    ])  # fmt: skip


def operation_row(found: dict[str, Any], copy_gb_a_s: float) -> str:
    """Return one operation's line."""
    share = found["bytes"] / found["ms"] / 1e6 / copy_gb_a_s
    goal, libcudf = (f"{ms:,g}" if ms else "" for ms in (found["goal_ms"], found["libcudf_ms"]))
    return f"| {found['name']} | {found['ms']:.1f} | {goal} | {libcudf} | {share:.0%} |"


def memory_table(result: dict[str, Any]) -> str:
    """Render the pipeline in less memory than it would take."""
    rows = [memory_row(run) for run in result["runs"]]
    return "\n".join([
        f"## A pipeline in less memory, engine {result['engine']}", "",
        "`tests/benchmarks/memory.py`: pipeline E from files to files, the better of two runs;",
        f"all outputs over the same events equal.  Events: {size_of(result['events'])}.  {where(result)}", "",
        "| events | `--memory` | seconds | files | spilled, MB | expected, MB |", "|---|---|---|---|---|---|", *rows, "",
        *result.get("remarks", []), "",
    ])  # fmt: skip


def memory_row(run: dict[str, Any]) -> str:
    """Return one run's line; what goes and comes back is spilled once."""
    events = run["order"] + (", by carries" if run["carried_share"] else "")
    if "error" in run:
        return f"| {events} | {run['memory']} | {run['error']} | | | |"
    spilled = sum(count for link, count in run["spilled"].items() if link in ("device to host", "host to file")) / 1e6
    figures = f"{run['best_s']:.2f} | {run['files']} | {spilled:,.0f} | {run['expected_bytes'] / 1e6:,.0f}"
    return f"| {events} | {run['memory']} | {figures} |"


def limits_table(result: dict[str, Any]) -> str:
    """Render what operations take under a limit, against what the plan expects."""
    unlimited = {run["operation"]: run for run in result["runs"] if run["limit"] == UNLIMITED}
    goal = TAKEN_GOALS[result["engine"]]
    digits = SECONDS_DIGITS[result["engine"]]
    rows = [limits_row(run, unlimited[run["operation"]], goal, digits) for run in result["runs"]]
    size_mb = sum(result["bytes"].values()) / 1e6
    return "\n".join([
        f"## Operations under a memory limit, engine {result['engine']}", "",
        f"`tests/benchmarks/memory_limits.py`: {result['rows']:,} rows in Parquet files ({size_mb:,.0f} MB with all other sources),",
        f"row groups of {result['group_rows']:,} rows, from files to files, {RUNS[result['engine']]}.  All runs of an operation",
        f"give the same rows.  *Expected* is the number of `gpuetl plan` and of the run's report, *taken* {TAKEN[result['engine']]}.",
        f"Goals under a limit: at most {goal} times the limit taken; expected and taken within a factor of",
        f"{EXPECTED_GOAL}.  Bold numbers miss one.  {where(result)}", "",
        *result.get("remarks", []), "",
        "| operation | `--memory` | expected, MB | taken, MB | taken / limit | expected / taken | seconds | of those without a limit |",
        "|---|---|---|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


UNLIMITED, EXPECTED_GOAL = "none", 1.5
TAKEN_GOALS = {"pandas": 1.15, "cudf": 1.0}
RUNS = {"pandas": "each run in a process of its own", "cudf": "after a first run of each that is not shown"}
SECONDS_DIGITS = {"pandas": 1, "cudf": 2}
"""On a GPU most runs take less than a second."""
TAKEN = {"pandas": "the growth of the process' resident set", "cudf": "the peak of device memory by RMM's count"}


def limits_row(run: dict[str, Any], unlimited: dict[str, Any], goal: float, digits: int) -> str:
    """Return one run's line; goals hold where there is a limit."""
    if "error" in run:
        return f"| {run['operation']} | {run['limit']} | | | | | {run['error'].splitlines()[0]} | |"
    limit = run["bytes_limit"]
    share, ratio = run["taken"] / limit if limit else 0.0, run["expected"] / run["taken"]
    is_far = bool(limit) and not 1 / EXPECTED_GOAL <= ratio <= EXPECTED_GOAL
    shown = [marked(f"{share:.2f}", share > goal) if limit else "", marked(f"{ratio:.2f}", is_far)]
    sizes = f"{run['expected'] / 1e6:,.0f} | {run['taken'] / 1e6:,.0f}"
    slower = f"{run['seconds'] / unlimited['seconds']:.2f}" if limit else ""
    return f"| {run['operation']} | {run['limit']} | {sizes} | {' | '.join(shown)} | {run['seconds']:.{digits}f} | {slower} |"


def marked(text: str, is_bold: bool) -> str:
    """Return a cell, bold where it misses a goal."""
    return f"**{text}**" if is_bold else text


def expectations_table(result: dict[str, Any]) -> str:
    """Render what expectations cost."""
    rows = [
        f"| {name} | {1e3 * median:.1f} | {1e3 * result['best_s'][name]:.1f} |"
        for name, median in result["medians_s"].items()
    ]
    return "\n".join([
        "## What expectations cost", "",
        f"Pipeline E without and with {len(result['rules'])} rules of five kinds (`not_null` of three columns, `in`, `range`, `matches`,",
        f"`that`) on its stage of {result['rules'][0]['rows']:,} rows: milliseconds of {result['runs']} runs each, in turns in one process.",
        f"The ratio of the medians is {result['ratio']:.3f}.  {result['input']['rows']:,} events.  {where(result)}", "",
        "| pipeline | median | best |", "|---|---|---|", *rows, "",
    ])  # fmt: skip


def sync_table(result: dict[str, Any]) -> str:
    """Render what it costs to bring files to disk before a commit."""
    rows = [sync_row(name, case) for name, case in result["cases"].items()]
    return "\n".join([
        "## What a sync costs", "",
        "`tests/benchmarks/sync.py`: seconds of whole runs in a warm process, by default and with `--no-sync`, in turns.  Disk:",
        f"{result['disk']}.  Load of the machine in the last 5 minutes: {result['load']:.1f}.  {where(result)}",
        *[result[key] for key in ("remark",) if key in result], "",
        "| pipeline | files | MB | runs | sync, median (least) | no sync, median (least) | medians differ by |",
        "|---|---|---|---|---|---|---|", *rows, "",
        "The syncs alone, of files that are written without gpuetl and have not been written back: median (least, greatest):",
        "; ".join(f"{name} {t['median']:.2f} s ({t['min']:.2f}, {t['max']:.2f})" for name, t in result["plain"].items()) + ".", "",
    ])  # fmt: skip


def sync_row(name: str, case: dict[str, Any]) -> str:
    """Return one pipeline's line."""
    cells = (f"{case[key]['median']:.2f} ({case[key]['min']:.2f})" for key in ("sync_s", "no_sync_s"))
    difference = case["sync_s"]["median"] - case["no_sync_s"]["median"]
    size = f"{case['files']:,} | {case['bytes'] / 1e6:,.1f} | {case['runs']}"
    return f"| {name} | {size} | {' | '.join(cells)} | {difference:+.2f} s |"


def planning_table(result: dict[str, Any]) -> str:
    """Render how long large plans take to plan, at a size, half of it and a quarter."""
    rows = [
        f"| {shape['what']} | {run['size']:,} | "
        + " | ".join(planning_cell(run["phases"], phase) for phase in PHASES)
        + " |"
        for shape in result["shapes"]
        for run in shape["runs"]
    ]
    return "\n".join([
        "## Large plans", "",
        "`tests/benchmarks/planning.py`: seconds to read the text, bind it, plan a run, explain it and validate it, each in a",
        "process of its own.  Twice the size takes about twice the time; tests/hostile/test_linear_planning.py counts calls.",
        *result.get("remarks", []), f"{where(result)}", "",
        f"| of | size | {' | '.join(PHASES)} |", "|---|---|" + "---|" * len(PHASES), *rows, "",
    ])  # fmt: skip


PHASES = ("read", "declare", "bind", "plan", "explain", "validate", "message")


def planning_cell(phases: dict[str, float], phase: str) -> str:
    """Return the seconds of a phase; nothing where there is none."""
    return f"{phases[phase]:.2f}" if phase in phases else ""


def measured(benchmark: str) -> list[dict[str, Any]]:
    """Return the newest result of a benchmark, if there is one."""
    return [newest(benchmark)] if any((HERE / "results").glob(f"{benchmark}-*.json")) else []


def render() -> None:
    """Write the page."""
    tables = [
        startup_table(newest("startup")),
        peers_table(newest("peers")),
        *(memory_table(result) for engine in ("pandas", "cudf") for result in measured(f"memory-{engine}")),
        *(limits_table(result) for engine in ("pandas", "cudf") for result in measured(f"memory-limits-{engine}")),
        *(process_start_section(result, where(result)) for result in measured("process-start")),
        *(gpu_section(result, where(result)) for result in measured("gpu")),
        *(first_runs_section(result, where(result)) for result in measured("first-runs")),
        *(edits_section(result, where(result)) for result in measured("edited-expression")),
        *(aggregates_section(result, where(result)) for result in measured("aggregates")),
        *(large_section(result, where(result)) for result in measured("large")),
        *(scaling_section(result, where(result)) for result in measured("scaling")),
        *(cluster_section(result, where(result)) for result in measured("cluster")),
        *(expectations_table(result) for result in measured("expectations")),
        *(planning_table(result) for result in measured("planning")),
        *(sync_table(result) for result in measured("sync")),
        *(operations_table(result) for result in measured("operations")),
        parts_tables(newest("parts")),
        engines_table(newest("engines")),
        kernel_table(newest("kernels")),
    ]
    PAGE.write_text("\n".join([HEAD, *tables]), encoding="utf-8")


if __name__ == "__main__":
    render()

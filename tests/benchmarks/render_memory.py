"""Renders runs under a memory limit: a pipeline, and operations one by one."""

from __future__ import annotations

from typing import Any

from render_text import conditions, remarks, size_of, table

UNLIMITED, EXPECTED_GOAL = "none", 1.5
TAKEN_GOALS = {"pandas": 1.15, "cudf": 1.0}
RUNS = {"pandas": "Each run has a process of its own.", "cudf": "A first run of each is not shown."}
SECONDS_DIGITS = {"pandas": 1, "cudf": 2}
"""On a GPU most runs take less than a second."""
TAKEN = {"pandas": "the growth of the process' resident set", "cudf": "the peak of device memory by RMM's count"}


def memory_section(result: dict[str, Any]) -> list[str]:
    """Render the pipeline in less memory than it would take."""
    return [
        f"### A pipeline in less memory, engine {result['engine']}", "",
        f"`tests/benchmarks/memory.py`: pipeline E from files to files, {size_of(result['events'])}. The better of two runs.",
        f"All outputs over the same events are equal. {conditions(result)}.", "",
        *table(("events", "`--memory`", "seconds", "files", "spilled, MB", "expected, MB"), map(memory_row, result["runs"])),
        *remarks(result),
    ]  # fmt: skip


def memory_row(run: dict[str, Any]) -> str:
    """Return one run's line; what goes and comes back is spilled once."""
    events = run["order"] + (", window state" if run["carried_share"] else "")
    if "error" in run:
        return f"| {events} | {run['memory']} | {run['error']} | | | |"
    spilled = sum(count for link, count in run["spilled"].items() if link in ("device to host", "host to file")) / 1e6
    figures = f"{run['best_s']:.2f} | {run['files']} | {spilled:,.0f} | {run['expected_bytes'] / 1e6:,.0f}"
    return f"| {events} | {run['memory']} | {figures} |"


def limits_section(result: dict[str, Any]) -> list[str]:
    """Render what operations take under a limit, against what the plan expects."""
    engine = result["engine"]
    operations = list(dict.fromkeys(run["operation"] for run in result["runs"]))
    limits = list(dict.fromkeys(run["limit"] for run in result["runs"]))
    runs = {(run["operation"], run["limit"]): run for run in result["runs"]}
    rows = [
        f"| {name} | {' | '.join(limits_cell(runs[name, limit], engine) for limit in limits)} |" for name in operations
    ]
    size_mb = sum(result["bytes"].values()) / 1e6
    heads = ("no limit" if limit == UNLIMITED else f"`--memory {limit}`" for limit in limits)
    return [
        f"### Operations under a memory limit, engine {engine}", "",
        f"`tests/benchmarks/memory_limits.py`: {result['rows']:,} rows from Parquet files ({size_mb:,.0f} MB with all other sources) to files,",
        f"row groups of {result['group_rows']:,} rows. {RUNS[engine]} All runs of an operation give the same rows.",
        f"A cell is *taken* / *expected* MB, seconds. Taken is {TAKEN[engine]}. Expected is the number of",
        f"`gpuetl plan`. Goals: take at most {TAKEN_GOALS[engine]} times the limit; expect within a factor of {EXPECTED_GOAL} of what is taken.",
        f"Bold numbers miss a goal. {conditions(result)}.", "",
        *table(("operation", *heads), rows),
        *remarks(result),
    ]  # fmt: skip


def limits_cell(run: dict[str, Any], engine: str) -> str:
    """Return one run's cell; goals hold where there is a limit."""
    if "error" in run:
        return str(run["error"].splitlines()[0])
    limit, taken, expected = run["bytes_limit"], run["taken"], run["expected"]
    is_over = bool(limit) and taken > limit * TAKEN_GOALS[engine]
    is_far = bool(limit) and not 1 / EXPECTED_GOAL <= expected / taken <= EXPECTED_GOAL
    sizes = f"{marked(f'{taken / 1e6:,.0f}', is_over)} / {marked(f'{expected / 1e6:,.0f}', is_far)}"
    return f"{sizes}, {run['seconds']:.{SECONDS_DIGITS[engine]}f} s"


def csv_section(result: dict[str, Any]) -> list[str]:
    """Render what operations on one large compressed CSV file take under a limit."""
    text, file = result["bytes"]["text"], result["bytes"]["rows.csv.gz"]
    return [
        f"### A large CSV file under a memory limit, engine {result['engine']}", "",
        f"`tests/benchmarks/memory_limits.py --source csv.gz`: {result['rows']:,} rows from one `.csv.gz` file, {text / 1e9:.1f} GB of text in",
        f"{file / 1e9:.1f} GB, to Parquet files. Each run has a process of its own. Taken is the growth of the process' resident set from",
        "the beginning of planning on; the process is all of its resident set, with Python, Arrow and the code. Goal: take at most",
        f"the limit. Bold numbers miss it. Other work ran on the machine, so times are upper bounds. {conditions(result)}.", "",
        *table(
            ("operation", "`--memory`", "taken, MB", "process, MB", "expected, MB", "spilled, MB", "seconds"),
            map(csv_row, result["runs"]),
        ),
        *remarks(result),
    ]  # fmt: skip


def csv_row(run: dict[str, Any]) -> str:
    """Return one run's line."""
    if "error" in run:
        return f"| {run['operation']} | {run['limit']} | {run['error'].splitlines()[0]} | | | | |"
    taken = marked(f"{run['taken'] / 1e6:,.0f}", run["taken"] > run["bytes_limit"])
    sizes = " | ".join(f"{run[what] / 1e6:,.0f}" for what in ("process", "expected", "spilled"))
    return f"| {run['operation']} | {run['limit']} | {taken} | {sizes} | {run['seconds']:,.0f} |"


def marked(text: str, is_bold: bool) -> str:
    """Return a number, bold where it misses a goal."""
    return f"**{text}**" if is_bold else text

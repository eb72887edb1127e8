"""Renders the comparison on GPUs: a table of each suite with bars, operations and kernels in device memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from render_text import conditions, mean, remarks
from render_text import table as lines_of_table

WIDTH = 24
SUITES = {
    "events": "Events of users",
    "groupby": "Group-by questions of the database-like ops benchmark",
    "join": "Join questions of the database-like ops benchmark",
    "asof": "As-of joins",
    "criteo": "Features of a table shaped as Criteo's",
    "pdsh": "PDS-H",
}


def gpu_section(result: dict[str, Any], left_out: Collection[str] = ()) -> list[str]:
    """Render the result of gpu.py, without suites that were measured again later."""
    suites = {suite: of_suite(result, suite) for suite in SUITES if suite not in left_out}
    return [
        "### Queries and a pipeline", "",
        "`tests/benchmarks/gpu.py`: milliseconds from Parquet files in a warm page cache to rows on the host or to written files. Each",
        "library runs in a process of its own and is tuned: RMM pools, 16 KvikIO threads, all cores. The first run is apart from the",
        f"best of those after it. × is a time over gpuetl's. Only equal answers count. {conditions(result)}.", "",
        *(line for suite, jobs in suites.items() if jobs for line in table(suite, jobs)),
        *remarks(result),
    ]  # fmt: skip


def csv_readers_section(result: dict[str, Any]) -> list[str]:
    """Render readers of one CSV file beside each other."""
    data = result["input"]
    rows = [
        f"| {name} | {min(seconds):.3f} | {data['bytes'] / min(seconds) / 1e9:.1f} "
        f"| {min(seconds) / min(result['seconds']['gpuetl cudf']):.1f} |"
        for name, seconds in result["seconds"].items()
    ]
    return [
        "### CSV", "",
        f"One file of {data['rows']:,} rows and {data['bytes'] / 1e9:.2f} GB: integers, floats, strings and timestamps, in a warm page cache",
        "(`tests/benchmarks/csv_read.py`). gpuetl's times are those of whole runs that keep the rows, with planning; others' are those of a",
        f"call. The best of {len(next(iter(result['seconds'].values())))} runs after a first one. {conditions(result)}.", "",
        *lines_of_table(("reader", "best, s", "GB/s", "× gpuetl"), rows),
    ]  # fmt: skip


def codecs_section(by_codec: Mapping[str, dict[str, Any]]) -> list[str]:
    """Render the pipeline with files of each codec, by the codecs' names."""
    peers = {codec: result["jobs"]["events/pipeline"]["peers"] for codec, result in by_codec.items()}
    names = list(dict.fromkeys(name for found in peers.values() for name in found))
    rows = (f"| {name} | {' | '.join(cell_of(found.get(name)) for found in peers.values())} |" for name in names)
    return [
        "#### The pipeline by codec", "",
        "Best seconds and bytes of the pipeline above, with files of one codec from all libraries: `tests/benchmarks/gpu.py FOLDER",
        "--jobs events/pipeline --codec snappy`. zstd is the default of sinks, with level 1. In the table above, gpuetl wrote its encodings",
        f"without a codec, and the others wrote snappy. {conditions(next(iter(by_codec.values())))}.", "",
        *lines_of_table(("by", *peers), rows),
        *(line for result in by_codec.values() for line in remarks(result)),
    ]  # fmt: skip


def cell_of(record: dict[str, Any] | None) -> str:
    """Return what is shown of a library's runs with a codec."""
    if record is None or "best_s" not in record:
        return "–"
    return f"{record['best_s']:.2f} s, {record['bytes_written'] / 1e9:.2f} GB"


def large_section(result: dict[str, Any]) -> list[str]:
    """Render the events where they are a billion."""
    return [
        "### A billion events on one GPU", "",
        f"The events of [queries and a pipeline](#queries-and-a-pipeline). The decoded columns take 51 GB of the GPU. {conditions(result)}.", "",
        *table("events", of_suite(result, "events"), heading=False),
        *remarks(result),
    ]  # fmt: skip


def asof_section(results: Collection[dict[str, Any]]) -> list[str]:
    """Render as-of joins, the largest data first; nothing where they were not measured."""
    return [] if not results else [
        "### As-of joins", "",
        "`tests/benchmarks/gpu.py FOLDER --jobs asof`: trades with quotes, from Parquet files in the order of time to check sums on the host.",
        "There are 10 trades for each quote and 100 for each key. q1 joins each trade with the last quote of its key. q2 takes the nearest quote",
        "of the key within 10 minutes, and q3 the last quote of any key. cuDF and cudf-polars have no as-of join.",
        f"{conditions(next(iter(results)))}.", "",
        *(line for result in results for line in table("asof", of_suite(result, "asof"), heading=False)),
        *(line for result in results for line in remarks(result)),
    ]  # fmt: skip


def criteo_section(results: Collection[dict[str, Any]]) -> list[str]:
    """Render features of a Criteo-shaped table; nothing where they were not measured."""
    return [] if not results else [
        "### Features of clicks", "",
        "`tests/benchmarks/gpu.py FOLDER --jobs criteo`: a table shaped as Criteo's, with 13 counts and 26 categories. The job fills and clips the counts,",
        "takes their logarithms and normalises them. A `fit` step numbers the values of each category by frequency, if they are in 15 rows or",
        "more. gpuetl counts the values of all categories together, by hash, sorts only the frequent ones and looks their numbers up.",
        "cudf-polars aggregates, sorts and joins each category.",
        f"{conditions(next(iter(results)))}.", "",
        *(line for result in results for line in table("criteo", of_suite(result, "criteo"), heading=False)),
        *(line for result in results for line in remarks(result)),
    ]  # fmt: skip


def cluster_section(result: dict[str, Any]) -> list[str]:
    """Render the events on all GPUs of a machine, beside one."""
    return [
        "### Queries on two GPUs", "",
        "The jobs of [queries and a pipeline](#queries-and-a-pipeline). `gpuetl` uses one GPU. The others use two, each on a dask cluster",
        "that was started before. gpuetl and dask-cuDF use UCX, and dask-cuDF shuffles by tasks. cudf-polars has its `DaskEngine`.",
        f"{conditions(result)}.", "",
        *table("events", of_suite(result, "events"), heading=False),
        *remarks(result),
    ]  # fmt: skip


def of_suite(result: dict[str, Any], suite: str) -> dict[str, Any]:
    """Return the jobs of a suite by their names, in order."""
    found = {name.partition("/")[2]: job for name, job in result["jobs"].items() if name.startswith(f"{suite}/")}
    return {name: found[name] for name in sorted(found, key=lambda name: (len(name), name))}


def mean_ratio(jobs: dict[str, Any], peer: str) -> tuple[float, int] | None:
    """Return how many times as long as gpuetl a peer takes, and in how many jobs both did more than a first run."""
    ratios = [found for job in jobs.values() if is_warm(job, peer) and (found := ratio(job, peer))]
    return (mean(ratios), len(ratios)) if ratios else None


def is_warm(job: dict[str, Any], peer: str) -> bool:
    """Tell whether a peer and gpuetl both have more than a first run, in which kernels are compiled."""
    return all(len(job["peers"].get(name, {}).get("seconds", ())) > 1 for name in (peer, "gpuetl"))


def ratio(job: dict[str, Any], peer: str) -> float | None:
    """Return a peer's best time over gpuetl's, where both have one."""
    best = [job["peers"].get(name, {}).get("best_s") for name in (peer, "gpuetl")]
    return best[0] / best[1] if all(best) else None


def table(suite: str, jobs: dict[str, Any], heading: bool = True) -> Iterator[str]:
    """Yield a suite's table, and what its jobs are."""
    largest = next(iter(jobs.values()))["tables"]
    rows, size = (sum(table[key] for table in largest.values()) for key in ("rows", "bytes"))
    if heading:
        yield from (f"#### {SUITES[suite]}", "")
    yield from (f"{rows:,} rows in {size / 1e9:.2f} GB of Parquet, snappy.", "")
    yield from ("| job | by | first, ms | best, ms | × gpuetl | |", "|---|---|---|---|---|---|")
    for name, job in jobs.items():
        slowest = max((found.get("best_s", 0) for found in job["peers"].values()), default=0)
        for place, (peer, found) in enumerate(job["peers"].items()):
            yield f"| {name if place == 0 else ''} | {peer} | {times(found, ratio(job, peer), slowest)} |"
    yield ""
    if heading:
        yield from (f"- {name}: {job['what']}" for name, job in jobs.items())
        yield ""


def times(found: dict[str, Any], factor: float | None, slowest: float) -> str:
    """Return the columns after a peer's name: its times and a bar, or why there are none."""
    if "best_s" not in found:
        reason = found.get("left_out") or found["error"].splitlines()[0]
        return f"| | | {reason[:120].replace('|', '/')}"
    bar = "█" * max(1, round(WIDTH * found["best_s"] / slowest))
    best = found["best_s"] * 1e3
    factor_cell = f"{factor:.1f}" if factor else "–"
    return f"{found['first_s'] * 1e3:,.0f} | {best:,.{1 if best < 100 else 0}f} | {factor_cell} | {bar}"


def operations_section(result: dict[str, Any]) -> list[str]:
    """Render operations in device memory beside their goals, libcudf's and the device's copy."""
    rows = [operation_row(each, result["copy_gb_a_s"]) for each in result["operations"]]
    return [
        "### Operations in device memory", "",
        f"`tests/benchmarks/operations.py`: {result['rows']:,} events, the least of {result['runs']} runs after a first one. The last column",
        f"compares with a device copy ({result['copy_gb_a_s']:,.0f} GB/s, read and written). An operation's bytes are those of the columns",
        f"that it reads and makes. {conditions(result)}.", "",
        *lines_of_table(("operation", "ms", "goal, ms", "libcudf, ms", "of the copy"), rows),
        *remarks(result),
    ]  # fmt: skip


def windows_section(results: Collection[dict[str, Any]]) -> list[str]:
    """Render window functions beside other libraries; nothing where they were not measured."""
    if not results:
        return []
    result = next(iter(results))
    libraries = list(dict.fromkeys(name for each in result["windows"] for name in each["ms"]))
    return [
        "### Window functions", "",
        f"`tests/benchmarks/windows.py`: {result['rows']:,} rows in the memory of each library, in groups of {result['group_rows']} rows that lie",
        "in order; gpuetl sorts them all the same. Milliseconds; the results are equal. DuckDB ran once. An empty cell: the library",
        f"does not have the function, or was not measured. {conditions(result)}.", "",
        *lines_of_table(("window", *libraries), [window_row(each, libraries) for each in result["windows"]]),
        *remarks(result),
    ]  # fmt: skip


def window_row(found: dict[str, Any], libraries: Collection[str]) -> str:
    """Return one window function's line."""
    cells = [f"{found['ms'][name]:,.1f}" if name in found["ms"] else "" for name in libraries]
    return f"| `{found['window']}` | {' | '.join(cells)} |"


def row_patterns_section(results: Collection[dict[str, Any]]) -> list[str]:
    """Render regular expressions of rows beside other libraries; nothing where they were not measured."""
    if not results:
        return []
    result = next(iter(results))
    return [
        "### Regular expressions from columns", "",
        "`tests/benchmarks/row_patterns.py`: each row has a text of 47 bytes and a pattern such as `item-7[0-9]* for`, one of 10 or of",
        "1,000. Rows are in the memory of each library. The counts of matches are equal. cuDF takes constant patterns only, so it",
        f"searches all rows once for each of 10. {conditions(result)}.", "",
        *lines_of_table(("way", "patterns", "rows", "first run, ms", "best, ms", "M rows/s"), map(pattern_row, result["measured"])),
        *remarks(result),
    ]  # fmt: skip


def pattern_row(found: dict[str, Any]) -> str:
    """Return the line of one way to match patterns of rows."""
    rate = found["rows"] / found["best_s"] / 1e6
    count = 1 if "a constant" in found["way"] else found["patterns"]
    return (
        f"| {found['way']} | {count:,} | {found['rows']:,} | {1e3 * found['first_s']:,.0f} | {1e3 * found['best_s']:,.2f} "
        f"| {rate:,.0f} |"
    )


def operation_row(found: dict[str, Any], copy_gb_a_s: float) -> str:
    """Return one operation's line."""
    share = found["bytes"] / found["ms"] / 1e6 / copy_gb_a_s
    goal = f"{found['goal_ms']:,g}" if found["goal_ms"] else ""
    libcudf = f"{found['libcudf_ms']:,.1f}" if found["libcudf_ms"] else ""
    return f"| {found['name']} | {found['ms']:.1f} | {goal} | {libcudf} | {share:.0%} |"


def kernel_section(result: dict[str, Any]) -> list[str]:
    """Render kernels on a GPU against the device copy of the same run."""
    rows = [
        f"| {k['kernel']} | {k['rows']:,} | {k['bytes_a_row']} | {k['ms']:.2f} | {k['gb_a_s']:,.0f} | {k['gb_a_s'] / result['copy_gb_a_s']:.0%} |"
        for k in result["kernels"]
    ]
    return [
        "### Shipped kernels", "",
        f"In device memory, best of {result['runs']}. A device copy in the same run moves {result['copy_gb_a_s']:,.0f} GB/s, read and written.",
        f"{result['checks']} {conditions(result)}.", "",
        *lines_of_table(("kernel", "rows", "bytes a row", "ms", "GB/s", "of the copy"), rows),
    ]  # fmt: skip

"""Renders what needs no GPU: starts, other libraries on a CPU, large plans, expectations and syncs."""

from __future__ import annotations

from typing import Any

from render_text import conditions, size_of, table

PHASES = ("read", "declare", "bind", "plan", "explain", "validate", "message")


def startup_section(result: dict[str, Any]) -> list[str]:
    """Render whole processes of the command line."""
    rows = [
        f"| `gpuetl {name}` | {t['cpu_median_s']:.2f} | {t['median_s']:.2f} | {t['min_s']:.2f} to {t['max_s']:.2f} "
        f"| {t['modules']['all']:,} | {t['modules']['gpuetl']:,} |"
        for name, t in result["commands"].items()
    ]
    return [
        "### Start-up on a CPU", "",
        f"Whole processes with a warm file cache, {result['runs']} runs each. CPU is the median of all threads' CPU seconds. Wall is the time",
        "from start to exit; other work on the machine makes it longer. Modules are what the command imports. The flights demo",
        f"reads {size_of(result['input'])} and writes three sinks. {conditions(result)}.", "",
        *table(("command", "CPU, s", "wall, s", "wall, range", "modules", "gpuetl's modules"), rows),
    ]  # fmt: skip


def peers_section(result: dict[str, Any]) -> list[str]:
    """Render pipelines beside the same work by hand."""
    rows = [
        f"| {pipeline} | {name} | {t['median_s']:.2f} | {t['min_s']:.2f} to {t['max_s']:.2f} "
        f"| {1 / t['gpuetl_takes']:.2f} | {t['peak_bytes'] / 1e9:.1f} |"
        for pipeline, found in result["pipelines"].items()
        for name, t in found["contestants"].items()
    ]
    sizes = "; ".join(f"{name}: {size_of(found['input'])}" for name, found in result["pipelines"].items())
    return [
        "## Without a GPU", "",
        "### Pipelines beside pandas, Polars and DuckDB", "",
        "The pandas engine beside the same pipeline written by hand for each library (`tests/benchmarks/peers`), from files to",
        f"files. All outputs are equal. Medians of {result['rounds']} rounds in warm processes. {sizes}. {conditions(result)}.", "",
        *table(("pipeline", "by", "median, s", "range, s", "× gpuetl", "peak, GB"), rows),
    ]  # fmt: skip


def stores_section(result: dict[str, Any]) -> list[str]:
    """Render reads of an object store beside other libraries, with the requests and bytes that its server counted."""
    measured = [
        (case, name, found, part["needed_bytes"])
        for case, part in result["cases"].items()
        for name, found in part["libraries"].items()
    ]
    rows = [
        f"| {case} | {name} | {found['process_s']:.1f} | {found['cold']['s']:.2f} | {found['warm']['s']:.2f} "
        f"| {found['warm']['cpu_s']:.1f} | {found['peak_bytes'] / 1e9:.1f} | {found['cold']['get']:,} "
        f"| {found['cold']['head']} | {found['cold']['list']} | {found['cold']['bytes'] / needed:.2f} "
        f"| {found['cold']['list_bytes'] / 1e6:.1f} |"
        for case, name, found, needed in measured
        if "failed" not in found
    ]
    failed = {name: found["failed"] for _, name, found, _ in measured if "failed" in found}
    return [
        "### Object stores", "",
        "`tests/benchmarks/object_stores.py`: sums of Parquet files on an S3 server on the same machine, by gpuetl and by others. Process is",
        "from the start of a process to its first answer. Cold runs are the first of a process, warm ones the median of the later ones;",
        "gpuetl keeps metadata and small objects between them. CPU is of warm runs. Requests are those of cold runs. Bytes are those of",
        f"objects that the server sent, over those of the column chunks and metadata. {conditions(result)}, load {result['load']:.0f}.",
        "",
        *table(
            ("case", "by", "process, s", "cold, s", "warm, s", "CPU, s", "peak, GB", "GET", "HEAD", "LIST", "bytes, × needed", "lists, MB"),
            rows,
        ),
        *(f"Not measured: {name} ({why.rstrip('.')})." for name, why in failed.items()),
        *[""] * bool(failed),
    ]  # fmt: skip


def expectations_section(result: dict[str, Any]) -> list[str]:
    """Render what expectations cost."""
    rows = [
        f"| {name} | {1e3 * median:.1f} | {1e3 * result['best_s'][name]:.1f} |"
        for name, median in result["medians_s"].items()
    ]
    return [
        "### Expectations", "",
        f"Pipeline E without and with {len(result['rules'])} rules of five kinds (`not_null` of three columns, `in`, `range`, `matches`,",
        f"`that`) on a stage of {result['rules'][0]['rows']:,} rows. {result['runs']} runs each, in turns in one process. The ratio of the",
        f"medians is {result['ratio']:.3f}. {conditions(result)}.", "",
        *table(("pipeline", "median, ms", "best, ms"), rows),
    ]  # fmt: skip


def sync_section(result: dict[str, Any]) -> list[str]:
    """Render what it costs to bring files to disk before a commit."""
    rows = [sync_row(name, case) for name, case in result["cases"].items()]
    alone = (f"{name} {t['median']:.2f} s ({t['min']:.2f} to {t['max']:.2f})" for name, t in result["plain"].items())
    return [
        "### Syncs before a commit", "",
        "`tests/benchmarks/sync.py`: whole runs in a warm process, by default and with `--no-sync`, in turns. Disk:",
        f"{result['disk']}. {conditions(result)}.", "",
        *table(("pipeline", "files", "MB", "runs", "sync, s (least)", "no sync, s (least)", "medians differ by"), rows),
        "The syncs alone, of files that were written without gpuetl and not yet written back:",
        "; ".join(alone) + ".", "",
    ]  # fmt: skip


def sync_row(name: str, case: dict[str, Any]) -> str:
    """Return one pipeline's line."""
    cells = (f"{case[key]['median']:.2f} ({case[key]['min']:.2f})" for key in ("sync_s", "no_sync_s"))
    difference = case["sync_s"]["median"] - case["no_sync_s"]["median"]
    size = f"{case['files']:,} | {case['bytes'] / 1e6:,.1f} | {case['runs']}"
    return f"| {name} | {size} | {' | '.join(cells)} | {difference:+.2f} s |"


def checkpoints_section(results: list[dict[str, Any]]) -> list[str]:
    """Render what checkpoints cost and save, of each engine that was measured."""
    rows = [checkpoint_row(result, name, case) for result in results for name, case in result["cases"].items()]
    lines = [f"{result['engine']}: {conditions(result)}; {result['disk']}." for result in results]
    return [
        "## Checkpoints", "",
        "`tests/benchmarks/checkpoints.py`: the seconds of a run without a checkpoint, of one that writes it, and of one that",
        "resumes from it, in turns in a warm process. `filtered` keeps most rows after one filter, so nearly all of its time is",
        "the checkpoint. `windowed` computes three windows over each user's events. The least of the runs counts.", "",
        *table(
            ("engine", "stage", "rows kept", "MB", "without, s", "writing, s", "ratio", "resuming, s", "ratio"), rows
        ),
        *lines, "",
    ]  # fmt: skip


def checkpoint_row(result: dict[str, Any], name: str, case: dict[str, Any]) -> str:
    """Return the line of one stage on one engine."""
    without, writing, resuming = (case[f"{way}_s"]["min"] for way in ("without", "writing", "resuming"))
    ratios = f"{case['writing_ratio']:.2f}", f"{case['resuming_ratio']:.2f}"
    size = f"{case['rows']:,} | {case['bytes'] / 1e6:,.1f}"
    return f"| {result['engine']} | {name} | {size} | {without:.2f} | {writing:.2f} | {ratios[0]} | {resuming:.2f} | {ratios[1]} |"


def planning_section(result: dict[str, Any]) -> list[str]:
    """Render how long the largest plans take, and how much longer than those of half the size."""
    rows = [planning_row(shape["what"], *shape["runs"][-2:]) for shape in result["shapes"]]
    return [
        "### Large plans", "",
        "`tests/benchmarks/planning.py`: seconds to read the text, declare it in Python, bind it, plan a run, explain and validate",
        "it, or write the error message. Each phase runs in a process of its own. The last column is all of it, compared with half",
        "the size: 2 is linear. `tests/hostile/test_linear_planning.py` counts calls.",
        f"{conditions(result)}.", "",
        *table(("of", "size", *PHASES, "× half the size"), rows),
    ]  # fmt: skip


def planning_row(what: str, half: dict[str, Any], run: dict[str, Any]) -> str:
    """Return the line of a shape at its largest size."""
    cells = " | ".join(f"{run['phases'][phase]:.2f}" if phase in run["phases"] else "" for phase in PHASES)
    growth = sum(run["phases"].values()) / sum(half["phases"].values())
    return f"| {what} | {run['size']:,} | {cells} | {growth:.1f} |"

"""What each worker of a cluster did: exchanged and spilled bytes, and how evenly they are spread."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from gpuetl.report.html.elements import EMPTY, Column, bar, facts, section, table
from gpuetl.report.run_report import RunReport
from gpuetl.report.workers import WorkerReport, skew
from gpuetl.units import count, duration, size

COLUMNS = (
    Column("worker"), Column("tasks", "right"), Column("time of tasks", "right"), Column("share of the busiest"),
    Column("read from files", "right"), Column("rows received", "right"), Column("received"), Column("spilled"),
)  # fmt: skip


def spilled_section(report: RunReport) -> Markup:
    """Return what was exchanged and spilled in all, and by each worker of a cluster; nothing where nothing was."""
    exchanged = sum(stage.exchanged_bytes for stage in report.stages)
    if not report.workers and not report.spilled:
        return EMPTY
    pairs = [
        ("Exchanged", size(exchanged) if exchanged else "nothing"),
        ("Spilled", ", ".join(f"{size(moved)} {link}" for link, moved in report.spilled.items()) or "nothing"),
        *skew_facts(report.workers),
    ]
    title = "Workers" if report.workers else "Spilled frames"
    note = (
        "Skew is the largest share of a worker as a multiple of the mean: 1.0 is even."
        if report.workers
        else "Frames that waited were moved out of the engine's memory, and back."
    )
    return section(title, facts(pairs), workers_table(report) if report.workers else None, note=note)


def skew_facts(workers: tuple[WorkerReport, ...]) -> list[tuple[str, str]]:
    """Return how uneven work, exchanged rows and spilled bytes are."""
    if len(workers) < 2:
        return []
    amounts: dict[str, Callable[[WorkerReport], float]] = {
        "Skew of time": lambda one: one.seconds,
        "Skew of exchanged bytes": lambda one: one.received_bytes,
        "Skew of spilled bytes": lambda one: one.spilled_bytes,
    }
    found = {name: [amount(one) for one in workers] for name, amount in amounts.items()}
    return [(name, f"{skew(each):.2f} ×") for name, each in found.items() if any(each)]


def workers_table(report: RunReport) -> Markup:
    """Return a row for each worker."""
    busiest = max(one.seconds for one in report.workers) or 1.0
    most = max(one.received_bytes for one in report.workers)
    most_spilled = max(one.spilled_bytes for one in report.workers)
    rows = [
        [
            one.address,
            count(one.tasks),
            duration(one.seconds),
            bar(one.seconds / busiest),
            size(one.file_bytes) if one.file_bytes else "",
            count(one.received_rows) if most else "",
            bar(one.received_bytes / most, size(one.received_bytes)) if most else "",
            bar(one.spilled_bytes / most_spilled, size(one.spilled_bytes)) if most_spilled else "",
        ]
        for one in report.workers
    ]
    return table("Workers of the cluster", COLUMNS, rows)

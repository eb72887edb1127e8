"""The memory that a plan is expected to need, in words, and the sources that are cut because of it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuetl.messages import coded
from gpuetl.physical.estimate import estimated_bytes, read_rows
from gpuetl.physical.fit import Fitted
from gpuetl.physical.memory import Expected
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.sizes import size


def memory_lines(fit: Fitted) -> list[str]:
    """Return the expected memory against what there is, which the report of a run names too, and `chunk_lines`."""
    meanwhile = ""
    if fit.partitions_ahead:
        meanwhile = f", while {'all sources are' if fit.partitions_ahead > 1 else 'the next partition is'} read"
    line = f"expected memory: {size(fit.expected_memory)} of {size(fit.budget)}, {work(fit.expected.at)}{meanwhile}"
    waiting = f"; up to {size(fit.expected.waiting)} wait between stages" if fit.expected.waiting else ""
    return [line + waiting, *chunk_lines(fit)]


def chunk_lines(fit: Fitted) -> list[str]:
    """Return a line for each source that is cut so that it fits memory, with the reason, and one if it does not fit."""
    lines = cut_lines(fit)
    if not fit.fits:
        needs = f"{work(fit.expected.at)} needs {size(fit.expected.bytes)} at once and may take {size(fit.budget)}"
        lines.append(f"may not fit, even in its smallest partitions: {needs}")
    return lines


def cut_lines(fit: Fitted) -> list[str]:
    """Return a line for each source that is cut so that it fits memory, with the reason."""
    return list(cut_sources(fit, fit.at_once)) if fit.at_once else []


def limit_warning(fit: Fitted, limit: int) -> str:
    """Return what to warn of where a limit that the user gave is too small for the plan; nothing where it is not."""
    if fit.fits:
        return ""
    least = size(fit.expected.bytes)
    return coded(
        "GE2020",
        f"{work(fit.expected.at)} is expected to need {least} at once, even in the smallest partitions, and may take "
        f"{size(min(limit, fit.budget))}.  The run may take more than that, or run out of memory.  Give it --memory "
        f"{least} or more, write its sources in smaller row groups, or read fewer columns",
    )


def cut_sources(fit: Fitted, at_once: Expected) -> Iterator[str]:
    """Yield a line for each source of several partitions."""
    needs = size(at_once.bytes if at_once.bytes > fit.budget else at_once.ahead)
    why = f"since {work(at_once.at)} needs {needs} at once and may take {size(fit.budget)}"
    for scan in walk_graph(*fit.plan.roots):
        if isinstance(scan, Scan) and scan.partitions > 1:
            rows = max(map(read_rows, scan.parts))
            held = f"{size(estimated_bytes(scan))} in memory, {scan.partitions} partitions of up to {rows:,} rows"
            yield f"{scan.read.dataset.name}: {held}, {why}"


def work(node: Physical | None) -> str:
    """Return what a node does, and where the user wrote it."""
    if isinstance(node, Scan):
        return f"reading of {node.origin}"
    if isinstance(node, Exchange):
        return f"exchange ({node.route}) for {node.origin}"
    assert isinstance(node, Map | Concat)
    return f"{type(node.operation).__name__.lower()} of {node.origin}"

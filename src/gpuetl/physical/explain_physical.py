"""A physical plan as an indented tree, with the memory that it is expected to need."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from gpuetl.expressions.ir import conjuncts
from gpuetl.expressions.unparse import to_sql
from gpuetl.formats.row_group_limits import is_prunable
from gpuetl.messages import coded
from gpuetl.physical.fit import FittedPlan
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.memory import MemoryEstimate
from gpuetl.physical.nodes import Boundaries, Concat, Exchange, Map, Physical, RangeExchange, Scan
from gpuetl.physical.size_estimates import estimated_bytes, estimated_rows, file_bytes, read_rows
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.plan.graph import draw, walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Grouped, Kernel, Sort
from gpuetl.records import dataclass
from gpuetl.units import size

# A physical plan as an indented tree: what is read of what there is, what is expected, sorts and exchanges.


def explain_physical(plan: PhysicalPlan) -> str:
    """Return the tree of every sink, kept stage and check, in the order of a run, and a line that sums it up."""
    counts = Counter(id(child) for node in walk_graph(*plan.roots) for child in node.inputs)
    counts.update(id(root) for root in plan.roots)
    heads = [
        *(f"Check {name}" for name in plan.first),
        *(write.describe() for write, _ in plan.written.values()),
        *(f"Keep {name}" for name in plan.kept),
        *(f"Check {name}" for name in plan.along),
    ]
    roots = [_Root(head, (root,)) for head, root in zip(heads, plan.roots, strict=True)]
    rows, selecting = estimated_rows(*plan.roots), selecting_filters(plan)
    lines = draw(
        roots,
        lambda node: node.head if isinstance(node, _Root) else describe(node, rows[id(node)], id(node) in selecting),
        lambda node: counts[id(node)] > 1,
    )
    return "\n".join([*lines, "", summary(plan)])


@dataclass(frozen=True)
class _Root:
    """What a tree is drawn for: a sink, a kept stage or a check."""

    head: str
    inputs: tuple[Physical, ...]


def selecting_filters(plan: PhysicalPlan) -> set[int]:
    """Return the filters, by identity, by which a source's row groups were selected: those right above it."""
    found: set[int] = set()
    for node in walk_graph(*plan.roots):
        if isinstance(node, Map) and isinstance(node.operation, Filter):
            (below,) = node.inputs
            if id(below) in found or (isinstance(below, Scan) and below.read.pruning):
                found.add(id(node))
    return found


def describe(node: Physical, rows: int, selects: bool = False) -> str:
    """Return one line for a physical node that may give `rows` rows; a filter may have selected row groups."""
    if isinstance(node, Scan):
        return describe_scan(node, rows)
    expected = f"  ~{rows:,} rows"
    if isinstance(node, StatefulWindow):
        to = "later partitions, combined" if node.combined else "the next partition"
        return (
            f"{describe_operation(node.operation)}; window state of up to {node.state_rows:,} rows for {to}{expected}"
        )
    if isinstance(node, Map):
        alone = isinstance(node.operation, Sort) and node.in_sequence and not isinstance(node.inputs[0], Exchange)
        return describe_operation(node.operation, selects) + "; partitions follow each other" * alone + expected
    if isinstance(node, Concat):
        return f"{node.operation.describe()}: {node.partitions} partitions, one input's after the other's{expected}"
    return f"{describe_exchange(node)}: {node.source.partitions} to {node.partitions} partitions{expected}"


def describe_exchange(node: Exchange) -> str:
    """Return the route of rows, and the keys by which they take it."""
    keys = node.by if isinstance(node, Boundaries | RangeExchange) else node.keys
    by = f" by {', '.join(map(str, keys))}" if keys else ""
    return f"Exchange {node.route}{f' of 1 row in {node.one_in:,}' if isinstance(node, Boundaries) else ''}{by}"


def describe_operation(operation: Node, selects: bool = False) -> str:
    """Return an operation's line; a filter says which parts the row groups were selected by."""
    if isinstance(operation, Filter):
        parts = conjuncts(operation.predicate)
        pushed = [to_sql(part) for part in parts if is_prunable(part)] if selects else []
        if pushed:
            known = frozenset(pushed)
            residual = [text for text in map(to_sql, parts) if text not in known]
            rest = " AND ".join(residual) or "none"
            return f"Filter pushed to row groups: {' AND '.join(pushed)}; residual: {rest}; all re-applied"
    return operation.describe()


def describe_scan(scan: Scan, rows: int) -> str:
    """Return what a scan reads of what the source has."""
    read = scan.read
    groups = sum(map(len, scan.parts))
    return (
        f"Read {read.dataset.name}: {read.counted}, "
        f"{groups} of {groups + scan.skipped} row groups, {scan.partitions} partition{'s' * (scan.partitions != 1)}  "
        f"~{rows:,} rows, {size(file_bytes(scan))} of file, {size(estimated_bytes(scan))} in memory"
    )


def summary(plan: PhysicalPlan) -> str:
    """Count sorts and exchanges, and sum the bytes that are read."""
    nodes = list(walk_graph(*plan.roots))
    sorts, shared = count_sorts(nodes)
    exchanges = Counter(node.route for node in nodes if isinstance(node, Exchange))
    listed = ", ".join(f"{count} {route}" for route, count in exchanges.items()) or "none"
    read = sum(file_bytes(node) for node in nodes if isinstance(node, Scan))
    saved = f" ({shared} saved: rows were in order)" if shared else ""
    return f"sorts: {sorts}{saved}; exchanges: {listed}; reads {size(read)} of files"


def count_sorts(nodes: list[Physical]) -> tuple[int, int]:
    """Return how many operations sort, and how many find their rows in order."""
    ordered = [n.operation for n in nodes if isinstance(n, Map) and isinstance(n.operation, Sort | Grouped)]
    ordered = [o for o in ordered if not (isinstance(o, Kernel) and not o.grouped)]
    shared = sum(getattr(operation, "presorted", False) for operation in ordered)
    return len(ordered) - shared, shared


# The memory that a plan is expected to need, in words, and the sources that are cut because of it.


def memory_lines(fit: FittedPlan) -> list[str]:
    """Return the expected memory against what there is, which the report of a run names too, and `chunk_lines`."""
    meanwhile = ""
    if fit.partitions_ahead:
        meanwhile = f", while {'all sources are' if fit.partitions_ahead > 1 else 'the next partition is'} read"
    line = f"expected memory: {size(fit.expected_memory)} of {size(fit.budget)}, {work(fit.expected.at)}{meanwhile}"
    waiting = f"; up to {size(fit.expected.waiting)} wait between stages" if fit.expected.waiting else ""
    return [line + waiting, *chunk_lines(fit)]


def chunk_lines(fit: FittedPlan) -> list[str]:
    """Return a line for each source that is cut so that it fits memory, with the reason, and one if it does not fit."""
    lines = cut_lines(fit)
    if not fit.fits:
        needs = f"{work(fit.expected.at)} needs {size(fit.expected.bytes)} at once and may take {size(fit.budget)}"
        lines.append(f"may not fit, even in its smallest partitions: {needs}")
    return lines


def cut_lines(fit: FittedPlan) -> list[str]:
    """Return a line for each source that is cut so that it fits memory, with the reason."""
    return list(cut_sources(fit, fit.at_once)) if fit.at_once else []


def limit_warning(fit: FittedPlan, limit: int) -> str:
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


def cut_sources(fit: FittedPlan, at_once: MemoryEstimate) -> Iterator[str]:
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
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node.operation).__name__).lower()
    return f"{name} of {node.origin}"

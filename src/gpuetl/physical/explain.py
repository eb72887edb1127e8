"""A physical plan as an indented tree: what is read of what there is, what is expected, sorts and exchanges."""

from __future__ import annotations

from collections import Counter

from gpuetl.expressions.ir import conjuncts
from gpuetl.expressions.unparse import to_sql
from gpuetl.io.pruning import is_prunable
from gpuetl.physical.carries import Carried
from gpuetl.physical.estimate import estimated_bytes, estimated_rows, file_bytes
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.ranges import Boundaries, RangeExchange
from gpuetl.plan.graph import draw, walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Grouped, Kernel, Sort
from gpuetl.records import dataclass
from gpuetl.sizes import size


def explain_physical(plan: PhysicalPlan) -> str:
    """Return the tree of every sink, kept stage and check, in the order of a run, and a line that sums it up."""
    counts = Counter(id(child) for node in walk_graph(*plan.roots) for child in node.inputs)
    counts.update(id(root) for root in plan.roots)
    heads = [
        *(f"Check {name}" for name in plan.first),
        *(write.describe() for write, _ in plan.sinks.values()),
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
    if isinstance(node, Carried):
        to = "those after it, combined" if node.combined else "the next partition"
        return f"{describe_operation(node.operation)}; carries up to {node.carried_rows:,} rows to {to}{expected}"
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
        f"Read {read.dataset.name}: {len(read.columns)} of {len(read.dataset.schema)} columns, "
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

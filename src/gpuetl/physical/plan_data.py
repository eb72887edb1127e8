"""A plan as plain data, for programs: its nodes in the order of a run, each with what it reads and where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuetl.messages import one_line, redacted
from gpuetl.physical.explain_physical import chunk_lines, describe, describe_scan, selecting_filters
from gpuetl.physical.fit import FittedPlan
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Map, Physical, Scan
from gpuetl.physical.size_estimates import estimated_bytes, estimated_rows, file_bytes
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.plan import Plan
from gpuetl.telemetry.origin import Origin


def fitted_data(fit: FittedPlan) -> dict[str, Any]:
    """Return a physical plan with its expected memory."""
    memory = {
        "expected": fit.expected_memory, "available": fit.budget, "fits": fit.fits,
        "remarks": [redacted(line) for line in chunk_lines(fit)],
    }  # fmt: skip
    return {**physical_data(fit.plan), "memory": memory}


def physical_data(plan: PhysicalPlan) -> dict[str, Any]:
    """Return the nodes of a physical plan, and the node that each sink, kept stage and check gets its rows from."""
    rows, selecting = estimated_rows(*plan.roots), selecting_filters(plan)
    nodes = list(walk_graph(*plan.roots))
    numbers = {id(node): number for number, node in enumerate(nodes)}
    names = (
        *(("check", name) for name in plan.first), *(("sink", name) for name in plan.sinks),
        *(("stage", name) for name in plan.kept), *(("check", name) for name in plan.along),
    )  # fmt: skip
    return {
        "nodes": [
            {
                **node_data(numbers, number, node.origin, node.inputs),
                "kind": kind_of(node),
                "text": shown(line_of(node, rows[id(node)], id(node) in selecting)),
                "partitions": node.partitions,
                "expected_rows": rows[id(node)],
                **scan_data(node),
            }
            for number, node in enumerate(nodes)
        ],
        "roots": [
            {"kind": kind, "name": name, "node": numbers[id(root)]}
            for (kind, name), root in zip(names, plan.roots, strict=True)
        ],
    }


def logical_data(plan: Plan) -> dict[str, Any]:
    """Return the nodes of a logical plan, and those that sinks, kept stages and checks are."""
    numbers = {id(node): number for number, node in enumerate(plan.nodes)}
    groups = (("sink", plan.sinks), ("stage", plan.kept), ("check", plan.checks))
    return {
        "nodes": [
            {
                **node_data(numbers, number, node.origin, node.inputs),
                "kind": type(node).__name__,
                "text": shown(node.describe()),
            }
            for number, node in enumerate(plan.nodes)
        ],
        "roots": [
            {"kind": kind, "name": name, "node": numbers[id(root)]} for kind, of in groups for name, root in of.items()
        ],
    }


def node_data(numbers: Mapping[int, int], number: int, origin: Origin, inputs: Iterable[object]) -> dict[str, Any]:
    """Return what all nodes have: a number, those that it reads, and the stage and step that it is from."""
    return {
        "id": number,
        "inputs": [numbers[id(one)] for one in inputs],
        "origin": {"kind": origin.kind, "name": origin.name, "step": origin.step},
    }


def kind_of(node: Physical) -> str:
    """Return the name of an operation."""
    return type(node.operation).__name__ if isinstance(node, Map) else type(node).__name__


def line_of(node: Physical, rows: int, selects: bool) -> str:
    """Return the node's line in the text of the plan."""
    return describe_scan(node, rows) if isinstance(node, Scan) else describe(node, rows, selects)


def scan_data(node: Physical) -> dict[str, int]:
    """Return what a scan reads of what the source has; nothing for another node."""
    if not isinstance(node, Scan):
        return {}
    groups = sum(map(len, node.parts))
    return {
        "row_groups": groups, "skipped_row_groups": node.skipped, "file_bytes": file_bytes(node),
        "memory_bytes": estimated_bytes(node),
    }  # fmt: skip


def shown(text: str) -> str:
    """Return a line as users see it."""
    return one_line(redacted(text))

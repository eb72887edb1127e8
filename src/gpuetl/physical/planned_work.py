"""The work of a physical plan, as a view of its run measures progress: bytes that each operation takes in."""

from __future__ import annotations

from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Concat, Exchange, Physical, Scan
from gpuetl.physical.size_estimates import column_widths, estimated_rows, file_bytes, total
from gpuetl.plan.graph import walk_graph
from gpuetl.telemetry.run_totals import PlannedStep, PlannedWork

AFTER_EXCHANGE = 2.0
"""The work of an operation on rows that were exchanged: they are cut, moved and put together before."""


def planned_work(plan: PhysicalPlan) -> PlannedWork:
    """Return the work of a plan; takes about as long as planning its memory, from file metadata that was read."""
    roots = plan.roots
    widths = column_widths(*roots)
    rows = estimated_rows(*roots, widths=widths)
    steps: list[PlannedStep] = []
    places: dict[int, int] = {}
    planned_bytes = 0
    for node in walk_graph(*roots):
        node_bytes = rows[id(node)] * total(widths[id(node)].values())
        if isinstance(node, Exchange):
            places[id(node)] = places[id(node.source)]
            continue
        places[id(node)] = len(steps)
        if isinstance(node, Scan):
            read = file_bytes(node)
            planned_bytes += read
            step = PlannedStep(id(node.read), node.partitions, rows[id(node)], read + node_bytes, None, is_source=True)
        else:
            main = node.inputs[0 if isinstance(node, Concat) else node.main]
            taken = sum(rows[id(child)] * total(widths[id(child)].values()) for child in node.inputs)
            taken *= AFTER_EXCHANGE if any(isinstance(child, Exchange) for child in node.inputs) else 1
            step = PlannedStep(id(node.operation), node.partitions, rows[id(node)], taken, places[id(main)])
        steps.append(step)
    for write, source in plan.sinks.values():
        steps.append(sink_step(id(write), source, rows, places, total(widths[id(source)].values())))
    return PlannedWork(tuple(steps), planned_bytes)


def sink_step(
    work: int, source: Physical, rows: dict[int, int], places: dict[int, int], row_bytes: float
) -> PlannedStep:
    """Return the step that writes a sink."""
    count = rows[id(source)]
    return PlannedStep(work, source.partitions, count, count * row_bytes, places[id(source)])

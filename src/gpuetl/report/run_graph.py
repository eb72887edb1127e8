"""The graph of a pipeline as it ran: rows on edges, seconds and verdicts on nodes."""

from __future__ import annotations

from dataclasses import replace

from gpuetl.report.graph import Graph, GraphEdge, GraphNode, Status
from gpuetl.report.pipeline_graph import pipeline_graph
from gpuetl.report.run_report import RunReport
from gpuetl.spec.model import PipelineSpec


def run_graph(spec: PipelineSpec, report: RunReport) -> Graph:
    """Return the graph of a pipeline as it ran: rows on edges, seconds in boxes, and what became of each stage."""
    graph = pipeline_graph(spec)
    ran = {f"{one.kind} {one.name}": one for one in report.stages}
    sinks = {f"sink {sink.name}": sink for sink in report.sinks}
    failed = {f"stage {check.stage}" for check in report.broken}
    warned = {f"stage {check.stage}" for check in report.checks if check.verdict == "warned"}

    def drawn(node: GraphNode) -> GraphNode:
        one = ran.get(node.key)
        if node.key not in sinks and one is None:
            return replace(node, status=node.status or "skipped", lines=())
        rows = sinks[node.key].rows if node.key in sinks else one.rows_out if one else 0
        seconds = f", {one.seconds:.3f} s" if one else ""
        status: Status = "failed" if node.key in failed else "warning" if node.key in warned else "ok"
        return replace(node, status=status, lines=(f"{counted_rows(rows)}{seconds}",))

    def labelled(edge: GraphEdge) -> GraphEdge:
        one = ran.get(edge.source)
        rows = counted_rows(one.rows_out) if one and edge.label != "rejected" else ""
        return replace(edge, label=" · ".join(filter(None, (edge.label, rows))))

    return Graph([drawn(node) for node in graph.nodes], [labelled(edge) for edge in graph.edges])


def counted_rows(rows: int) -> str:
    """Return a number of rows in words."""
    return f"{rows:,} row{'s' * (rows != 1)}"

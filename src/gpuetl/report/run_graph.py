"""The graph of a pipeline as it ran: rows and seconds on edges, and how each source, stage and sink ended."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.formats.rejected import without_rejected
from gpuetl.report.graph import Graph, GraphEdge, GraphNode, Status
from gpuetl.report.run_report import Declared, RunReport, StageReport
from gpuetl.units import count, duration

Key = tuple[str, str]


def run_graph(report: RunReport) -> Graph:
    """Return the graph of a run; what a stage names and nothing declares has no box."""
    stages = {(stage.kind, stage.name): stage for stage in report.stages}
    kinds = {one.name: one.kind for one in report.declared if one.kind != "sink"}
    nodes = [graph_node(one, report, stages) for one in report.declared]
    keys = {node.key for node in nodes}
    edges = [edge for one in report.declared for edge in graph_edges(one, stages, kinds) if edge.source in keys]
    return Graph(nodes, edges)


def graph_node(one: Declared, report: RunReport, stages: Mapping[Key, StageReport]) -> GraphNode:
    """Return the box of a source, stage or sink, with its status."""
    stage = stages.get((one.kind, one.name))
    state = status(one, report, stage)
    lines: tuple[str, ...] = ()
    if stage is not None and state != "skipped":
        lines = counted_rows(stage.rows_out), duration(stage.seconds)
    return GraphNode(f"{one.kind} {one.name}", one.name, one.kind, one.caption, lines, status=state)


def status(one: Declared, report: RunReport, stage: StageReport | None) -> Status:
    """Return how a source, stage or sink ended."""
    if report.failure and (report.failure.relation, report.failure.name) == (one.kind, one.name):
        return "failed"
    broken = {check.verdict for check in report.checks if check.stage == one.name and one.kind == "stage"}
    if "failed" in broken:
        return "failed"
    if "warned" in broken:
        return "warning"
    if stage is None or (report.failure and not stage.rows_in and not stage.seconds):
        return "skipped"
    return "" if report.failure else "ok"


def graph_edges(one: Declared, stages: Mapping[Key, StageReport], kinds: Mapping[str, str]) -> list[GraphEdge]:
    """Return what a stage or sink reads, with the rows that came from there."""
    own, edges = stages.get((one.kind, one.name)), []
    rows = [each.rows for each in own.inputs] if own and one.kind == "stage" else [own.rows_in if own else None]
    rows += [None] * (len(one.reads) - len(rows))
    for (name, verb), came in zip(one.reads, rows, strict=False):
        owner = without_rejected(name)
        source = (kinds.get(owner, "source"), owner)
        edges.append(GraphEdge(" ".join(source), f"{one.kind} {one.name}", label(verb, came, stages.get(source))))
    return edges


def label(verb: str, rows: int | None, source: StageReport | None) -> str:
    """Return the text of an edge: `join 1,458 · 5.7 ms`."""
    parts = (verb if verb != "from" else "", count(rows))
    text = " ".join(part for part in parts if part)
    return f"{text} · {duration(source.seconds)}" if rows is not None and source else text


def counted_rows(rows: int) -> str:
    """Return a number of rows in words."""
    return f"{rows:,} row{'s' * (rows != 1)}"

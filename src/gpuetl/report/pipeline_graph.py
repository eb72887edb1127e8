"""Graphs of a pipeline's sources, stages and sinks, and of a plan's nodes, for `draw_svg` and `mermaid`."""

from __future__ import annotations

from collections.abc import Iterator

from gpuetl.errors import GpuetlError
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import redacted
from gpuetl.physical.explain_physical import describe
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.physical.size_estimates import estimated_rows
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Write
from gpuetl.plan.plan import Plan
from gpuetl.report.graph import Graph, GraphEdge, GraphNode
from gpuetl.spec.expect.rules import Rule
from gpuetl.spec.model import FrameSpec, PipelineSpec, SinkSpec, SourceSpec, StageSpec
from gpuetl.spec.steps import Step
from gpuetl.spec.steps.scalar import scalar_stages
from gpuetl.types.data_types import type_name
from gpuetl.types.schema import Schema


def graph_of(plan: Plan | PhysicalPlan) -> Graph:
    """Return the graph of a plan's nodes, one for each operation; edges of a physical plan have the rows expected."""
    return physical_graph(plan) if isinstance(plan, PhysicalPlan) else logical_graph(plan)


def logical_graph(plan: Plan) -> Graph:
    """Return the graph of a logical plan's nodes."""
    keys = {id(node): f"node{number}" for number, node in enumerate(plan.nodes)}
    nodes = [operation(keys[id(node)], node.describe(), kind_of(node), str(node.origin)) for node in plan.nodes]
    return Graph(nodes, [GraphEdge(keys[id(child)], keys[id(node)]) for node in plan.nodes for child in node.inputs])


def physical_graph(plan: PhysicalPlan) -> Graph:
    """Return the graph of a physical plan's nodes and sinks."""
    found = list(walk_graph(*plan.roots))
    rows = estimated_rows(*plan.roots)
    keys = {id(node): f"node{number}" for number, node in enumerate(found)}
    nodes = [
        operation(keys[id(node)], describe(node, rows[id(node)]), "source" if isinstance(node, Scan) else "step")
        for node in found
    ]
    edges = [
        GraphEdge(keys[id(child)], keys[id(node)], f"~{rows[id(child)]:,} rows")
        for node in found
        for child in node.inputs
    ]
    for name, (write, node) in plan.sinks.items():
        nodes.append(operation(f"sink {name}", write.describe(), "sink", str(write.origin)))
        edges.append(GraphEdge(keys[id(node)], f"sink {name}", f"~{rows[id(node)]:,} rows"))
    return Graph(nodes, edges)


def operation(key: str, text: str, kind: str, caption: str = "") -> GraphNode:
    """Return the node of an operation, whose text begins with its verb."""
    verb, _, rest = text.partition(" ")
    return GraphNode(key, verb, kind, caption, tuple(part for part in rest.split("  ") if part), tooltip=text)


def kind_of(node: Node) -> str:
    """Return the kind of a logical node."""
    return "source" if isinstance(node, Read) else "sink" if isinstance(node, Write) else "step"


def pipeline_graph(spec: PipelineSpec, plan: Plan | None = None) -> Graph:
    """Return the graph of a pipeline as it is written, with columns where its plan is given.

    Nodes have the keys `source NAME`, `stage NAME` and `sink NAME`.  A name that the pipeline does not declare is a
    node, too, of status `failed`: `source NAME`.
    """
    nodes = {node.key: node for node in [*sources_of(spec, plan), *stages_of(spec, plan), *sinks_of(spec)]}
    edges = []
    for edge in edges_of(spec):
        if edge.source not in nodes:
            name = edge.source.removeprefix("source ")
            nodes[edge.source] = GraphNode(edge.source, name, "source", "not declared", status="failed")
        edges.append(edge)
    return Graph([*nodes.values()], edges)


def sources_of(spec: PipelineSpec, plan: Plan | None) -> Iterator[GraphNode]:
    """Yield the nodes of the sources."""
    for name, source in spec.sources.items():
        caption, lines = source_text(source)
        schema = plan.sources[name].schema if plan and name in plan.sources else None
        yield GraphNode(f"source {name}", name, "source", caption, lines, columns_of_schema(schema))


def source_text(source: SourceSpec | FrameSpec) -> tuple[str, tuple[str, ...]]:
    """Return what a source is read from: a caption, and a line."""
    if isinstance(source, FrameSpec):
        return f"frame in memory, {source.table.num_rows:,} rows", ()
    return source.format, (ending(redacted(str(source.path))),)


def stages_of(spec: PipelineSpec, plan: Plan | None) -> Iterator[GraphNode]:
    """Yield the nodes of the stages."""
    for name, stage in spec.stages.items():
        schema = plan.stages[name].schema if plan and name in plan.stages else None
        yield GraphNode(f"stage {name}", name, "stage", "stage", step_lines(stage), columns_of_schema(schema))


def step_lines(stage: StageSpec) -> tuple[str, ...]:
    """Return a line for each step, and for each rule of the stage's contract."""
    steps = (
        f"{number} {step.verb} {written_text(step)}" if step else f"{number} ?"
        for number, step in enumerate(stage.steps, 1)
    )
    return tuple(line.rstrip() for line in (*steps, *(f"expect {written_text(rule)}" for rule in stage.expect if rule)))


def written_text(part: Step | Rule) -> str:
    """Return the arguments of a step or a rule; of those that YAML cannot hold, a mark."""
    try:
        return plain_text(part.written())
    except (GpuetlError, RecursionError):
        return "…"


def plain_text(value: object) -> str:
    """Return a step's arguments as it is written in YAML, on one line and without quotes."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {plain_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain_text, value))
    return str(value)


def sinks_of(spec: PipelineSpec) -> Iterator[GraphNode]:
    """Yield the nodes of the sinks."""
    for name, sink in spec.sinks.items():
        yield GraphNode(f"sink {name}", name, "sink", sink_caption(sink), (ending(redacted(str(sink.path))),))


def sink_caption(sink: SinkSpec) -> str:
    """Return the format and mode of a sink."""
    return f"{sink.format}, {sink.mode}"


def ending(path: str, most: int = 40) -> str:
    """Return the end of a path that is too long to be shown."""
    return path if len(path) <= most else f"…{path[-most + 1 :]}"


def columns_of_schema(schema: Schema | None) -> tuple[tuple[str, str], ...]:
    """Return names with the names of their types."""
    return tuple((name, type_name(dtype)) for name, dtype in schema.items()) if schema else ()


def edges_of(spec: PipelineSpec) -> Iterator[GraphEdge]:
    """Yield the edges: what a stage begins with, what its steps and its contract read, and what a sink writes."""

    def key(name: str) -> str:
        owner = without_rejected(str(name))
        return f"stage {owner}" if owner in spec.stages else f"source {owner}"

    def rejected(name: str) -> str:
        return "rejected" if without_rejected(str(name)) != name else ""

    for name, stage in spec.stages.items():
        target = f"stage {name}"
        yield GraphEdge(key(stage.from_), target, rejected(stage.from_))
        for step in stage.steps:
            for stage_of_value in scalar_stages(step):
                yield GraphEdge(key(stage_of_value), target, "scalar")
            for read in step.reads if step else ():
                yield GraphEdge(key(read), target, " ".join(filter(None, (step.verb if step else "", rejected(read)))))
        for rule in stage.expect:
            for read in rule.reads if rule else ():
                yield GraphEdge(key(read), target, "references", dashed=True)
    for name, sink in spec.sinks.items():
        yield GraphEdge(key(sink.from_), f"sink {name}", rejected(sink.from_))

"""`gpuetl graph`: a pipeline's sources, stages and sinks as a picture or as Mermaid text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command
from gpuetl.messages import redacted

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.places.paths import FilePath
    from gpuetl.plan.plan import Plan


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, graph)
    group = command.add_mutually_exclusive_group()
    group.add_argument("--svg", action="store_true", help="print an SVG picture: gpuetl graph FILE --svg > graph.svg")
    group.add_argument("--mermaid", action="store_true", help="print Mermaid text, for Markdown pages; the default")
    text = "print of which columns of sources each column of the sinks is made, and how"
    group.add_argument("--columns", action="store_true", help=text)
    text = "leave out columns that the sources' files have to be looked at for"
    command.add_argument("--no-files", dest="files", action="store_false", help=text)


def graph(
    file: FilePath,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    svg: bool = False,
    mermaid: bool = False,
    columns: bool = False,
    files: bool = True,
) -> None:
    """Print the graph of a pipeline, with the columns of its sources and stages.  No rows are read."""
    from gpuetl.cli.scan_progress import scan_progress
    from gpuetl.pipeline import load
    from gpuetl.report import graph as drawing
    from gpuetl.report.pipeline_graph import pipeline_graph

    pipeline = load(file, root, profile=profile)
    with scan_progress():
        plan = pipeline.plan(dict(params), unbound=True, files=files)
    if columns:
        print(redacted(column_text(plan)))
        return
    drawn = pipeline_graph(pipeline.spec, plan)
    print(redacted(drawing.draw_svg(*drawn) if svg else drawing.mermaid(*drawn)))


def column_text(plan: Plan) -> str:
    """Return the column lineage of the sinks, or, without any, of the last stages."""
    from gpuetl.plan.column_lineage import column_lineage, lineage_lines

    named = {f"sink {name}": node for name, node in plan.sinks.items()}
    named = named or {f"stage {name}": plan.stages[name] for name in plan.last_stages()}
    found = zip(named, column_lineage(*named.values()), strict=True)
    return "\n".join(line for name, lineage in found for line in lineage_lines(name, lineage))

"""`gpuetl graph`: a pipeline's sources, stages and sinks as a picture or as Mermaid text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.cli.arguments import Params, add_command
from gpuetl.messages import redacted

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.places.paths import FilePath


def add_to(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(commands, graph)
    group = command.add_mutually_exclusive_group()
    group.add_argument("--svg", action="store_true", help="print an SVG picture: gpuetl graph FILE --svg > graph.svg")
    group.add_argument("--mermaid", action="store_true", help="print Mermaid text, for Markdown pages; the default")
    text = "leave out columns that the sources' files have to be looked at for"
    command.add_argument("--no-files", dest="files", action="store_false", help=text)


def graph(
    file: FilePath,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    svg: bool = False,
    mermaid: bool = False,
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
    drawn = pipeline_graph(pipeline.spec, plan)
    print(redacted(drawing.draw_svg(*drawn) if svg else drawing.mermaid(*drawn)))

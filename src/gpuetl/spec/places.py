"""Where the parts of a pipeline stand: in YAML text, or in the script that declares them."""

from __future__ import annotations

import linecache
import os
import sys

from gpuetl.errors import Place, Span
from gpuetl.records import dataclass
from gpuetl.spec.model import FrameSpec, PipelineSpec
from gpuetl.spec.values import Located, node_of
from gpuetl.telemetry.origin import FILTER, Origin

# The line of a user's script, notebook or test that declares a part of a pipeline in Python.


@dataclass(frozen=True)
class Caller:
    """A line of a file that called gpuetl; its text is looked up when an error shows it."""

    file: str
    line: int

    def place(self, span: Span | None = None) -> Place:
        """Return the place of the line."""
        return Place(shown_path(self.file), self.line, 0, linecache.getline(self.file, self.line).rstrip("\n"))


def caller() -> Caller | None:
    """Return the line that called gpuetl: that of the innermost function that is not gpuetl's own."""
    frame = sys._getframe(1)
    while frame and is_own(frame.f_globals.get("__name__", "")):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return Caller(frame.f_code.co_filename, frame.f_lineno)


def is_own(module: str) -> bool:
    """Return whether a module is gpuetl's."""
    return module == "gpuetl" or module.startswith("gpuetl.")


def shown_path(file: str) -> str:
    """Return a path below the working folder as a user would write it there, and a cell of a notebook by its number."""
    if cell := cell_of(file):
        return cell
    folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  quick, and files of notebooks are no paths
    return file.removeprefix(folder)


def cell_of(file: str) -> str:
    """Return the cell, such as `Cell In[3]`, whose code IPython compiled by the name of a file; else nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda file: None)(file)
    return " ".join(name) if name else ""


# Where the steps of a pipeline stand in the user's text, or in the script that declared them.


def place_of(spec: PipelineSpec, origin: object, output: str = "") -> Place | None:
    """Return where a step, source or sink stands; of a step, where the expression of the column `output` does.

    A step with one expression, such as a filter, stands where that does.
    """
    found = node_in(spec, origin, output) if isinstance(origin, Origin) else None
    place = found.place() if found else None
    return place if place and place.file else None


def node_in(spec: PipelineSpec, origin: Origin, output: str = "") -> Located | None:
    """Return what knows the place of an origin."""
    if origin.kind == "source" and (source := spec.sources.get(origin.name)):
        if isinstance(source, FrameSpec):
            return source.node
        return (output == FILTER and node_of(source.filter)) or node_of(source.path)
    if origin.kind == "sink" and (sink := spec.sinks.get(origin.name)):
        return node_of(sink.path)
    stage = spec.stages.get(origin.name) if origin.kind == "stage" else None
    if stage is None:
        return None
    step = stage.steps[origin.step - 1] if 0 < origin.step <= len(stage.steps) else None
    return (step and step.expression_of(output)) or stage.node_of_step(origin.step)

"""Where the steps of a pipeline stand in the user's text, or in the script that declared them."""

from __future__ import annotations

from gpuetl.errors import Place
from gpuetl.spec.model import FrameSpec, PipelineSpec
from gpuetl.spec.values import Located, node_of
from gpuetl.telemetry.origin import FILTER, Origin


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

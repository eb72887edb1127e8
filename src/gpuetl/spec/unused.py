"""What a pipeline declares and nothing uses: sources, stages and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, TypeVar

from gpuetl.errors import Problem
from gpuetl.expressions.ir import Expr
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import coded
from gpuetl.spec.model import PipelineSpec

T = TypeVar("T")


class NotedParameters(dict[str, Expr]):
    """The values of parameters, which notes those that are asked for: in expressions, paths, arguments, run keys."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Expr:
        """Return a value, and note that it was used."""
        value = super().__getitem__(name)
        self.used.add(name)
        return value


def unused(spec: PipelineSpec, used_parameters: Set[str]) -> Iterator[Problem]:
    """Yield a warning for each source, stage and parameter of the pipeline's own file that no sink depends on.

    There is no warning of a stage that only unused stages read: it is used as soon as they are.  Without sinks, the
    last stages are the result.
    """
    read = {without_rejected(name) for stage in spec.stages.values() for name in stage.reads}
    read |= {without_rejected(sink.from_) for sink in spec.sinks.values()}
    for name in spec.sources:
        if name not in read and ("source", name) not in spec.included and (spec.stages or spec.sinks):
            yield warning(spec, "source", name, "no stage and no sink reads it", "Remove it, or read it in a stage.")
    for name in spec.stages:
        if spec.sinks and name not in read and ("stage", name) not in spec.included:
            message = "no sink and no other stage reads it: a run that only writes sinks does not compute it"
            yield warning(spec, "stage", name, message, "Add a sink that reads it, or remove it.")
    for name in spec.parameters:
        if name not in used_parameters and ("parameter", name) not in spec.included:
            hint = f"Remove it, or use it: ${name} in an expression, ${{params.{name}}} in a path."
            yield warning(spec, "parameter", name, "nothing uses it", hint)


def warning(spec: PipelineSpec, kind: str, name: str, message: str, hint: str) -> Problem:
    """Word a warning at the place where a name is declared."""
    return Problem(coded("GE1701", message), hint, spec.places.get((kind, name)), f"{kind} '{name}'")

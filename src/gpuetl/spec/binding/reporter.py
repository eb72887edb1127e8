"""Report what is wrong with a pipeline at the place in its file, or in the script that declares it."""

from __future__ import annotations

from gpuetl.errors import Place, Problems
from gpuetl.records import dataclass
from gpuetl.spec.model import PipelineSpec
from gpuetl.spec.places import place_of
from gpuetl.spec.values import node_of
from gpuetl.telemetry.origin import Origin


@dataclass(frozen=True)
class Reporter:
    """Keeps the problems of a pipeline, each with its place and the part of the pipeline that has it."""

    spec: PipelineSpec
    problems: Problems

    def add(self, message: str, hint: str, at: object, kind: str, of: str) -> None:
        """Keep the problem of a source, stage or sink, at the place of the value `at` where that has one."""
        node = node_of(at)
        place = node.place() if node else place_of(self.spec, Origin(kind, of))
        self.problems.add(message, hint, place, f"{kind} '{of}'")

    def place_of(self, value: object) -> Place | None:
        """Return the place of a value that was read from a file."""
        node = node_of(value)
        return node.place() if node else None

"""Where in a pipeline a plan's node comes from: its stage and step."""

from __future__ import annotations

from gpuetl.records import dataclass

FILTER = ":filter"


@dataclass(frozen=True)
class Origin:
    """Where a node comes from: the stage, source or sink of the pipeline, and the step in it (from 1; 0 for none)."""

    kind: str
    name: str
    step: int = 0

    @property
    def relation(self) -> tuple[str, str]:
        """The source, stage or sink."""
        return self.kind, self.name

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}'" + (f", step {self.step}" if self.step else "")

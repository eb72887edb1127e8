"""Write: the end of a plan, a sink."""

from __future__ import annotations

from gpuetl.places.target import Target
from gpuetl.plan.node import SingleInput
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Write(SingleInput):
    """Write all columns of the input to a target."""

    target: Target

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return what is written."""
        return schemas[0]

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Everything is written."""
        return (frozenset(self.source.schema),)

    def describe(self) -> str:
        """Return the sink and its target."""
        parts = f" partitioned by {', '.join(self.target.partition_by)}" if self.target.partition_by else ""
        return f"Write {self.target.name}: {self.target.format} {self.target.path}{parts}, {self.target.mode}"

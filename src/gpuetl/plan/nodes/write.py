"""Write: the end of a plan, a sink."""

from __future__ import annotations

from gpuetl.places.target import Target
from gpuetl.plan.node import SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Write(SingleInput):
    """Write all columns of the input to a target.

    In mode `upsert`, `order` is the order of the rows of each file that is written: those of the input, and others that
    stay.
    """

    target: Target
    order: tuple[SortKey, ...] = ()

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return what is written."""
        return schemas[0]

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Everything is written."""
        return (frozenset(self.source.schema),)

    def describe(self) -> str:
        """Return the sink and its target."""
        parts = f" partitioned by {', '.join(self.target.partition_by)}" if self.target.partition_by else ""
        on = f" on {', '.join(self.target.on)}" if self.target.on else ""
        return f"Write {self.target.name}: {self.target.format} {self.target.path}{parts}, {self.target.mode}{on}"

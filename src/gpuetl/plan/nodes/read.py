"""Read: the rows of a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Self

from gpuetl.expressions.ir import Expr
from gpuetl.expressions.unparse import to_sql
from gpuetl.formats.dataset import Dataset
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType
from gpuetl.types.nested_types import leaf_paths
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Read(Node):
    """Read files.

    `columns` are those to read, in the source's order.  `pruning` are predicates by which row groups and files
    may be left out by their statistics; rows that fail them may still come out, so the filter stays in the plan.
    Only the first `limit` rows are wanted, where there is one.  `fields` are the types of structs of which only some
    fields are read.
    """

    dataset: Dataset
    columns: tuple[str, ...]
    pruning: tuple[Expr, ...] = ()
    limit: int | None = None
    fields: Mapping[str, DataType] = field(default_factory=dict)

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the source's columns that are read."""
        planned = self.dataset.schema.select(self.columns)
        return planned.updated(self.fields) if self.fields else planned

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """A source needs nothing."""
        return ()

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Read the wanted columns only."""
        kept = tuple(name for name in self.columns if name in wanted)
        fields = {name: dtype for name, dtype in self.fields.items() if name in kept}
        return self if kept == self.columns else replace(self, columns=kept, fields=fields)

    @property
    def paths(self) -> list[str]:
        """The names of the columns that are read, and the paths of fields where not all of a struct is."""
        types = {name: self.fields.get(name) for name in self.columns}
        return [path for name, dtype in types.items() for path in (leaf_paths(name, dtype) if dtype else [name])]

    @property
    def counted(self) -> str:
        """How many columns are read, and which fields of structs."""
        fields = [path for name, dtype in self.fields.items() for path in leaf_paths(name, dtype)]
        of_structs = f", of structs only {', '.join(fields)}" if fields else ""
        return f"{len(self.columns)} of {len(self.dataset.schema)} columns{of_structs}"

    def describe(self) -> str:
        """Return the source, how many of its columns and rows are read, and the pruning predicates."""
        pruned = f" where row groups may hold {' AND '.join(map(to_sql, self.pruning))}" if self.pruning else ""
        first = f", first {self.limit} rows" if self.limit is not None else ""
        return f"Read {self.dataset.name}: {self.counted}{first}{pruned}"

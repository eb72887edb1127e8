"""Read: the rows of a source."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from gpuetl.expressions.ir import Expr
from gpuetl.expressions.unparse import to_sql
from gpuetl.formats.dataset import Dataset
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Read(Node):
    """Read files.

    `columns` are those to read, in the source's order.  `pruning` are predicates by which row groups and files
    may be left out by their statistics; rows that fail them may still come out, so the filter stays in the plan.
    Only the first `limit` rows are wanted, where there is one.
    """

    dataset: Dataset
    columns: tuple[str, ...]
    pruning: tuple[Expr, ...] = ()
    limit: int | None = None

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the source's columns that are read."""
        return self.dataset.schema.select(self.columns)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """A source needs nothing."""
        return ()

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Read the wanted columns only."""
        kept = tuple(name for name in self.columns if name in wanted)
        return self if kept == self.columns else replace(self, columns=kept)

    def describe(self) -> str:
        """Return the source, how many of its columns and rows are read, and the pruning predicates."""
        pruned = f" where row groups may hold {' AND '.join(map(to_sql, self.pruning))}" if self.pruning else ""
        first = f", first {self.limit} rows" if self.limit is not None else ""
        return f"Read {self.dataset.name}: {len(self.columns)} of {len(self.dataset.schema)} columns{first}{pruned}"

"""Filter: keeps the rows where a predicate is true."""

from __future__ import annotations

from functools import cached_property

from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.expressions.unparse import to_sql
from gpuetl.plan.node import SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Filter(SingleInput):
    """Keep the rows where `predicate` is true; null is not true.  Rows stay in order."""

    predicate: Expr

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns."""
        return schemas[0]

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns and those of the predicate."""
        return (wanted | columns_of(self.predicate),)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order."""
        return self.source.ordering

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The predicate."""
        return (self.predicate,)

    def describe(self) -> str:
        """Return the predicate."""
        return f"Filter {to_sql(self.predicate)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class NewRows(Filter):
    """Keep the rows of an incremental source that this run reads: those beyond the last run's watermark."""

"""Project: the output columns, each an expression over the input's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import Self

from gpuetl.expressions.ir import Column, Expr, columns_of
from gpuetl.expressions.unparse import to_sql
from gpuetl.plan.node import SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Project(SingleInput):
    """Compute the output's columns; select, with_columns, drop, rename and cast are all this.  Rows stay in order."""

    columns: Mapping[str, Expr]

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the expressions' types."""
        return Schema({name: expr.dtype for name, expr in self.columns.items()}, schemas[0].open)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the columns that the wanted expressions read."""
        return (columns_of(*(expr for name, expr in self.columns.items() if name in wanted)),)

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Compute the wanted columns only."""
        if wanted >= self.columns.keys():
            return self
        return replace(self, columns={name: expr for name, expr in self.columns.items() if name in wanted})

    @property
    def passed(self) -> dict[str, str]:
        """The output columns that are input columns unchanged, and which."""
        return {name: expr.name for name, expr in self.columns.items() if isinstance(expr, Column)}

    @property
    def computed(self) -> dict[str, Expr]:
        """The output columns that are not an input column of the same name."""
        passed = self.passed
        return {name: expr for name, expr in self.columns.items() if passed.get(name) != name}

    @property
    def touched(self) -> tuple[Iterable[str], Iterable[str]]:
        """What expressions read and give; a column that is renamed stays where it is."""
        new_columns = self.columns.keys() - self.passed.keys()
        return columns_of(*(self.columns[name] for name in new_columns)), new_columns

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order, as far as its columns are passed on."""
        names = {source: name for name, source in self.passed.items()}
        kept = takewhile(lambda key: key.column in names, self.source.ordering)
        return tuple(replace(key, column=names[key.column]) for key in kept)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All columns' expressions."""
        return tuple(self.columns.values())

    def describe(self) -> str:
        """Return the columns that are computed or renamed; the others are counted."""
        computed = [f"{name} = {to_sql(expr)}" for name, expr in self.computed.items()]
        kept = len(self.columns) - len(computed)
        return "Project " + ", ".join(computed + ([f"{kept} columns kept"] if kept else []))


def passing(schema: Schema) -> dict[str, Expr]:
    """Return the projection that keeps all columns as they are."""
    return {name: Column(name, dtype) for name, dtype in schema.items()}
